import Larder

/// A tenant's key. Keys are compared by their bytes, as SQLite compares texts: "é" in one scalar and in two
/// are two keys, and two files.
struct TenantKey: Hashable, Sendable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (one: TenantKey, other: TenantKey) -> Bool { one.text.isSame(as: other.text) }

  func hash(into hasher: inout Hasher) {
    text.withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

/// The file names of keys: percent-encoding of everything but lowercase letters, digits, `_` and `-`.
///
/// No name is a path or begins with a dot. Names stay distinct on a file system that ignores case or
/// composes accents, and each can be decoded to its key.
struct TenantFileNames: Sendable {
  /// The dot and the extension.
  private let suffix: String
  /// How many bytes are left for an encoded key: a name has at most 255, of which SQLite takes eight for a
  /// journal's suffix.
  private let limit: Int

  init(extension name: String) throws {
    guard (1...16).contains(name.utf8.count),
      name.utf8.allSatisfy({ Self.isPlain($0) && !"-_".utf8.contains($0) })
    else { throw FleetError.wrongExtension(name) }
    suffix = "." + name
    limit = 255 - "-journal".utf8.count - suffix.utf8.count
  }

  /// The name of a key's file. Throws ``FleetError`` for a key that can't have one.
  func name(of key: TenantKey) throws -> String {
    guard !key.text.isEmpty else { throw FleetError.emptyKey }
    var bytes: [UInt8] = []
    for byte in key.text.utf8 {
      if Self.isPlain(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
      }
      guard bytes.count <= limit else { throw FleetError.keyTooLong(key.text, limit: limit) }
    }
    return String(decoding: bytes, as: UTF8.self) + suffix
  }

  /// The key that a file's name encodes; nil for other files.
  func key(of name: String) -> TenantKey? {
    guard name.utf8.count > suffix.utf8.count, name.hasSuffix(suffix) else { return nil }
    let bytes = DatabaseURI.unescaped(name.utf8.dropLast(suffix.utf8.count))
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    // A key can be encoded in several ways, but only one of them is its file's name.
    let key = TenantKey(text)
    return (try? self.name(of: key)).map { $0.isSame(as: name) } == true ? key : nil
  }

  private static let digits = Array("0123456789abcdef".utf8)

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
