import Glibc

extension String {
  /// The name in double quotes, so that it can hold anything but NUL and is never a keyword.
  ///
  /// See [SQL keywords](https://www.sqlite.org/lang_keywords.html).
  package var quotedIdentifier: String {
    "\"" + (utf8.contains(UInt8(ascii: "\"")) ? replacing("\"", with: "\"\"") : self) + "\""
  }
}
