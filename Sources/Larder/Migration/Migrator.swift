import LarderSQLite

/// Brings databases to the program's schema by a list of migrations, each of which runs once in a database.
///
/// ```swift
/// let migrator = Migrator([
///   Migration("create city", sql: "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL)"),
///   Migration("add population", sql: "ALTER TABLE city ADD COLUMN population INTEGER"),
/// ])
/// try migrator.migrate(queue)
/// ```
///
/// New migrations go to the end of the list; those that have been applied anywhere stay unchanged. Each runs
/// in one transaction together with the row that records it in the table `larder_migration`. So it is applied
/// wholly or not at all, even if the process is killed or the disk is full. If one fails, those before it
/// stay applied. Processes that start at the same time wait for one another (up to the busy timeout;
/// PostgreSQL's `lock_timeout`), and each migration is run by one of them.
///
/// A database that doesn't match the list is refused with a ``MigrationError`` that says why: a newer program
/// has migrated it, or an applied migration was changed, removed or moved. Databases whose schema was tracked
/// by `user_version` are taken over with ``Migration/replacing(userVersion:)``, others with
/// `migrate(_:adopting:schemas:accepting:progress:)`.
public struct Migrator: Sendable {
  /// The migrations in order.
  public let migrations: [Migration]
  private let problem: String?

  /// Makes a migrator of a list of migrations. If the list is invalid, for example because two migrations
  /// have the same name, all operations throw ``MigrationError/declaration(problem:)``.
  public init(_ migrations: [Migration]) {
    self.migrations = migrations
    problem = Self.problem(of: migrations)
  }

  private static func problem(of migrations: [Migration]) -> String? {
    var names: Set<[UInt8]> = []
    var version: Int32 = 0
    for migration in migrations {
      if migration.name.isEmpty { return "the name of a migration is empty" }
      if !names.insert(Array(migration.name.utf8)).inserted {
        return "two migrations are named “\(migration.name)”"
      }
      if migration.mixesBackfills {
        return """
          “\(migration.name)” has a backfill beside other steps: give it a migration of its own, since it runs \
          outside of a transaction
          """
      }
      guard let next = migration.userVersion else { continue }
      if next <= version {
        return """
          “\(migration.name)” replaces the user_version \(next), which isn't higher than \(version)
          """
      }
      version = next
    }
    return nil
  }

  /// The names of the migrations that haven't been applied, in order. Nothing is written.
  ///
  /// Throws ``MigrationError`` if `migrate` would refuse the database.
  public func pending(_ db: Database) throws -> [String] {
    try migrations[checkedHistory(db).applied.count...].map(\.name)
  }

  /// The migrations that the database has recorded, in order, whether or not it matches the list.
  ///
  /// Throws ``MigrationError/declaration(problem:)``, ``MigrationError/unknownUserVersion(_:known:)``, and
  /// ``LarderSQLite/DatabaseError`` if the database can't be read.
  public func applied(_ db: Database) throws -> [AppliedMigration] {
    try history(db).details(in: db)
  }

  // MARK: Up and down

  /// Applies the pending migrations.
  ///
  /// The scope of the queue or pool lasts until all are applied; other writers wait.
  /// ``LarderSQLite/Configuration/statementDeadline`` applies to the migrations' statements too. In tasks
  /// that shouldn't block, `try await queue.inDatabase { try migrator.migrate($0) }` does the same, and
  /// cancelling undoes the running migration.
  ///
  /// - `progress`: called twice for each migration, on the thread that runs it, with the migration's name, its
  ///   index in the list, and the number of migrations in the list: before it with a `duration` of nil, and
  ///   after it with the time that it took. It can't use the queue or pool.
  ///
  /// Throws ``MigrationError``, and ``LarderSQLite/DatabaseError`` if no migration has begun: for example
  /// `ResultCode.busy` if another process keeps the database locked for longer than the busy timeout.
  public func migrate(
    _ access: some DatabaseAccess,
    progress: (((name: String, index: Int, count: Int, duration: Duration?)) -> Void)? = nil
  ) throws { try access.inDatabase { try migrate($0, progress: progress) } }

  /// Applies the pending migrations on a connection outside a transaction. Throws what the other form does.
  public func migrate(
    _ db: Database,
    progress: (((name: String, index: Int, count: Int, duration: Duration?)) -> Void)? = nil
  ) throws {
    // The commits of the migrations may need the engine's own tables.
    try db.engine?.makeBookkeeping()
    // The pending migrations are read anew each time: another process may be migrating too.
    var known: MigrationHistory?
    while case let history = try known ?? checkedHistory(db), !history.isComplete(for: migrations) {
      let next = history.applied.count
      if next < migrations.count {
        known = try advisingToAdopt(db, history) { try apply(next, db, history, progress) }
      } else {
        known = nil
        try recordVersion(db)
      }
    }
  }

  /// Undoes the migrations after a given one, the last first, each in a transaction of its own.
  ///
  /// This is for development, and for deliberate downgrades: data that only the newer schema has room for may
  /// be lost, depending on the migrations' `down`. Nothing else ever migrates down.
  ///
  /// - `name`: the last migration to keep; nil to keep none.
  ///
  /// Throws what `migrate` does, ``MigrationError/notApplied(migration:)``, and,
  /// before anything is undone, ``MigrationError/irreversible(migration:)``.
  public func migrate(_ access: some DatabaseAccess, downTo name: String?) throws {
    try access.inDatabase { try migrate($0, downTo: name) }
  }

  /// Undoes migrations on a connection outside a transaction. Throws what the other form does.
  public func migrate(_ db: Database, downTo name: String?) throws {
    // The applied migrations are read anew each time: another process may be migrating too, down or up.
    while let index = try lastToUndo(db, after: name) { try undo(index, db) }
  }

  /// The migration to undo next; nil if the last one to keep is the last one applied.
  private func lastToUndo(_ db: Database, after name: String?) throws -> Int? {
    let applied = try migrations[..<checkedHistory(db).applied.count]
    var kept = 0
    if let name {
      guard let index = applied.firstIndex(where: { $0.name.isSame(as: name) }) else {
        throw MigrationError.notApplied(migration: name)
      }
      kept = index + 1
    }
    if let fixed = applied[kept...].last(where: { $0.down == nil }) {
      throw MigrationError.irreversible(migration: fixed.name)
    }
    return applied.count > kept ? applied.count - 1 : nil
  }

  // MARK: Comparison with the list

  private func history(_ db: Database) throws -> MigrationHistory {
    if let problem { throw MigrationError.declaration(problem: problem) }
    var history = try MigrationHistory(db)
    let known = migrations.compactMap(\.userVersion)
    guard db.engine == nil, !history.isRecorded, !known.isEmpty,
      case let version = try db.userVersion, version != 0
    else { return history }
    guard let last = migrations.firstIndex(where: { $0.userVersion == version }) else {
      throw MigrationError.unknownUserVersion(version, known: known)
    }
    history.adopt(migrations[...last], in: db)
    return history
  }

  /// The history of a database, checked against the list: its applied migrations are the list's first ones.
  func checkedHistory(_ db: Database) throws -> MigrationHistory {
    let history = try history(db)
    try history.check(against: migrations, in: db)
    return history
  }
}
