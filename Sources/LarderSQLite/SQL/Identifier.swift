// Identifiers: names in quotes, and names compared as SQLite does.

extension String {
  /// The name in double quotes, so that it can hold anything but NUL and is never a keyword.
  ///
  /// See [SQL keywords](https://www.sqlite.org/lang_keywords.html).
  package var quotedIdentifier: String { quoted(by: UInt8(ascii: "\"")) }

  /// The text between two quotes, those in it doubled.
  ///
  /// Bytes are looked at, since an accent that follows a quote makes one character of both.
  package func quoted(by quote: UInt8) -> String {
    let doubled =
      utf8.contains(quote)
      ? String(decoding: utf8.flatMap { $0 == quote ? [quote, quote] : [$0] }, as: UTF8.self) : self
    let mark = String(UnicodeScalar(quote))
    return mark + doubled + mark
  }

  /// With a backslash before each of these ASCII characters; by bytes likewise.
  package func escaping(_ special: String) -> String {
    let escaped = utf8.flatMap { special.utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
    return String(decoding: escaped, as: UTF8.self)
  }
}
