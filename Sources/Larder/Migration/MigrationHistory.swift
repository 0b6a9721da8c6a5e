import FoundationEssentials
import LarderSQLite

/// A migration that was applied to a database, by the database's own records.
public struct AppliedMigration: Hashable, Sendable {
  /// The migration's name.
  public let name: String
  /// The checksum of its SQL; nil if it was a closure.
  package let checksum: String?
  /// The time when it was applied, or adopted with the `user_version` that it replaces; nil if it isn't
  /// adopted yet.
  public internal(set) var date: Date?
  /// The time that it took; nil if it was adopted.
  public internal(set) var duration: Duration?
}

/// The migration history of a database: which migrations were applied to it, and in which order.
struct MigrationHistory {
  /// Names and checksums, which are compared with the list before and in each transaction.
  private(set) var applied: [AppliedMigration] = []
  /// Whether the database has a history table, which is created with the first migration.
  private(set) var isRecorded: Bool
  /// The history's table, qualified: not a temporary one, nor one of an attached database or another schema
  /// of the path.
  private let table: SQL
  /// On another engine, the table's quoted name; then the search path.
  private var name = ""
  private(set) var searchPath = ""
  /// The table's definition on another engine, as text: columns, indexes, triggers and rules.
  private(set) var objects: String?

  init(_ db: Database) throws {
    if let engine = db.definitions {
      (name, searchPath, isRecorded) = try engine.historyTable(in: db)
      table = SQL(raw: name)
      if isRecorded {
        let known = try reread(in: db)
        (applied, objects) = (known.applied, known.objects)
      }
      return
    }
    table = "main.larder_migration"
    isRecorded =
      try db.value(
        """
        SELECT EXISTS (SELECT 1 FROM main.sqlite_schema
          WHERE type = 'table' AND name = 'larder_migration')
        """) ?? false
    guard isRecorded else { return }
    applied = try db.executeQuery(
      "SELECT name, checksum FROM \(table) ORDER BY position"
    ).map { AppliedMigration(name: try $0.get(at: 0), checksum: try $0.get(at: 1)) }
  }

  /// The current history, read from the same table.
  func reread(in db: Database) throws -> MigrationHistory {
    guard let engine = db.definitions, isRecorded else { return try MigrationHistory(db) }
    let (applied, objects, searchPath) = try engine.history(in: name, db)
    var history = self
    history.applied = applied.map { AppliedMigration(name: $0.name, checksum: $0.checksum) }
    history.objects = objects
    history.searchPath = searchPath
    return history
  }

  /// Treats migrations as applied, although they haven't been run.
  mutating func adopt(_ migrations: some Sequence<Migration>, in db: Database) {
    applied = migrations.map { AppliedMigration(name: $0.name, checksum: $0.checksum(in: db)) }
  }

  /// The applied migrations with dates and durations.
  func details(in db: Database) throws -> [AppliedMigration] {
    guard isRecorded else { return applied }
    return try db.executeQuery(
      """
      SELECT name, checksum, applied_at, microseconds FROM \(table) ORDER BY position
      """
    ).map {
      AppliedMigration(
        name: try $0.get(at: 0), checksum: try $0.get(at: 1),
        date: try DateFormat.iso8601.date(from: $0.get(at: 2)),
        duration: try $0.get(at: 3, as: Int64?.self).map { .microseconds($0) })
    }
  }

  /// Creates the history's table with the adopted migrations, if there is none yet.
  mutating func record(in db: Database) throws {
    guard !isRecorded else { return }
    try db.executeUpdate(
      """
      CREATE TABLE \(table) (
        position INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        checksum TEXT,
        applied_at TEXT NOT NULL,
        microseconds \(SQL(raw: db.engine == nil ? "INTEGER" : "BIGINT"))
      )\(SQL(raw: db.engine == nil ? " STRICT" : ""))
      """)
    for (index, migration) in applied.enumerated() {
      try db.executeUpdate(
        insertion(name: migration.name, migration.checksum, at: index, nil))
    }
    isRecorded = true
    if db.engine != nil { objects = try reread(in: db).objects }
  }

  /// Adds a migration after all others. Returns the new history on engines that read it in the same round
  /// trip; nil on SQLite.
  func add(_ migration: Migration, duration: Duration, in db: Database) throws -> MigrationHistory?
  {
    let microseconds = Int64(duration / .microseconds(1))
    let checksum = migration.checksum(in: db)
    guard db.engine != nil else {
      try db.executeUpdate(
        insertion(name: migration.name, checksum, at: applied.count, microseconds))
      return nil
    }
    let now = try DateFormat.iso8601.databaseValue(of: Date()).literal
    do {
      try db.engine?.putOff(
        """
        INSERT INTO \(name) VALUES (\(applied.count + 1), \(migration.name.quotedText), \
        \(checksum?.quotedText ?? "NULL"), \(now), \(microseconds))
        """)
      return try reread(in: db)
    } catch let error as DatabaseError where error.sqlState.map(SQLState.isOfSyntaxOrNames) == true
    {
      // The table is missing or has changed.
      throw DatabaseError(.misuse, "a migration can't change the table larder_migration")
    }
  }

  private func insertion(
    name: String, _ checksum: String?, at index: Int, _ microseconds: Int64?
  ) throws -> SQL {
    let now = try DateFormat.iso8601.databaseValue(of: Date())
    return """
      INSERT INTO \(table) VALUES (\(index + 1), \(name), \(checksum), \(now),
        \(microseconds))
      """
  }

  /// The definition of the history's table, with the triggers and indexes that somebody may have put on it.
  static func objects(in db: Database) throws -> [SchemaEntry] {
    try db.schema(ofTable: BookkeepingTables.migrations)
  }

  /// Removes a migration from the history.
  func remove(_ migration: Migration, in db: Database) throws {
    try db.executeUpdate("DELETE FROM \(table) WHERE name = \(migration.name)")
  }

  /// Whether a history that matches the list leaves nothing to do.
  func isComplete(for migrations: [Migration]) -> Bool {
    applied.count == migrations.count && (isRecorded || applied.isEmpty)
  }

  /// Throws unless the applied migrations are the first ones of the list.
  func check(against migrations: [Migration], in db: Database) throws {
    for (index, applied) in applied.enumerated() {
      guard index < migrations.count else {
        throw MigrationError.newerDatabase(unknown: self.applied[index...].map(\.name))
      }
      let declared = migrations[index]
      guard declared.name.isSame(as: applied.name) else {
        throw migrations.contains { $0.name.isSame(as: applied.name) }
          ? MigrationError.reordered(applied: applied.name, declared: declared.name)
          : MigrationError.missing(migration: applied.name)
      }
      guard declared.hasChecksum(applied.checksum, in: db) else {
        throw MigrationError.changed(migration: declared.name)
      }
    }
  }
}
