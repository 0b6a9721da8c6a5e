import CSQLite

/// The key of an encrypted database, for ``Configuration/key``.
///
/// ```swift
/// var configuration = Configuration()
/// configuration.key = EncryptionKey(passphrase)
/// let pool = try DatabasePool(path: "cities.db", configuration: configuration)
/// ```
///
/// Encryption is an option of the build, with [SQLCipher](https://www.zetetic.net/sqlcipher/) in SQLite's place;
/// without it whatever takes a key throws ``UnsupportedByEngine``.
///
/// The bytes are kept once, are shown by no description, and are overwritten with zeros when the last
/// configuration and connection that has the key goes. What this can't overwrite are the string or the array that
/// it was made of, and what SQLCipher keeps while a file is open, which SQLCipher overwrites itself.
public final class EncryptionKey: Sendable {
  /// What makes this sound: it is written before anybody else sees it, and freed with this object.
  nonisolated(unsafe) private let bytes: UnsafeMutableRawBufferPointer

  /// A key that SQLCipher derives from a text, which takes it a fraction of a second for each connection. An empty
  /// one is refused when a database is opened.
  public convenience init(_ passphrase: String) {
    self.init(passphrase.utf8.count) { copy in copy.copyBytes(from: passphrase.utf8) }
  }

  /// A key that is derived from bytes as one is from a text.
  public convenience init(_ passphrase: [UInt8]) {
    self.init(passphrase.count) { copy in copy.copyBytes(from: passphrase) }
  }

  /// A key of 32 bytes that is taken as it is, or of 48 with the salt, the last 16. Throws `ResultCode.misuse` for
  /// any other number.
  public convenience init(raw: [UInt8]) throws {
    guard raw.count == 32 || raw.count == 48 else {
      throw DatabaseError(.misuse, "a raw key has 32 bytes, or 48 with its salt, not \(raw.count)")
    }
    // As SQLCipher takes it: x'0123…'
    self.init(raw.count * 2 + 3) { copy in
      func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
      (copy[0], copy[1], copy[copy.count - 1]) = (UInt8(ascii: "x"), 0x27, 0x27)
      for (index, byte) in raw.enumerated() {
        copy[2 + 2 * index] = digit(byte >> 4)
        copy[3 + 2 * index] = digit(byte & 15)
      }
    }
  }

  private init(_ count: Int, _ write: (UnsafeMutableRawBufferPointer) -> Void) {
    bytes = .allocate(byteCount: count, alignment: 1)
    write(bytes)
  }

  deinit {
    bytes.baseAddress.map { larder_wipe($0, bytes.count) }
    bytes.deallocate()
  }

  /// Calls a closure with the bytes, in SQLCipher's form. Throws `ResultCode.misuse` where there are none, or too
  /// many for C to count.
  func withBytes<T>(_ body: (UnsafeRawPointer, Int32) throws -> T) throws -> T {
    guard let start = bytes.baseAddress, let count = Int32(exactly: bytes.count), count > 0 else {
      throw DatabaseError(.misuse, "a key isn't empty, and has less than 2 GiB")
    }
    return try body(UnsafeRawPointer(start), count)
  }

  /// Throws where the library that is linked doesn't encrypt: nothing that was to be secret is written as plain
  /// text.
  static func checkCipher(_ feature: String) throws {
    if larder_has_cipher() == 0 { throw OptionalFunctions.missing(feature) }
  }

  /// Keeps SQLCipher from writing to the standard error of the process, as some builds do for each wrong key. Once: a
  /// program may turn that on again, by `PRAGMA cipher_log`.
  static let silenceCipher: Void = {
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    guard sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
      return
    }
    _ = sqlite3_exec(handle, "PRAGMA cipher_log_level = NONE", nil, nil, nil)
  }()

  /// Throws for SQL that holds a key: it would be in errors, traces and the cache of statements, and a library
  /// without a cipher takes no notice of it. The error doesn't repeat it.
  static func refuse(in kind: StatementKind) throws {
    switch kind {
    case .pragma(let pragma) where pragma.argument != nil && pragmas.contains(pragma.name):
      throw DatabaseError(
        .misuse, "SQL holds no keys, PRAGMA \(pragma.name) neither: use Configuration.key and rekey"
      )
    case .keyedAttachment:
      throw DatabaseError(.misuse, "SQL holds no keys: use attach(_:as:key:)")
    default: break
    }
  }

  private static let pragmas: Set<String> = [
    "key", "rekey", "hexkey", "hexrekey", "textkey", "textrekey",
  ]
}
