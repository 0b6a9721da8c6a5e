import FoundationEssentials
import Larder
import LarderTerminal

extension Command {
  static let migrate = Command(
    name: "migrate", arguments: "status FILE | draft OLD NEW", argumentCount: 2...3,
    summary: "Lists the migrations of a database, or drafts the next one in Swift.",
    details: """
      “status” lists the migrations that were applied, and when. Only the program that runs them has their full
      list, so only it knows which are still to be applied. The checksum is that of a migration's steps or SQL; a
      migration in Swift code has none.

      “draft” writes the migration that makes OLD like NEW, of steps that are the same on SQLite and PostgreSQL.
      Each is a database, a server's (postgres://user@host/database), or a file that “larder schema FILE --json” has
      written. Read it before you use it: a renamed column looks like a removed and an added one, and comments say
      what is lost and what has to be decided. For files, the steps are tried on an empty copy, and differences that
      remain are listed.

      Example:
        larder migrate status cities.db
        larder migrate status cities.db --json
        larder migrate draft released.db new.db --name "add mayors"
      """,
    options: [Option("name", "NAME", "with draft: the migration's name")]
  ) { invocation in
    switch (invocation.arguments[0], invocation.arguments.count) {
    case ("draft", 3): return try draft(invocation)
    case ("status", 2): break
    case ("status", _), ("draft", _):
      throw Failure(.usage, "“migrate status” takes one database, and “migrate draft” two")
    default:
      throw Failure(
        .usage, "migrate has “status” and “draft”, not “\(invocation.arguments[0])”")
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

  private static func draft(_ invocation: Invocation) throws {
    let old = try Schema.read(invocation.arguments[1], invocation)
    let new = try Schema.read(invocation.arguments[2], invocation)
    let names = invocation.arguments.dropFirst().map(\.lastComponent)
    print(
      MigrationDraft(from: old, to: new).text(
        name: invocation.text("name") ?? "as in \(names[1])",
        title:
          "Makes the schema of \(names[0]) like that of \(names[1]). Read it before you use it."))
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
