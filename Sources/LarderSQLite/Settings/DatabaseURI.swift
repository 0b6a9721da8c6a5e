/// A path that begins with `file:`, as SQLite reads it; see [URI file names](https://www.sqlite.org/uri.html).
package enum DatabaseURI {
  /// Whether a path is a URI, if URIs are allowed.
  static func isURI(_ path: String) -> Bool { path.utf8.starts(with: "file:".utf8) }

  /// Whether a URI holds an escaped NUL, at which SQLite would stop reading that part of it.
  static func holdsNUL(_ uri: String) -> Bool { uri.utf8.firstRange(of: "%00".utf8) != nil }

  /// Whether a URI has a parameter that SQLCipher takes for a key, and SQLite ignores.
  static func holdsKey(_ uri: String) -> Bool {
    let query = uri.utf8.drop { $0 != UInt8(ascii: "?") }.prefix { $0 != UInt8(ascii: "#") }
    return query.dropFirst().split(separator: UInt8(ascii: "&")).contains { parameter in
      let name = unescaped(parameter.prefix { $0 != UInt8(ascii: "=") })
      return ["key", "hexkey", "textkey"].contains { name.elementsEqual($0.utf8) }
    }
  }

  /// Decodes escapes such as `%6b`.
  package static func unescaped(_ bytes: Substring.UTF8View) -> [UInt8] {
    var rest = bytes
    var result: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let escaped = UInt8(String(rest.prefix(2)) ?? "", radix: 16) {
        result.append(escaped)
        rest = rest.dropFirst(2)
      } else {
        result.append(byte)
      }
    }
    return result
  }

  /// The URI with its path replaced by an absolute one.
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
