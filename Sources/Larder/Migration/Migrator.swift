import LarderSQLite

/// Brings databases to the schema of the program: an ordered list of migrations, each of which runs
/// once in the life of a database.
///
/// ```swift
/// let migrator = Migrator([
///   Migration("create city", sql: "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL)"),
///   Migration("add population", sql: "ALTER TABLE city ADD COLUMN population INTEGER"),
/// ])
/// try migrator.migrate(queue)
/// ```
///
/// New migrations go to the end of the list; those that have been applied somewhere stay as they
/// are. Each runs in a transaction together with the row that remembers it in the table
/// `larder_migration`: it is applied wholly or not at all, also when the process is killed or the
/// disk is full. When one fails, those before it stay applied. Processes that start together wait
/// for one another (as long as the busy timeout; PostgreSQL's `lock_timeout`), and each migration is run by
/// one of them.
///
/// A database that doesn't match the list is refused with a ``MigrationError`` that says why: one
/// that a newer program has migrated, or an applied migration that was changed, removed or moved.
/// Databases whose schema went by `user_version` are taken over with
/// ``Migration/replacing(userVersion:)``.
public struct Migrator: Sendable {
  /// The migrations in order.
  public let migrations: [Migration]
  /// What is wrong with the list, if anything.
  private let problem: String?

  /// A list of migrations. One that doesn't hold together, such as one with two migrations of the
  /// same name, makes all operations throw ``MigrationError/declaration(problem:)``.
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
  /// Throws ``MigrationError`` where `migrate` would refuse the database.
  public func pending(_ db: Database) throws -> [String] {
    try migrations[checkedHistory(db).applied.count...].map(\.name)
  }

  /// What the database says was applied to it, in order, whether it matches the list or not.
  /// Nothing is written.
  ///
  /// Throws ``MigrationError/declaration(problem:)``, ``MigrationError/unknownUserVersion(_:known:)``,
  /// and ``LarderSQLite/DatabaseError`` where the database can't be read.
  public func applied(_ db: Database) throws -> [AppliedMigration] {
    try history(db).details(in: db)
  }

  // MARK: Up and down

  /// Applies the migrations that haven't been.
  ///
  /// The scope of the queue or pool lasts until all are applied; others that want to write wait.
  /// ``LarderSQLite/Configuration/statementDeadline`` holds for what they run too. Where tasks
  /// shouldn't block, `try await queue.inDatabase { try migrator.migrate($0) }` does the same, and
  /// cancelling undoes the migration that runs.
  ///
  /// - `progress`: called before and after each migration, on the thread that runs it, with the
  ///   migration's name, its place in the list from 0, the number of migrations in the list, and how long
  ///   it took; nil while it begins. It can't use the queue or pool.
  ///
  /// Throws ``MigrationError``, and ``LarderSQLite/DatabaseError`` where none has begun, such as
  /// `ResultCode.busy` if another process keeps the database locked for longer than
  /// the busy timeout.
  public func migrate(
    _ access: some DatabaseAccess,
    progress: (((name: String, index: Int, count: Int, duration: Duration?)) -> Void)? = nil
  ) throws {
    try access.inDatabase { try migrate($0, progress: progress) }
  }

  /// The same on one connection, outside of a transaction.
  public func migrate(
    _ db: Database,
    progress: (((name: String, index: Int, count: Int, duration: Duration?)) -> Void)? = nil
  ) throws {
    // What the engine keeps for itself the migrations' own commits may need.
    try db.engine?.makeBookkeeping()
    // What is to be done is read anew each time: another process may be doing it too.
    var known: MigrationHistory?
    while case let history = try known ?? checkedHistory(db), !history.isComplete(for: migrations) {
      let next = history.applied.count
      if next < migrations.count {
        known = try apply(next, db, history, progress)
      } else {
        known = nil
        try adopt(db)
      }
    }
  }

  /// Undoes the migrations that come after one, the last first, each in a transaction of its own.
  ///
  /// This is for development, and for going back on purpose: data that the newer schema has room
  /// for may be lost, as the migrations' `down` says. Nothing else ever migrates down.
  ///
  /// - `name`: the last migration that stays; nil for none.
  ///
  /// Throws what `migrate` does, ``MigrationError/notApplied(migration:)``, and,
  /// before anything is undone, ``MigrationError/irreversible(migration:)``.
  public func migrateDown(_ access: some DatabaseAccess, to name: String?) throws {
    try access.inDatabase { try migrateDown($0, to: name) }
  }

  /// The same on one connection, outside of a transaction.
  public func migrateDown(_ db: Database, to name: String?) throws {
    // What is applied is read anew each time: another process may be migrating too, down or up.
    while let index = try lastToUndo(db, after: name) { try undo(index, db) }
  }

  /// The migration that is to be undone next; nil where the last that stays is the last.
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

  // MARK: Against the list

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
    history.adopt(migrations[...last])
    return history
  }

  /// The history of a database that matches the list: its first migrations, as many as are applied.
  func checkedHistory(_ db: Database) throws -> MigrationHistory {
    let history = try history(db)
    try history.check(against: migrations, in: db)
    return history
  }
}
