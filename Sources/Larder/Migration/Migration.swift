import LarderSQLite

/// One step from one schema to the next: a name that never changes, and the steps, SQL or code that it runs.
///
/// ```swift
/// Migration("rename name", .rename("name", of: "city", to: "title"), .add(.index("title"), to: "city"))
/// Migration("create city", sql: """
///   CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
///   CREATE INDEX city_name ON city (name);
///   """)
/// Migration("trim names") { db in
///   for city in try City.fetchAll(db) { try city.trimmed().update(db) }
/// }
/// ```
///
/// Prefer steps (``SchemaStep``), which are the same on all engines, or SQL: a ``Migrator`` notices if they are
/// changed after they were applied, which it can't for a closure. A closure should use SQL or its own record types, since the program's records change and the migration
/// mustn't. Neither can begin or end transactions. Databases that they attach are detached when they end.
///
/// `TableSchema.rebuild` makes changes that ALTER TABLE can't, even if other tables refer to the table.
public struct Migration: Sendable {

  /// The migration's name: any text that isn't empty.
  public let name: String
  /// The SQL's checksum, 16 digits; nil for a closure. Spaces, comments, case, last semicolons don't count.
  package let checksum: String?
  /// The same for the SQL that runs on another engine.
  private let engineChecksum: String?
  /// The checksums that earlier versions of Larder stored for the same SQL.
  private let formerChecksums: [String]
  /// Whether foreign keys are enforced while the migration runs, with CASCADE and SET NULL, on a connection
  /// that enforces them.
  ///
  /// If not, as by default, it can [rebuild](https://www.sqlite.org/lang_altertable.html#otheralter) a table
  /// that others refer to. Those of all tables are checked before the commit, and a violation that wasn't
  /// there before rolls the migration back. Deleting rows doesn't delete the rows that refer to them.
  public let foreignKeys: Bool
  /// The `user_version` of databases that had reached this migration before there was a `Migrator`.
  public private(set) var userVersion: Int32?
  /// Whether another engine runs the migration in a transaction.
  let isTransactional: Bool
  var up: @Sendable (Database) throws -> Void
  /// Does the same in an empty schema of another engine, in a transaction.
  let rehearse: @Sendable (Database) throws -> Void
  let down: (@Sendable (Database) throws -> Void)?
  /// The rows to fill in batches, each in a transaction of its own; empty for other migrations.
  var backfills: [Backfill] = []
  /// Whether a backfill stands beside other steps, which isn't allowed.
  private(set) var mixesBackfills = false

  /// A migration of SQL: any number of statements.
  ///
  /// - `postgres`: the SQL to run on PostgreSQL instead; nil for the same SQL. It has its own checksum, for
  ///   which a text with dollar quotes or backslashes is taken as it is.
  /// - `inTransaction`: false for SQL that PostgreSQL can't run in a transaction, such as CREATE INDEX
  ///   CONCURRENTLY. Its statements are run one by one, and recorded as applied after the last. If one fails,
  ///   the effects of those before it stay, and the next attempt runs all of them again: so they have to be
  ///   repeatable (`DROP INDEX IF EXISTS` first). SQLite has no such statements, and always uses a
  ///   transaction.
  /// - `down`: the SQL that undoes the migration, for `Migrator.migrate(_:downTo:)`. It isn't part of the
  ///   checksum.
  public init(
    _ name: String, foreignKeys: Bool = false, sql: SQL,
    postgres: SQL? = nil, inTransaction: Bool = true, down: SQL? = nil
  ) {
    self.name = name
    self.foreignKeys = foreignKeys
    checksum = sql.checksum
    engineChecksum = (postgres ?? sql).engineChecksum
    isTransactional = inTransaction
    formerChecksums = sql.formerChecksums
    up = { db in try db.executeStatements(db.engine == nil ? sql : postgres ?? sql) }
    let text = postgres ?? sql
    rehearse = { db in try db.executeStatements(inTransaction ? text : text.notConcurrent) }
    self.down = down.map { sql in { @Sendable db in try db.executeStatements(sql) } }
  }

  /// A migration of steps by names: the same on all engines, whatever becomes of the records.
  ///
  /// ```swift
  /// Migration(
  ///   "stars", .add(.column("starred", Bool.self, .default(false)), to: "entry"),
  ///   .add(.index("feed", "published"), to: "entry"), .remove("draft", from: "entry", losing: .columns))
  /// ```
  ///
  /// `Migrator.migrate(_:downTo:)` undoes it if all its steps are reversible (``SchemaStep/isReversible``). A
  /// migration of backfills has no other steps, and runs outside of a transaction.
  public init(
    _ name: String, foreignKeys: Bool = false, _ step: SchemaStep, _ others: SchemaStep...
  ) {
    let steps = [step] + others
    let sql = SQL(raw: steps.map(\.checkedText).joined(separator: ";\n"))
    self.name = name
    self.foreignKeys = foreignKeys
    checksum = sql.checksum
    engineChecksum = sql.engineChecksum
    isTransactional = true
    formerChecksums = []
    let run: @Sendable (Database) throws -> Void = { db in
      for step in steps { try step.execute(db) }
    }
    up = run
    rehearse = run
    let undo = steps.reversed().compactMap { $0.named?.undo }
    let back: @Sendable (Database) throws -> Void = { db in for step in undo { try step(db) } }
    down = undo.count == steps.count ? back : nil
    backfills = steps.compactMap { $0.named?.backfill }
    mixesBackfills = !backfills.isEmpty && backfills.count < steps.count
  }

  /// A migration in Swift.
  ///
  /// - `down`: undoes the migration, for `Migrator.migrate(_:downTo:)`.
  /// - `up`: makes the migration's changes. An error that it throws rolls all of them back.
  public init(
    _ name: String, foreignKeys: Bool = false,
    down: (@Sendable (Database) throws -> Void)? = nil,
    _ up: @escaping @Sendable (Database) throws -> Void
  ) {
    self.name = name
    self.foreignKeys = foreignKeys
    checksum = nil
    engineChecksum = nil
    isTransactional = true
    formerChecksums = []
    self.up = up
    rehearse = up
    self.down = down
  }

  /// The same migration, but taken as applied in databases with this
  /// [user_version](https://www.sqlite.org/pragma.html#pragma_user_version), together with all migrations
  /// before it. This is for programs that kept track of the schema by `user_version`.
  ///
  /// Once a `Migrator` has recorded migrations, it ignores the `user_version`. It never changes it.
  public func replacing(userVersion: Int32) -> Migration {
    var migration = self
    migration.userVersion = userVersion
    return migration
  }

  func checksum(in db: Database) -> String? { db.engine == nil ? checksum : engineChecksum }

  func hasChecksum(_ stored: String?, in db: Database) -> Bool {
    stored == checksum(in: db) || db.engine == nil && formerChecksums.contains { $0 == stored }
  }
}
