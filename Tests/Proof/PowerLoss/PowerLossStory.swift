import Larder
import ProofSupport
import TestSupport

/// A program whose every write is recorded, and the check of what a loss of power leaves of it.
protocol PowerLossStory: Sendable {
  var name: String { get }
  /// Whether the disk keeps the order of names and cuts.
  var needsOrder: Bool { get }
  /// Lets it happen and be recorded, in an empty folder, with ``Marks``. Returns what went wrong
  /// with the power on.
  mutating func tell(path: String, _ random: inout SeededGenerator) throws -> [String]
  /// What is wrong with the database that was found after the power was back, if anything.
  func fault(path: String, _ marks: Marks) throws -> String?
}

extension PowerLossStory {
  /// A profile's settings, but so that the log restarts often, and that changes go to the disk in
  /// the middle of transactions too.
  static func configuration(
    _ profile: Configuration.Profile = .service, _ mode: Configuration.JournalMode = .wal,
    _ synchronous: Configuration.Synchronous? = nil
  ) -> Configuration {
    var configuration = Configuration(profile: profile)
    configuration.journalMode = mode
    if let synchronous { configuration.synchronous = synchronous }
    configuration.cacheSize = 32 << 10
    // Whoever isn't woken is found by the watchdog instead.
    configuration.scopeTimeout = .seconds(600)
    configuration.prepareDatabase = { try $0.executeUpdate("PRAGMA wal_autocheckpoint = 30") }
    return configuration
  }

  /// Opens what was found, and checks the file.
  static func openAndCheck(_ path: String, _ configuration: Configuration) throws -> Database {
    let db = try Database(path: path, configuration: configuration)
    try WrongAnswer.check(
      try db.value("PRAGMA integrity_check", as: String.self), "ok", "the integrity check")
    return db
  }
}
