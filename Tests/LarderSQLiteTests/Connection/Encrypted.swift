import FoundationEssentials
import LarderSQLite
import TestSupport
import Testing

/// What tests of encrypted files share.
enum Encrypted {
  /// Whether the library that is linked encrypts.
  static let isThere = SQLiteLibrary.compileOptions.contains("HAS_CODEC")

  /// A configuration with a key that isn't derived, which takes no time.
  static func configuration(
    _ byte: UInt8 = 7, _ profile: Configuration.Profile = .service
  ) throws -> Configuration {
    var configuration = Configuration(profile: profile)
    configuration.key = try EncryptionKey(raw: [UInt8](repeating: byte, count: 32))
    return configuration
  }

  /// The files of a folder in which one of the texts is to be read.
  static func files(in folder: String, with texts: String...) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter { name in
      let bytes = try ScratchFolder.contents(of: folder + "/" + name)
      return texts.contains { bytes.firstRange(of: Data($0.utf8)) != nil }
    }.sorted()
  }

  /// The same for what tells of a table of cities, or of SQLite itself.
  static func plainFiles(in folder: String) throws -> [String] {
    try files(in: folder, with: "Bergen", "CREATE TABLE", "SQLite format 3")
  }
}
