import CSQLite

/// The key of an encrypted database, for ``Configuration/key``.
///
/// ```swift
/// var configuration = Configuration()
/// configuration.key = EncryptionKey(passphrase)
/// let pool = try DatabasePool(path: "cities.db", configuration: configuration)
/// ```
///
/// Encryption is an option of the build, with [SQLCipher](https://www.zetetic.net/sqlcipher/) in SQLite's
/// place. Without it, everything that takes a key throws ``UnsupportedByEngine``.
///
/// The bytes are kept once, never appear in a description, and are overwritten with zeros when the last
/// configuration or connection with the key goes. The string or array that the key was made of can't be
/// overwritten. SQLCipher's own copies last while a file is open; SQLCipher overwrites them itself.
public final class EncryptionKey: Sendable {
  /// Sound despite `unsafe`: written before anybody else sees it, and freed with this object.
  nonisolated(unsafe) private let bytes: UnsafeMutableRawBufferPointer

  /// A key that SQLCipher derives from a text, which takes a fraction of a second for each connection.
  /// Opening a database refuses an empty one.
  public convenience init(_ passphrase: String) {
    self.init(passphrase.utf8.count) { copy in copy.copyBytes(from: passphrase.utf8) }
  }

  /// A key that SQLCipher derives from bytes, in the same way as from a text.
  public convenience init(_ passphrase: [UInt8]) {
    self.init(passphrase.count) { copy in copy.copyBytes(from: passphrase) }
  }

  /// A raw key, used without derivation: 32 bytes, or 48 of which the last 16 are the salt. Throws
  /// `ResultCode.misuse` for any other number.
  public convenience init(raw: [UInt8]) throws {
    guard raw.count == 32 || raw.count == 48 else {
      throw DatabaseError(.misuse, "a raw key needs 32 bytes, or 48 with a salt, not \(raw.count)")
    }
    // SQLCipher's form of a raw key: x'0123…'
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

  /// Calls a closure with the bytes, in SQLCipher's form. Throws `ResultCode.misuse` if there are none, or
  /// more than an Int32 counts.
  func withBytes<T>(_ body: (UnsafeRawPointer, Int32) throws -> T) throws -> T {
    guard let start = bytes.baseAddress, let count = Int32(exactly: bytes.count), count > 0 else {
      throw DatabaseError(.misuse, "a key can't be empty, and has to be smaller than 2 GiB")
    }
    return try body(UnsafeRawPointer(start), count)
  }

  /// Throws if the linked library doesn't encrypt, so that nothing secret is written as plain text.
  static func checkCipher(_ feature: String) throws {
    if larder_has_cipher() == 0 { throw OptionalFunctions.missing(feature) }
  }

  /// Keeps SQLCipher from writing to the standard error of the process, as some builds do for each wrong key.
  /// Runs once: a program may turn that on again, by `PRAGMA cipher_log`.
  static let silenceCipher: Void = {
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    guard sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
      return
    }
    _ = sqlite3_exec(handle, "PRAGMA cipher_log_level = NONE", nil, nil, nil)
  }()

  /// Throws for SQL that holds a key. The key would get into errors, traces and the statement cache, and a
  /// library without a cipher ignores it. The error doesn't repeat it.
  static func refuse(in kind: StatementKind) throws {
    switch kind {
    case .pragma(let pragma) where pragma.argument != nil && pragmas.contains(pragma.name):
      throw DatabaseError(
        .misuse,
        "PRAGMA \(pragma.name) can't be used, since SQL can't hold keys: use Configuration.key and rekey"
      )
    case .keyedAttachment:
      throw DatabaseError(.misuse, "SQL can't hold keys: use attach(_:as:key:)")
    default: break
    }
  }

  private static let pragmas: Set<String> = [
    "key", "rekey", "hexkey", "hexrekey", "textkey", "textrekey",
  ]
}
