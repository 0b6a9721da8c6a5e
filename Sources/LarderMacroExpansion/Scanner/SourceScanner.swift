/// Reads Swift's tokens from source text, one after the other, by the language's lexical structure:
/// <https://docs.swift.org/swift-book/documentation/the-swift-programming-language/lexicalstructure/>.
struct SourceScanner {
  let source: SourceBytes
  private(set) var position = 0
  private var ahead: Token?
  /// The last token that was read, as far as it decides what a slash is.
  private var preceding = Preceding.start
  /// The current nesting depth of interpolations.
  private var depth = 0

  /// The nesting limit: nobody nests deeper by hand, and generated code must not exhaust the stack.
  static var greatestDepth: Int { 50 }

  init(_ source: SourceBytes, at position: Int = 0) {
    self.source = source
    self.position = position
  }

  // MARK: Tokens

  /// The next token, without reading it.
  mutating func peek() throws -> Token {
    if let ahead { return ahead }
    let token = try scan()
    ahead = token
    return token
  }

  @discardableResult
  mutating func next() throws -> Token {
    let token = try peek()
    ahead = nil
    position = token.end
    preceding = Preceding(token, after: preceding, in: self)
    return token
  }

  /// Reads only the first byte of an operator: in types, `>>` is two tokens.
  mutating func split(_ token: Token) {
    ahead = nil
    position = token.start + 1
    preceding = .operand
  }

  func text(_ token: Token) -> String { source.text(token.start, token.end) }

  func text(_ range: Range<Int>) -> String { source.text(range.lowerBound, range.upperBound) }

  /// Whether the token has this text. A name between backticks is never a keyword.
  func `is`(_ token: Token, _ text: StaticString) -> Bool {
    token.length == text.utf8CodeUnitCount && token.kind != .string
      && source.has(text, at: token.start)
  }

  func isOne(_ token: Token, of words: StaticString) -> Bool {
    token.kind == .identifier && source.isWord(token.start, token.end, of: words)
  }

  func isOpening(_ token: Token) -> Bool {
    token.kind == .punctuation && source[token.start].isOpeningBracket
  }

  func isClosing(_ token: Token) -> Bool {
    token.kind == .punctuation && source[token.start].isClosingBracket
  }

  func isSeparator(_ token: Token) -> Bool {
    token.kind == .punctuation && source[token.start].isSeparator
  }

  /// Whether the operator ends early because a regular expression literal begins in it.
  func isCutShort(_ token: Token) -> Bool {
    source[token.end] == .slash && !source.has("//", at: token.end)
      && !source.has("/*", at: token.end)
  }

  /// Reads the next token if it has this text; returns whether it does.
  mutating func skip(_ text: StaticString) throws -> Bool {
    guard self.is(try peek(), text) else { return false }
    try next()
    return true
  }

  /// Skips a bracket, its content, and its closing bracket.
  mutating func skipGroup() throws {
    var open: [Token] = []
    repeat {
      let token = try next()
      switch token.kind {
      case .end:
        throw SourceProblem("there is no closing bracket", at: open.last?.start ?? token.start)
      case .punctuation:
        if isOpening(token) {
          open.append(token)
        } else if isClosing(token) {
          guard let last = open.popLast(),
            source[token.start] == source[last.start].closingBracket
          else {
            throw SourceProblem(
              "a closing bracket has no matching opening bracket", at: token.start)
          }
        }
      default: break
      }
    } while !open.isEmpty
  }

  /// Skips the brackets that directly follow a word, as far as there are some.
  mutating func skipArguments() throws {
    if self.is(try peek(), "("), try peek().isLeftBound { try skipGroup() }
  }

  /// Skips to the next brace outside of other brackets. Throws with this message if there is none.
  mutating func skipToBrace(orThrow message: String) throws {
    while !self.is(try peek(), "{") {
      let token = try peek()
      if token.kind == .end { throw SourceProblem(message, at: token.start) }
      if self.is(token, "(") || self.is(token, "[") { try skipGroup() } else { try next() }
    }
  }

  // MARK: Bytes

