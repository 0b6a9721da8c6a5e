/// A path that begins with `file:`, as SQLite reads one; see [URI file names](https://www.sqlite.org/uri.html).
enum DatabaseURI {
  /// Whether a path is one, where URIs are asked for.
  static func isURI(_ path: String) -> Bool { path.utf8.starts(with: "file:".utf8) }

  /// Whether a part of it holds an escaped NUL, at which SQLite would stop reading that part.
  static func holdsNUL(_ uri: String) -> Bool { uri.utf8.firstRange(of: "%00".utf8) != nil }

  /// The same URI with another path, which is absolute.
  static func replacingPath(of uri: String, by path: String) -> String {
    let rest = uri.utf8.drop { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let escaped = path.utf8.flatMap { byte in
      switch byte {
      case UInt8(ascii: "%"), UInt8(ascii: "?"), UInt8(ascii: "#"):
        return Array("%\(String(byte, radix: 16))".utf8)
      default: return [byte]
      }
    }
    return "file://" + String(decoding: escaped, as: UTF8.self)
      + String(decoding: Array(rest), as: UTF8.self)
  }
}
