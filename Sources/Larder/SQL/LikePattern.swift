import LarderSQLite

/// A pattern of LIKE whose case matters, or doesn't matter for any letter.
///
/// SQLite's LIKE ignores the case of ASCII letters only. Where it matters, SQLite has GLOB. Where no letter's
/// does, both the pattern and the text are folded.
struct LikePattern {
  private enum Part {
    case character(Unicode.Scalar)
    case any, one
  }

  private var parts: [Part] = []
  /// Whether the pattern ends in an escape that nothing follows, with which it matches nothing.
  private var isCut = false

  /// Nil if the escape isn't a single Unicode scalar, which SQLite refuses.
  init?(_ pattern: String, escape: Character?) {
    guard (escape?.unicodeScalars.count ?? 1) == 1 else { return nil }
    var rest = pattern.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      if scalar == escape?.unicodeScalars.first {
        guard let escaped = rest.popFirst() else {
          isCut = true
          return
        }
        parts.append(.character(escaped))
      } else {
        parts.append(scalar == "%" ? .any : scalar == "_" ? .one : .character(scalar))
      }
    }
  }

  func match(_ node: SQLFragment, caseSensitive: Bool) -> SQLFragment {
    let match =
      caseSensitive
      ? node.infix(.glob, operand: SQLFragment(value: glob))
      : SQLFragment(
        SQLFragment.call("larder_folded", node)
          .infix(.like, operand: SQLFragment(value: text(folding: true))), .escape, #"'\'"#)
    let pattern = isCut ? nil : text(folding: !caseSensitive)
    return SQLFragment(
      .form(.like(caseSensitive: caseSensitive), [node, SQLFragment(value: pattern)], match),
      match.precedence)
  }

  /// The pattern of GLOB with the same meaning. A set that isn't closed matches nothing.
  private var glob: String {
    if isCut { return "[" }
    return parts.reduce(into: "") { glob, part in
      switch part {
      case .any: glob += "*"
      case .one: glob += "?"
      case .character(let scalar) where "*?[".unicodeScalars.contains(scalar): glob += "[\(scalar)]"
      case .character(let scalar): glob.unicodeScalars.append(scalar)
      }
    }
  }

  /// The pattern with a backslash as escape.
  private func text(folding: Bool) -> String {
    if isCut { return #"\"# }
    // The parts between wildcards are folded one by one, since folding never depends on what is beside them.
    return parts.reduce(into: "") { text, part in
      switch part {
      case .any: text += "%"
      case .one: text += "_"
      case .character(let scalar) where #"%_\"#.unicodeScalars.contains(scalar):
        text += #"\\#(scalar)"#
      case .character(let scalar):
        text.unicodeScalars.append(
          contentsOf: folding ? Self.folded(scalar) : String.UnicodeScalarView([scalar]))
      }
    }
  }

  /// The small form of a letter. Both small forms of Σ are one.
  private static func folded(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
    scalar == "ς" ? "σ".unicodeScalars : scalar.properties.lowercaseMapping.unicodeScalars
  }
}
