// Identifiers: names in quotes, and the escaping of characters.

extension String {
  /// The name in double quotes. A quoted name can contain anything but NUL, and is never a keyword.
  ///
  /// See [SQL keywords](https://www.sqlite.org/lang_keywords.html).
  package var quotedIdentifier: String { quoted(by: UInt8(ascii: "\"")) }

  /// The name as a quoted identifier, behind that of its schema if one is given.
  package func quoted(in schema: String?) -> String {
    schema.map { "\($0.quotedIdentifier).\(quotedIdentifier)" } ?? quotedIdentifier
  }

  /// The text between two quotes, with the quotes in it doubled.
  ///
  /// Works on bytes, since a quote and a following combining accent are one character.
  package func quoted(by quote: UInt8) -> String {
    let doubled =
      utf8.contains(quote)
      ? String(decoding: utf8.flatMap { $0 == quote ? [quote, quote] : [$0] }, as: UTF8.self) : self
    let mark = String(UnicodeScalar(quote))
    return mark + doubled + mark
  }

  /// The text with a backslash before each of these ASCII characters. Works on bytes too.
  package func escaping(_ special: String) -> String {
    let escaped = utf8.flatMap { special.utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
    return String(decoding: escaped, as: UTF8.self)
  }
}
