/// Finds the end of regular expression literals, by the rules of
/// [SE-0354](https://github.com/swiftlang/swift-evolution/blob/main/proposals/0354-regex-literals.md).
enum RegexLiteral {
  /// The end of `/…/`, or nil if the slash is an operator. A literal ends on its line, neither begins nor
  /// ends with a space, and closes no bracket that it hasn't opened.
  ///
  /// - Parameter isCertain: whether no operator can stand there. Spaces and brackets are then only mistakes.
  static func end(in source: SourceBytes, from slash: Int, isCertain: Bool = false) -> Int? {
    var index = slash + 1
    var open = 0
    var classes = 0
    var lastSpace = -1
    switch source[index] {
    case .star, .slash: return nil
    case .space, .tab: if !isCertain { return nil }
    default: break
    }
    while index < source.count, !source[index].endsLine {
      switch source[index] {
      case .backslash:
        index += 1
        if source[index].endsLine { return nil }
      case .slash:
        if source[index + 1] == .star || source[index + 1] == .slash { return nil }
        return lastSpace == index - 1 && !isCertain ? nil : index + 1
      case .space, .tab: lastSpace = index
      case .openSquare: classes += 1
      case .closeSquare: classes = max(0, classes - 1)
      case .openRound where classes == 0: open += 1
      case .closeRound where classes == 0:
        if open == 0, !isCertain { return nil }
        open = max(0, open - 1)
      default: break
      }
      index += 1
    }
    return nil
  }

  /// The end of `#/…/#`, which may span several lines.
  static func end(in source: SourceBytes, from slash: Int, hashes: Int) throws -> Int {
    var index = slash + 1
    while index < source.count {
      if source[index] == .backslash {
        index += 2
      } else if source[index] == .slash, source.hasHashes(hashes, at: index + 1) {
        return index + 1 + hashes
      } else {
        index += 1
      }
    }
    throw SourceProblem("the regular expression doesn't end", at: slash)
  }
}
