import FoundationEssentials
import LarderSQLite

/// A migration that a database says was applied to it.
public struct AppliedMigration: Hashable, Sendable {
  /// Its name.
  public let name: String
  /// The checksum of its SQL; nil if it was a closure.
  public let checksum: String?
  /// When it was applied, or adopted with the `user_version` that it replaces; nil if that is still
  /// to come.
  public internal(set) var date: Date?
  /// How long it took; nil if it was adopted.
  public internal(set) var duration: Duration?
}

/// The bookkeeping of a database: which migrations were applied to it, in which order.
struct MigrationHistory {
  /// Names and checksums, which are compared with the list before and in each transaction.
  private(set) var applied: [AppliedMigration] = []
  /// Whether the database has bookkeeping, which is made with the first migration.
  private(set) var isRecorded: Bool
  /// The table: not a temporary one, nor one of an attached database or of another schema of the path.
  private let table: SQL

  init(_ db: Database) throws {
    if db.engine == nil {
      table = "main.larder_migration"
      isRecorded =
        try db.value(
          """
          SELECT EXISTS (SELECT 1 FROM main.sqlite_schema
            WHERE type = 'table' AND name = 'larder_migration')
          """) ?? false
    } else {
      guard let schema = try db.value("SELECT current_schema()", as: String?.self) ?? nil else {
        throw DatabaseError(
          .error, "the search path leads to no schema that is there", engine: db.engine?.name ?? "")
      }
      table = "\(identifier: schema).larder_migration"
      isRecorded =
        try db.value(
          """
          SELECT EXISTS (SELECT 1 FROM information_schema.tables
            WHERE table_schema = \(schema) AND table_name = 'larder_migration')
          """) ?? false
    }
    guard isRecorded else { return }
    applied = try db.executeQuery(
      "SELECT name, checksum FROM \(table) ORDER BY position"
    ).map { AppliedMigration(name: try $0.get(at: 0), checksum: try $0.get(at: 1)) }
  }

  /// Takes migrations for applied that another scheme has applied.
  mutating func adopt(_ migrations: some Sequence<Migration>) {
    applied = migrations.map { AppliedMigration(name: $0.name, checksum: $0.checksum) }
  }

  /// All that is known of the applied migrations.
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

  /// Makes the bookkeeping, with the migrations that were adopted, if there is none yet.
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
      try add(name: migration.name, migration.checksum, at: index, nil, in: db)
    }
    isRecorded = true
  }

  /// Adds a migration after all others.
  func add(_ migration: Migration, duration: Duration, in db: Database) throws {
    try add(
      name: migration.name, migration.checksum(in: db), at: applied.count,
      Int64(duration / .microseconds(1)), in: db)
  }

  private func add(
    name: String, _ checksum: String?, at index: Int, _ microseconds: Int64?, in db: Database
  ) throws {
    let now = try DateFormat.iso8601.databaseValue(of: Date())
    try db.executeUpdate(
      """
      INSERT INTO \(table) VALUES (\(index + 1), \(name), \(checksum), \(now),
        \(microseconds))
      """)
  }

  /// What there is of the bookkeeping's table: its own statement, and those of triggers and indexes
  /// that somebody may have put on it.
  static func objects(in db: Database) throws -> [SchemaEntry] {
    try db.schema(ofTable: "larder_migration")
  }

  /// Removes a migration.
  func remove(_ migration: Migration, in db: Database) throws {
    try db.executeUpdate("DELETE FROM \(table) WHERE name = \(migration.name)")
  }

  /// Whether nothing is left to do once it matches the list.
  func isComplete(for migrations: [Migration]) -> Bool {
    applied.count == migrations.count && (isRecorded || applied.isEmpty)
  }

  /// Throws unless the applied migrations are the first of the list.
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
