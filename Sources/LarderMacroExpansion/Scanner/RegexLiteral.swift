/// Where literals of regular expressions end, by the rules of
/// [SE-0354](https://github.com/swiftlang/swift-evolution/blob/main/proposals/0354-regex-literals.md).
enum RegexLiteral {
  /// The end of `/…/`, or nil if the slash is an operator's: a literal ends on its line, not behind a
  /// space, and closes no bracket that it hasn't opened.
  static func end(in source: SourceBytes, from slash: Int) -> Int? {
    var index = slash + 1
    var open = 0
    var classes = 0
    while index < source.count, !source[index].endsLine {
      switch source[index] {
      case .backslash: index += 1
      case .slash:
        let last = source[index - 1]
        return last == .space || last == .tab ? nil : index + 1
      case .openSquare: classes += 1
      case .closeSquare: classes = max(0, classes - 1)
      case .openRound where classes == 0: open += 1
      case .closeRound where classes == 0:
        open -= 1
        if open < 0 { return nil }
      default: break
      }
      index += 1
    }
    return nil
  }

  /// The end of `#/…/#`, which may have several lines.
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
