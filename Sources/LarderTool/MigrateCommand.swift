import FoundationEssentials
import Larder
import LarderTerminal

extension Command {
  static let migrate = Command(
    name: "migrate", arguments: "status FILE", argumentCount: 2...2,
    summary: "Lists Larder's migrations that were applied to a database, and when.",
    details: """
      Only the program that runs the migrations has their full list, so only it knows which are still to be
      applied. The checksum is that of a migration's SQL; a migration in Swift code has none.

      Example:
        larder migrate status cities.db
        larder migrate status cities.db --json
      """
  ) { invocation in
    guard invocation.arguments[0] == "status" else {
      throw Failure(.usage, "migrate only has “status”, not “\(invocation.arguments[0])”")
    }
    let database = try NamedDatabase(invocation.arguments[1], invocation)
    let history = try database.read { try MigrationStatus($0) }
    if invocation.wantsJSON { return try Output.showJSON(history) }
    guard history.isRecorded else {
      let version =
        history.userVersion == 0 ? "" : "; its user_version is \(history.userVersion)"
      return print("\(database.name.printable): there is no history of migrations\(version)")
    }
    var table = TextTable("MIGRATION", "APPLIED", "TOOK", "CHECKSUM", numbers: [2])
    for migration in history.migrations {
      table.add(
        migration.name, migration.appliedAt ?? "–",
        migration.seconds.map { "\(($0 * 1000).rounded() / 1000) s" } ?? "adopted",
        migration.checksum.map { String($0.prefix(12)) } ?? "–")
    }
    table.show()
  }
}

/// The migrations that a database records as applied.
private struct MigrationStatus: Encodable {
  struct Applied: Encodable {
    let name: String
    /// The checksum; nil for a migration in Swift code.
    let checksum: String?
    let appliedAt: String?
    /// The duration; nil for a migration that was adopted from another scheme.
    let seconds: Double?
  }

  /// Whether the database has a migration history.
  let isRecorded: Bool
  let userVersion: Int
  let migrations: [Applied]

  init(_ db: Database) throws {
    userVersion = db.engine == nil ? Int(try db.userVersion) : 0
    isRecorded = try db.tableExists(BookkeepingTables.migrations)
    migrations = try (isRecorded ? Migrator([]).applied(db) : []).map {
      Applied(
        name: $0.name, checksum: $0.checksum, appliedAt: $0.date?.formatted(.iso8601),
        seconds: $0.duration.map { $0 / .seconds(1) })
    }
  }
}
