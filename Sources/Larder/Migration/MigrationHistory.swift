import FoundationEssentials
import LarderSQLite

/// A migration that was applied to a database, by the database's own records.
public struct AppliedMigration: Hashable, Sendable {
  /// The migration's name.
  public let name: String
  /// The checksum of its SQL; nil if it was a closure.
  public let checksum: String?
  /// The time when it was applied, or adopted with the `user_version` that it replaces; nil if not yet.
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
  /// The history's table, qualified: not a temporary one, nor one of an attached database or another schema.
  private let name: String
  private var table: SQL { SQL(raw: name) }
  /// On another engine, the search path.
  private(set) var searchPath = ""
  /// The table's definition on another engine, as text: columns, indexes, triggers and rules.
  private(set) var objects: String?

  init(_ db: Database) throws {
    if db.engine == nil {
      name = "main.larder_migration"
      isRecorded =
        try db.value(
          """
          SELECT EXISTS (SELECT 1 FROM main.sqlite_schema
            WHERE type = 'table' AND name = 'larder_migration')
          """) ?? false
    } else {
      let row = try db.executeQuery(
        """
        SELECT current_schema()::text, current_setting('search_path'), EXISTS (
          SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname = current_schema() AND c.relname = 'larder_migration'
            AND c.relkind IN ('r', 'p', 'v', 'f'))
        """
      ).map {
        (
          schema: try $0.get(at: 0, as: String?.self), path: try $0.get(at: 1, as: String.self),
          isThere: try $0.get(at: 2, as: Bool.self)
        )
      }.first
      guard let row, let schema = row.schema else {
        throw DatabaseError(
          .error, "no schema of the search path exists", engine: db.engine?.name ?? "")
      }
      name = "\(schema.quotedIdentifier).larder_migration"
      searchPath = row.path
      isRecorded = row.isThere
      if isRecorded {
        let known = try reread(in: db)
        (applied, objects) = (known.applied, known.objects)
      }
      return
    }
    guard isRecorded else { return }
    applied = try db.executeQuery(
      "SELECT name, checksum FROM \(table) ORDER BY position"
    ).map { AppliedMigration(name: try $0.get(at: 0), checksum: try $0.get(at: 1)) }
  }

  /// The current history, read from the same table.
  func reread(in db: Database) throws -> MigrationHistory {
    guard db.engine != nil, isRecorded else { return try MigrationHistory(db) }
    let rows = try db.executeQuery(
      """
      SELECT \(shape), m.name, m.checksum, current_setting('search_path')
      FROM (SELECT 1) AS one LEFT JOIN \(table) AS m ON TRUE ORDER BY m.position
      """
    ).map {
      (
        objects: try $0.get(at: 0, as: String?.self), name: try $0.get(at: 1, as: String?.self),
        checksum: try $0.get(at: 2, as: String?.self), path: try $0.get(at: 3, as: String.self)
      )
    }
    var history = self
    // An empty history is one row without a name.
    history.applied = rows.compactMap { row in
      row.name.map { AppliedMigration(name: $0, checksum: row.checksum) }
    }
    history.objects = rows.first?.objects
    history.searchPath = rows.first?.path ?? ""
    return history
  }

  private var shape: SQL {
    // It has no parameters, because their types would have to be asked for.
    let table = SQL(raw: "to_regclass(\(name.quotedText))")
    return """
      concat_ws(';',
        (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod) || attnotnull, ';' ORDER BY attnum)
          FROM pg_attribute WHERE attrelid = \(table) AND attnum > 0),
        (SELECT string_agg(pg_get_indexdef(indexrelid), ';' ORDER BY indexrelid)
          FROM pg_index WHERE indrelid = \(table)),
        (SELECT string_agg(pg_get_triggerdef(oid), ';' ORDER BY tgname)
          FROM pg_trigger WHERE tgrelid = \(table) AND NOT tgisinternal),
        (SELECT string_agg(pg_get_ruledef(oid), ';' ORDER BY rulename)
          FROM pg_rewrite WHERE ev_class = \(table)),
        (SELECT relrowsecurity::text FROM pg_class WHERE oid = \(table)))
      """
  }

  /// Treats the migrations that the `user_version` stands for as applied.
  mutating func adopt(_ migrations: some Sequence<Migration>) {
    applied = migrations.map { AppliedMigration(name: $0.name, checksum: $0.checksum) }
  }

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
      try db.executeUpdate(insertion(migration.name, migration.checksum, at: index, nil))
    }
    isRecorded = true
    if db.engine != nil { objects = try reread(in: db).objects }
  }

  /// Adds a migration. Returns the new history on engines that read it in the same round trip; else nil.
  func add(_ migration: Migration, duration: Duration, in db: Database) throws -> MigrationHistory?
  {
    let microseconds = Int64(duration / .microseconds(1))
    let checksum = migration.checksum(in: db)
    guard db.engine != nil else {
      try db.executeUpdate(insertion(migration.name, checksum, at: applied.count, microseconds))
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
    _ name: String, _ checksum: String?, at index: Int, _ microseconds: Int64?
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
