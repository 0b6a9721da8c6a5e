import LarderSQLite

// Dry runs of migrations: on a copy, or on another engine in a transaction that is rolled back.

extension Migrator {
  /// Applies the pending migrations to a copy of the database, and reports what they did.
  ///
  /// ```swift
  /// print(try migrator.dryRun(queue))
  /// ```
  ///
  /// The database itself stays unchanged. With a write-ahead log, others can write meanwhile; without one,
  /// they wait while it is copied. The copy is a temporary file that is deleted after the call. It is opened
  /// like the original, with ``LarderSQLite/Configuration/prepareDatabase``, and databases that this attaches
  /// are copied as well. Others can't be attached: a migration that does so is reported as failing.
  ///
  /// Another engine than SQLite runs the migrations in one transaction, which is rolled back; their locks are
  /// held until then. Migrations that can't run in a transaction are listed, but not run.
  ///
  /// Throws if the database is refused or can't be copied. A failing migration is reported, not thrown.
  public func dryRun(_ access: some DatabaseAccess) throws -> Migrator.Report {
    let recorder = MigrationRecorder()
    // The migrations run after the scope has ended, so that others don't wait for them.
    let copy = try access.read { db in
      db.engine == nil ? try db.temporaryCopy { recorder.add($0) } : nil
    }
    if let copy { return try dryRun(on: copy, recorder) }
    return try access.inDatabase { try rehearsal($0, recorder) }
  }

  /// Applies the pending migrations to a copy of one connection's database, and reports what they did. Throws
  /// what `dryRun` of a queue or pool does.
  public func dryRun(_ db: Database) throws -> Migrator.Report {
    let recorder = MigrationRecorder()
    if db.engine != nil { return try rehearsal(db, recorder) }
    return try dryRun(on: db.temporaryCopy { recorder.add($0) }, recorder)
  }

  /// Runs the pending migrations in a transaction that is rolled back.
  private func rehearsal(_ db: Database, _ recorder: MigrationRecorder) throws -> Migrator.Report {
    var failure: (any Error)?
    try db.inTransaction { db in
      try db.engine?.waitForMigration(inTransaction: true)
      let history = try checkedHistory(db)
      let pending = migrations[history.applied.count...]
      db.tracing({ recorder.add($0) }) {
        for migration in pending where failure == nil {
          do {
            try recorder.record(migration, db) {
              guard migration.isTransactional else { return }
              try db.inSavepoint { db in
                try migration.up(db)
                try db.engine?.endMigration(restoring: history.searchPath, inTransaction: true)
              }
            }
          } catch {
            failure = MigrationError.failed(migration: migration.name, error: error)
          }
        }
      }
      db.setRollbackOnly()
    }
    return Migrator.Report(migrations: recorder.finished, error: failure)
  }

  private func dryRun(
    on copy: DatabaseCopy, _ recorder: MigrationRecorder
  ) throws -> Migrator.Report {
    let db = copy.db
    _ = try pending(db)
    let observed = migrations.map { migration in
      var observed = migration
      // In a copy, all batches can be one transaction.
      observed.backfills = []
      observed.up = { db in try recorder.record(migration, db) { try migration.up(db) } }
      return observed
    }
    var failure: (any Error)?
    do {
      try Migrator(observed).migrate(db) { recorder.finish($0.duration) }
    } catch {
      failure = error
    }
    return Migrator.Report(
      migrations: recorder.finished, error: failure, integrityProblems: try db.integrityProblems(),
      foreignKeyViolations: try ForeignKeyCheck().newViolations(in: db))
  }
}

extension Migrator {
  /// The results of migrations that were run on a copy of a database; see `Migrator.dryRun`.
  public struct Report: Sendable {
    /// The results of one migration.
    public struct Migration: Sendable {
      /// The migration's name.
      public let name: String
      /// The statements that it ran, in the order of their first runs. Repeated statements are counted.
      public internal(set) var statements: [Statement] = []
      /// The number of rows that it inserted, changed or deleted, including changes by triggers.
      public internal(set) var changes = 0
      /// The time that it took, including the check of foreign keys.
      public internal(set) var duration: Duration = .zero
    }

