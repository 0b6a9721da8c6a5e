import FoundationEssentials
import LarderSQLite
import TestSupport
import Testing

/// Helpers for tests of encrypted files.
enum Encrypted {
  /// Whether the linked SQLite library supports encryption.
  static let isThere = SQLiteLibrary.compileOptions.contains("HAS_CODEC")

  /// A configuration with a raw key, which saves the time of key derivation.
  static func configuration(
    _ byte: UInt8 = 7, _ profile: Configuration.Profile = .service
  ) throws -> Configuration {
    var configuration = Configuration(profile: profile)
    configuration.key = try EncryptionKey(raw: [UInt8](repeating: byte, count: 32))
    return configuration
  }

  /// The names of a folder's files that contain one of `texts` in plain text.
  static func files(in folder: String, with texts: String...) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter { name in
      let bytes = try ScratchFolder.contents(of: folder + "/" + name)
      return texts.contains { bytes.firstRange(of: Data($0.utf8)) != nil }
    }.sorted()
  }

  /// The names of a folder's files that contain the tests' cities, SQL or SQLite's header in plain text.
  static func plainFiles(in folder: String) throws -> [String] {
    try files(in: folder, with: "Bergen", "CREATE TABLE", "SQLite format 3")
  }
}