  /// Whether a word or an operand directly follows this position, the end of an operator.
  ///
  /// - Parameter isLeftBound: whether one directly precedes the operator. Then a dot doesn't count.
  func isRightBound(_ index: Int, isLeftBound: Bool = false) -> Bool {
    guard index < source.count, !source.has("//", at: index), !source.has("/*", at: index) else {
      return false
    }
    let byte = source[index]
    if byte == .dot { return !isLeftBound }
    return !isSpace(byte) && !byte.isClosingBracket && !byte.isSeparator
  }

  private func isSpace(_ byte: UInt8) -> Bool {
    byte == .space || byte == 0 || byte >= .tab && byte <= .carriageReturn
  }

  // MARK: Scanning

  /// Skips white space and comments; returns whether a line ended.
  private func trivia(_ index: inout Int) throws -> Bool {
    var isFirstOnLine = index == 0
    while index < source.count {
      let byte = source[index]
      if isSpace(byte) {
        if byte.endsLine { isFirstOnLine = true }
        index += 1
      } else if byte != .slash {
        break
      } else if source.has("//", at: index) {
        while index < source.count, !source[index].endsLine { index += 1 }
      } else if source.has("/*", at: index) {
        try comment(&index, &isFirstOnLine)
      } else {
        break
      }
    }
    return isFirstOnLine
  }

  /// Skips a comment, which may contain nested comments.
  private func comment(_ index: inout Int, _ isFirstOnLine: inout Bool) throws {
    let start = index
    var open = 0
    repeat {
      if source.has("/*", at: index) {
        open += 1
        index += 2
      } else if source.has("*/", at: index) {
        open -= 1
        index += 2
      } else if index < source.count {
        if source[index].endsLine { isFirstOnLine = true }
        index += 1
      } else {
        throw SourceProblem("the comment doesn't end", at: start)
      }
    } while open > 0
  }

  private func scan() throws -> Token {
    var start = position
    let isFirstOnLine = try trivia(&start)
    let isLeftBound =
      start == position && start > 0 && !source[start - 1].isOpeningBracket
      && !source[start - 1].isSeparator
    func token(_ kind: Token.Kind, _ end: Int) -> Token {
      Token(
        kind: kind, start: start, end: end, isFirstOnLine: isFirstOnLine, isLeftBound: isLeftBound)
    }
    guard start < source.count else { return token(.end, start) }
    let byte = source[start]
    let end = identifierEnd(start)
    if end > start, !byte.isDigit { return token(.identifier, end) }
    switch byte {
    case .backtick:
      guard let end = source.find(.backtick, from: start + 1), end > start + 1,
        source.find(.lineFeed, from: start + 1) ?? source.count > end
      else { throw SourceProblem("the name has no closing backtick", at: start) }
      return token(.quotedIdentifier, end + 1)
    case .quote: return token(.string, try string(start, hashes: 0))
    case .hash:
      var end = start
      while source[end] == .hash { end += 1 }
      if source[end] == .quote { return token(.string, try string(end, hashes: end - start)) }
      if source[end] == .slash {
        return token(.regex, try RegexLiteral.end(in: source, from: end, hashes: end - start))
      }
      return token(.punctuation, start + 1)
    case .colon where source[start + 1] == .colon: return token(.punctuation, start + 2)
    case .at, .backslash: return token(.punctuation, start + 1)
    case .dot where source[start + 1] != .dot && isOperator(at: start + 1) == nil:
      return token(.punctuation, start + 1)
    case .slash where preceding == .cutOperator:
      return token(.regex, RegexLiteral.end(in: source, from: start, isCertain: true) ?? start + 1)
    case .question where isLeftBound, .exclamation where isLeftBound:
      return token(.operator, start + 1)
    case _ where byte.isDigit: return token(.number, number(start))
    case _ where byte.isOpeningBracket || byte.isClosingBracket || byte.isSeparator:
      return token(.punctuation, start + 1)
    default:
      guard byte == .dot || isOperator(at: start) != nil else {
        throw SourceProblem("this character isn't valid in Swift", at: start)
      }
      let end = wholeOperatorEnd(start)
      if !isLeftBound, let literal = literal(inOperator: start, end) {
        // A prefix operator precedes the slash.
        return literal.lowerBound > start
          ? token(.operator, literal.lowerBound) : token(.regex, literal.upperBound)
      }
      return token(.operator, operatorEnd(start))
    }
  }

