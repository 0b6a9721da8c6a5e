/// [GLOB](https://www.sqlite.org/lang_expr.html#glob)'s patterns as regular expressions.
enum GlobPattern {
  static func regularExpression(_ glob: String) -> String {
    var result = "^"
    var rest = glob.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "*": result += ".*"
      case "?": result += "."
      case "[": result += set(&rest)
      default: result += escaped(scalar)
      }
    }
    return result + "$"
  }

  /// A set of characters, in which `^` excludes, and a `]` that comes first stands for itself.
  private static func set(_ rest: inout Substring.UnicodeScalarView) -> String {
    let excludes = rest.first == "^"
    if excludes { rest.removeFirst() }
    var members = ""
    // The character that a range may begin with.
    var start: Unicode.Scalar?
    if rest.first == "]" { members += member(rest.removeFirst()) }
    while let scalar = rest.popFirst() {
      if scalar == "]" {
        if members.isEmpty { return excludes ? "." : nothing }
        return "[\(excludes ? "^" : "")\(members)]"
      }
      if scalar == "-", let first = start, let last = rest.first, last != "]" {
        rest.removeFirst()
        // A reversed range contains only its beginning.
        if first <= last { members += "\(member(first))-\(member(last))" }
        start = nil
      } else {
        members += member(scalar)
        start = scalar
      }
    }
    // A set without an end matches nothing.
    return nothing
  }

  private static let nothing = "(?!)"

  private static func member(_ scalar: Unicode.Scalar) -> String {
    "\\[]^-".unicodeScalars.contains(scalar) ? "\\\(scalar)" : "\(scalar)"
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    let isPlain =
      !scalar.isASCII || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    return isPlain ? "\(scalar)" : "\\\(scalar)"
  }
}
