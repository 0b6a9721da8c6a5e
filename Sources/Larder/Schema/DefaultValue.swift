import LarderSQLite

/// The value of a column's default, as far as its text tells: `'x'` and `("x")` have the same value, and so
/// have `0.0` and `0` once they are stored.
///
/// See [the DEFAULT clause](https://www.sqlite.org/lang_createtable.html#the_default_clause).
enum DefaultValue: Hashable {
  case null, integer(Int64), real(Double), text(String)
  /// A blob, by its literal in lower case.
  case blob(String)
  /// Any other expression, as its normalized tokens.
  case expression([String])

  init(_ sql: String?) {
    let written = (sql ?? "NULL").sqlTokens
    let tokens = written.withoutParentheses
    let text = tokens.map(\.text).joined()
    if let number = Self.number(text) {
      self = number
    } else if tokens.count == 2, tokens[0].isWord("x"), tokens[1].kind == .quoted {
      self = .blob(tokens[1].text.lowercased())
    } else if tokens.count == 1, let name = tokens[0].name {
      self = Self.word(tokens[0], name, isBare: written.count == 1)
    } else {
      self = .expression(tokens.normalized)
    }
  }

  private static func number(_ text: String) -> DefaultValue? {
    let digits = text.utf8.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
    guard let first = digits.first,
      first == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
    else { return nil }
    if let integer = Int64(text) { return .integer(integer) }
    return text.lowercased().contains("x") ? nil : Double(text).map { .real($0) }
  }

  /// The default that is a single word or quoted token. A bare name, without parentheses, is a text.
  private static func word(_ token: SQLPiece, _ name: String, isBare: Bool) -> DefaultValue {
    if token.kind == .quoted {
      let isString = isBare || token.text.utf8.first.map { "'\"".utf8.contains($0) } ?? false
      return isString ? .text(name) : .expression([token].normalized)
    }
    if token.isWord("null") { return .null }
    if token.isWord("true") { return .integer(1) }
    if token.isWord("false") { return .integer(0) }
    let isTime = ["current_timestamp", "current_date", "current_time"].contains(where: token.isWord)
    return isTime || !isBare ? .expression([token].normalized) : .text(name)
  }

  /// The value that a column of an affinity stores for this default.
  func stored(_ affinity: ColumnAffinity) -> DefaultValue {
    switch (affinity, self) {
    case (.numeric, .text(let text)), (.real, .text(let text)):
      return Self.number(text)?.stored(affinity) ?? self
    case (.numeric, .real(let real)): return Int64(exactly: real).map { .integer($0) } ?? self
    case (.real, .integer(let integer)): return .real(Double(integer))
    case (.text, .integer(let integer)): return .text("\(integer)")
    default: return self
    }
  }
}