    /// A statement, and how often it ran.
    public struct Statement: Sendable {
      /// The statement's text, with placeholders for arguments unless
      /// ``LarderSQLite/Configuration/showsArguments`` is on.
      public let sql: String
      /// The number of runs.
      public internal(set) var count: Int
      /// The time spent in SQLite, over all runs.
      public internal(set) var duration: Duration
    }

    /// The migrations that ran, in order. If there is an error, the last one failed.
    public let migrations: [Migration]
    /// The reason why the last one failed, usually a ``MigrationError``; nil if none failed.
    public let error: (any Error)?
    /// The problems of the file afterwards, in SQLite's words; empty if there are none.
    public internal(set) var integrityProblems: [String] = []
    /// The rows that afterwards refer to missing rows, up to a hundred.
    public internal(set) var foreignKeyViolations: [ForeignKeyViolation] = []

    /// Whether all migrations ran and the database has no problems afterwards.
    public var isSuccess: Bool {
      error == nil && integrityProblems.isEmpty && foreignKeyViolations.isEmpty
    }
  }
}

extension Migrator.Report: CustomStringConvertible {
  /// Some lines for each migration, then the problems.
  public var description: String {
    var lines = migrations.flatMap { migration in
      ["“\(migration.name)”: \(migration.changes) rows changed in \(migration.duration)"]
        + migration.statements.map { "  \($0.count) × \($0.sql)" }
    }
    if migrations.isEmpty { lines.append("nothing to migrate") }
    if let error { lines.append("error: \(error)") }
    lines += integrityProblems.map { "integrity: \($0)" }
    lines += foreignKeyViolations.map { "foreign key: \($0)" }
    return lines.joined(separator: "\n")
  }
}

extension Database {
  /// The problems that [a check](https://www.sqlite.org/pragma.html#pragma_integrity_check) finds, up to 100.
  func integrityProblems() throws -> [String] {
    let lines: [String] = try executeQuery("PRAGMA integrity_check(100)").map { try $0.get(at: 0) }
    return lines == ["ok"] ? [] : lines
  }
}

/// Records what the statements of migrations do. It has a lock, since traces may come from any thread.
private final class MigrationRecorder: Sendable {
  private let state = Lock(State())

  private struct State {
    var finished: [Migrator.Report.Migration] = []
    /// Whether a migration is running; statements around migrations aren't recorded.
    var isRunning = false
    /// The index of each statement in the migration's list.
    var places: [String: Int] = [:]
  }

  var finished: [Migrator.Report.Migration] { state.withLock { $0.finished } }

  /// Records a migration while a closure runs it.
  func record(_ migration: Migration, _ db: Database, _ body: () throws -> Void) rethrows {
    let (start, changes) = (ContinuousClock.now, db.totalChanges)
    state.withLock { state in
      state.finished.append(Migrator.Report.Migration(name: migration.name))
      state.isRunning = true
      state.places = [:]
    }
    defer {
      state.withLock { state in
        state.isRunning = false
        state.finished[state.finished.count - 1].changes = db.totalChanges - changes
        state.finished[state.finished.count - 1].duration = .now - start
      }
    }
    try body()
  }

  func add(_ event: TraceEvent) {
    state.withLock { state in
      guard state.isRunning, let last = state.finished.indices.last else { return }
      let sql = event.expandedSQL ?? event.sql
      let place = state.places[sql] ?? state.finished[last].statements.count
      if state.places.updateValue(place, forKey: sql) == nil {
        state.finished[last].statements.append(
          Migrator.Report.Statement(sql: sql, count: 0, duration: .zero))
      }
      state.finished[last].statements[place].count += 1
      state.finished[last].statements[place].duration += event.duration
    }
  }

  /// Replaces the last migration's time by one that includes the check of foreign keys.
  func finish(_ duration: Duration?) {
    state.withLock { state in
      guard let duration, let last = state.finished.indices.last else { return }
      state.finished[last].duration = duration
    }
  }
}
