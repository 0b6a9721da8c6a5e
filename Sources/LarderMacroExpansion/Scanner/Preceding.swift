/// The preceding token, as far as it decides whether a slash divides or begins a literal. As in [the
/// compiler](https://github.com/swiftlang/swift-syntax/tree/main/Sources/SwiftParser/Lexer), the last token
/// alone decides.
enum Preceding: Equatable {
  case start
  /// The end of an operand, or a token that only operators can follow.
  case operand
  /// A token that an operand follows: an opening bracket, a separator, a keyword.
  case opening
  /// An operator between two operands, which no other operator follows.
  case `operator`
  /// An operator that ends early because a literal begins in it.
  case cutOperator
  /// The mark directly after `try`, which no operator follows.
  case tryMark
  /// `try`.
  case tryWord
  /// `func` or `operator`, before an operator's name.
  case function
  /// `#`, before a word.
  case hash

  init(_ token: Token, after preceding: Preceding, in scanner: SourceScanner) {
    switch token.kind {
    case .identifier: self = Self.word(token, preceding, scanner)
    case .quotedIdentifier, .number, .string, .regex, .end: self = .operand
    case .operator: self = Self.operator(token, preceding, scanner)
    case .punctuation:
      if scanner.isOpening(token) || scanner.isSeparator(token) {
        self = .opening
      } else {
        self = scanner.is(token, "#") ? .hash : .operand
      }
    }
  }

  private static func word(
    _ token: Token, _ preceding: Preceding, _ scanner: SourceScanner
  ) -> Preceding {
    if preceding == .hash {
      return scanner.isOne(token, of: Keywords.conditions) ? .opening : .operand
    }
    if scanner.isOne(token, of: " func operator ") { return .function }
    if scanner.is(token, "try") { return .tryWord }
    return scanner.isOne(token, of: Keywords.reserved) ? .opening : .operand
  }

  private static func `operator`(
    _ token: Token, _ preceding: Preceding, _ scanner: SourceScanner
  ) -> Preceding {
    if token.isLeftBound, scanner.is(token, "?") || scanner.is(token, "!") {
      return preceding == .tryWord ? .tryMark : .operand
    }
    if scanner.is(token, "->") { return .operand }
    if scanner.is(token, "=") { return .operator }
    if scanner.is(token, "?") { return .opening }
    if scanner.isCutShort(token) { return .cutOperator }
    let isRightBound = scanner.isRightBound(token.end, isLeftBound: token.isLeftBound)
    if isRightBound == token.isLeftBound { return .operator }
    return token.isLeftBound ? .operand : .opening
  }
}
