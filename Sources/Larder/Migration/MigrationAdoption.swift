import LarderSQLite

// Adoption of databases that another tool has made: migrations are recorded without being run.

extension Migrator {
  /// Applies the pending migrations, also to a database that another tool has made: there, the migrations up
  /// to `name` are recorded without being run.
  ///
  /// ```swift
  /// try migrator.migrate(pool, adopting: "schema of 2024") { $0.table == "audit_log" }
  /// ```
  ///
  /// A database is adopted if it has tables but no history of migrations. First, the migrations up to `name`
  /// run where nothing is lost: for SQLite on an empty database in memory; on a server in a schema that is
  /// empty for this transaction only, and rolled back. What they make is compared with the database: tables,
  /// indexes, constraints, views and triggers. A difference is an error that names it, unless it is accepted.
  /// The tables in which other tools keep their own history, such as `django_migrations`, don't count.
  ///
  /// The history is written in the same transaction as the comparison. Processes that start together wait for
  /// one another. A database with a history is only migrated, and in an empty one all migrations run: so
  /// this can be called at each start.
  ///
  /// On PostgreSQL, the empty schema has the name of the current one, so that the SQL of `pg_dump` can be the
  /// first migration. This needs a role that owns the schema and may create others. Other roles need SQL that
  /// names no schema.
  ///
  /// - `name`: the last migration that the database needn't run.
  /// - `schemas`: further schemas (namespaces) of the server that the migrations make, and that are compared.
  /// - `accepting`: whether a difference may remain. `declared` is what the migrations make, `found` is what
  ///   the database has.
  /// - `progress`: see `migrate(_:progress:)`.
  ///
  /// Throws ``MigrationError/differences(migration:_:)`` if the database isn't as the migrations make it,
  /// ``MigrationError/declaration(problem:)`` if no migration has this name, and what
  /// `migrate(_:progress:)` does.
  public func migrate(
    _ access: some DatabaseAccess, adopting name: String, schemas: [String] = [],
    accepting: ((TableDifference) throws -> Bool)? = nil,
    progress: (((name: String, index: Int, count: Int, duration: Duration?)) -> Void)? = nil
  ) throws {
    try access.inDatabase {
      try migrate(
        $0, adopting: name, schemas: schemas, accepting: accepting, progress: progress)
    }
  }

  /// The variant for a connection outside a transaction. Throws what the other form does.
  public func migrate(
    _ db: Database, adopting name: String, schemas: [String] = [],
    accepting: ((TableDifference) throws -> Bool)? = nil,
    progress: (((name: String, index: Int, count: Int, duration: Duration?)) -> Void)? = nil
  ) throws {
    try checkIsOutsideOfTransaction(db)
    try adopt(through: name, schemas, db, accepting ?? { _ in false })
    try migrate(db, progress: progress)
  }

  private func adopt(
    through name: String, _ schemas: [String], _ db: Database,
    _ accepts: (TableDifference) throws -> Bool
  ) throws {
    // An invalid list of migrations is reported before a missing name.
    guard try isAdoptable(checkedHistory(db), schemas, db) else { return }
    guard let last = migrations.firstIndex(where: { $0.name.isSame(as: name) }) else {
      throw MigrationError.declaration(problem: "it has no “\(name)”, which was to be adopted")
    }
    let adopted = migrations[...last]
    let inMemory = db.engine == nil ? try Self.schema(of: adopted, schemas, like: db) : nil
    // The rows of the comparison aren't a migration's, so `inTransaction` needs no retry here.
    try db.inTransaction(.immediate) { db in
      try db.engine?.waitForMigration(inTransaction: true)
      // Another process may have adopted the database meanwhile.
      var history = try checkedHistory(db)
      guard try isAdoptable(history, schemas, db) else { return }
      let made = try inMemory ?? Self.rehearse(adopted, schemas, db)
      let differences = try made.differences(from: Schema(db, schemas: schemas)).filter {
        difference in
        try !Self.isOtherTools(difference) && !accepts(difference)
      }
      guard differences.isEmpty else {
        throw MigrationError.differences(migration: migrations[last].name, differences)
      }
      history.adopt(adopted, in: db)
      try history.record(in: db)
    }
  }

  /// Whether a database has tables of others, but no history.
  private func isAdoptable(
    _ history: MigrationHistory, _ schemas: [String], _ db: Database
  ) throws -> Bool {
    guard !history.isRecorded, history.applied.isEmpty else { return false }
    let found = try Schema(db, schemas: schemas)
    return !Schema(tables: []).differences(from: found).allSatisfy(Self.isOtherTools)
  }

  /// Whether a table is the history of another tool, which no migration of this list makes.
  private static func isOtherTools(_ difference: TableDifference) -> Bool {
    difference.kind == .table && difference.declared == nil
      && Schema.isHistoryOfOthers(difference.table)
  }

  /// Runs a closure that applies a migration. If the first one fails on another tool's tables, the error says
  /// how they are adopted.
  func advisingToAdopt<T>(
    _ db: Database, _ history: MigrationHistory, _ body: () throws -> T
  ) throws -> T {
    do {
      return try body()
    } catch MigrationError.failed(let name, let error as DatabaseError)
      where !history.isRecorded && history.applied.isEmpty
    {
      let other = try? db.schema().first { entry in
        entry.kind == .table && Schema.isHistoryOfOthers(entry.name)
      }
      guard let other else { throw MigrationError.failed(migration: name, error: error) }
      throw MigrationError.failed(
        migration: name,
        error: error.advising(
          "the database has migrations of another program, “\(other.name)”; migrate(_:adopting:) takes it over"
        ))
    }
  }

  // MARK: What the migrations make

  /// The schema that migrations make in an empty database in memory.
  private static func schema(
    of migrations: some Sequence<Migration>, _ schemas: [String], like db: Database
  ) throws -> Schema {
    var configuration = db.configuration
    configuration.readOnly = false
    configuration.journalMode = nil
    configuration.key = nil
    configuration.log = nil
    configuration.trace = nil
    configuration.slowStatementThreshold = .zero
    let copy = try DatabaseCopy(Database(configuration: configuration))
    try Migrator(Array(migrations)).migrate(copy.db)
    var schema = try Schema(copy.db, schemas: schemas)
    schema.tables.removeAll { Schema.isBookkeeping($0.name) }
    return schema
  }

  /// The schema that migrations make in another engine's empty schema.
  private static func rehearse(
    _ migrations: some Sequence<Migration>, _ schemas: [String], _ db: Database
  ) throws -> Schema {
    guard let definitions = db.definitions else {
      throw UnsupportedByEngine(engine: db.engine?.name ?? "", feature: "adopting a database")
    }
    return try definitions.inEmptySchema(db, besides: schemas) { db in
      let path = try MigrationHistory(db).searchPath
      for migration in migrations {
        do {
          try db.inSavepoint { try migration.rehearse($0) }
          try db.engine?.endMigration(restoring: path, inTransaction: true)
        } catch let error as DatabaseError
          where !migration.isTransactional && error.sqlState == "25001"
        {
          // The statement, such as VACUUM, can't be rehearsed. What it would have made is reported.
          continue
        } catch {
          throw MigrationError.failed(migration: migration.name, error: error)
        }
      }
      return try Schema(db, schemas: schemas)
    }
  }
}

extension SQL {
  /// The same SQL for an empty schema in a transaction, in which nothing can be made concurrently.
  var notConcurrent: SQL {
    guard values.isEmpty else { return self }
    return SQL(raw: pieces.filter { !$0.isWord("concurrently") }.map(\.text).joined())
  }
}