  /// The regular expression literal that begins with the first slash of a run of operator characters; nil if
  /// none does.
  private func literal(inOperator start: Int, _ end: Int) -> Range<Int>? {
    guard preceding != .function,
      let slash = source.find(.slash, from: start, before: end)
    else { return nil }
    var isCertain = false
    // A space on both sides makes it an operator between two operands.
    if !isRightBound(end) {
      guard preceding != .operand else { return nil }
      isCertain = preceding == .operator || preceding == .tryMark
    }
    return RegexLiteral.end(in: source, from: slash, isCertain: isCertain).map { slash..<$0 }
  }

  private func identifierEnd(_ start: Int) -> Int {
    var end = start
    while end < source.count {
      let byte = source[end]
      if byte >= 0x80 {
        if isOperator(at: end) != nil { break }
        end += 1
        while byte >= 0xC0, source[end] & 0xC0 == 0x80 { end += 1 }
      } else if byte.isLetter || byte.isDigit || byte == .underscore || byte == .dollar {
        end += 1
      } else {
        break
      }
    }
    return end
  }

  private func number(_ start: Int) -> Int {
    var end = start
    let isHexadecimal = source.has("0x", at: start)
    var hasPoint = false
    while true {
      end = identifierEnd(end)
      let last = source[end - 1]
      let isExponent = isHexadecimal ? last | 32 == .smallP : last | 32 == .smallE
      let isDigit = source[end + 1].isDigit
      if isExponent, source[end] == .plus || source[end] == .minus, isDigit {
        end += 1
      } else if source[end] == .dot, isDigit, !hasPoint {
        hasPoint = true
        end += 1
      } else {
        return end
      }
    }
  }

  private func operatorEnd(_ start: Int) -> Int {
    let end = wholeOperatorEnd(start)
    var comment = start + 1
    while comment < end, !source.has("//", at: comment), !source.has("/*", at: comment) {
      comment += 1
    }
    return comment < end ? comment : end
  }

  /// The end of an operator, ignoring that a comment may begin in it.
  private func wholeOperatorEnd(_ start: Int) -> Int {
    var end = start
    let takesDots = source[start] == .dot
    while end < source.count {
      if source[end] == .dot, takesDots {
        end += 1
      } else if let length = isOperator(at: end) {
        end += length
      } else {
        break
      }
    }
    return end
  }

  /// The number of bytes of the operator character here; nil if it isn't one.
  private func isOperator(at index: Int) -> Int? {
    guard index < source.count else { return nil }
    return source[index] < 0x80
      ? OperatorCharacters.isOne(source[index]) ? 1 : nil
      : OperatorCharacters.length(in: source, at: index)
  }

  // MARK: Strings

  /// The end of the string literal whose quotation mark is here.
  private func string(_ quote: Int, hashes: Int) throws -> Int {
    let isMultiline = source.has("\"\"\"", at: quote) && !endsOnLine(quote, hashes)
    let delimiter = isMultiline ? 3 : 1
    var index = quote + delimiter
    // In an empty literal, `""`, the second mark is the end.
    while index < source.count {
      let byte = source[index]
      if byte == .quote, !isMultiline || source.has("\"\"\"", at: index),
        source.hasHashes(hashes, at: index + delimiter)
      {
        return index + delimiter + hashes
      }
      if byte == .backslash, source.hasHashes(hashes, at: index + 1) {
        let escaped = index + 1 + hashes
        index = source[escaped] == .openRound ? try interpolation(escaped) : escaped + 1
        continue
      }
      if !isMultiline, byte.endsLine { break }
      index += 1
    }
    throw SourceProblem("the string doesn't end", at: quote)
  }

  /// Whether a literal with hashes, such as `#"""#`, begins like a multi-line literal but ends on its line.
  private func endsOnLine(_ quote: Int, _ hashes: Int) -> Bool {
    guard hashes > 0 else { return false }
    var index = quote + 1
    while index < source.count, !source[index].endsLine {
      if source[index] == .quote, source.hasHashes(hashes, at: index + 1) { return true }
      index += 1
    }
    return false
  }

  /// The end of an interpolation's brackets.
  private func interpolation(_ bracket: Int) throws -> Int {
    guard depth < Self.greatestDepth else {
      throw SourceProblem("strings are nested too deeply to be read", at: bracket)
    }
    var inner = self
    inner.ahead = nil
    inner.depth += 1
    inner.position = bracket
    inner.preceding = .opening
    try inner.skipGroup()
    return inner.position
  }
}
