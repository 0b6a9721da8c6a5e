/// [GLOB](https://www.sqlite.org/lang_expr.html#glob)'s patterns as regular expressions, for engines that have
/// these instead.
package enum GlobPattern {
  package static func regularExpression(_ glob: String) -> String {
    var result = "^"
    var rest = Substring(glob)
    while let character = rest.popFirst() {
      switch character {
      case "*": result += ".*"
      case "?": result += "."
      case "[": result += set(&rest)
      default: result += escaped(character)
      }
    }
    return result + "$"
  }

  /// A set, in which `^` excludes, and a `]` that comes first stands for itself.
  private static func set(_ rest: inout Substring) -> String {
    var members = "["
    if rest.first == "^" {
      rest.removeFirst()
      members += "^"
    }
    var isFirst = true
    while let member = rest.popFirst() {
      if member == "]", !isFirst { return members + "]" }
      members += member == "\\" || member == "[" || member == "]" ? "\\\(member)" : "\(member)"
      isFirst = false
    }
    // Without an end nothing matches.
    return "(?!)"
  }

  private static func escaped(_ character: Character) -> String {
    character.isLetter || character.isNumber || !character.isASCII
      ? "\(character)" : "\\\(character)"
  }
}
