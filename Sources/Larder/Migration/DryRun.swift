import LarderSQLite

// Dry runs: migrations on a copy of the database; on another engine in a transaction that is undone.

extension Migrator {
  /// Applies the pending migrations to a copy of the database, and reports what they did.
  ///
  /// ```swift
  /// let report = try migrator.dryRun(queue)
  /// print(report)
  /// ```
  ///
  /// The database itself stays as it is. Others can write meanwhile where it has a write-ahead log;
  /// without one they wait while it is copied. The copy is a temporary file that goes away with the
  /// call, and is opened like the original: ``LarderSQLite/Configuration/prepareDatabase`` is
  /// called for it too. Databases that this attaches are copied as well; others can't be attached to
  /// the copy, so that a migration that does it is reported as failing.
  ///
  /// Another engine than SQLite runs them in one transaction, which is rolled back: whatever they lock is
  /// locked until then. Those that can't be in a transaction are named, and not run.
  ///
  /// Throws where the database is refused or can't be copied. A migration that fails is reported.
  public func dryRun(_ access: some DatabaseAccess) throws -> MigrationReport {
    let recorder = MigrationRecorder()
    // The migrations run outside of the scope, for which others may wait.
    let copy = try access.read { db in
      db.engine == nil ? try db.temporaryCopy { recorder.add($0) } : nil
    }
    if let copy { return try dryRun(on: copy, recorder) }
    return try access.inDatabase { try rehearsal($0, recorder) }
  }

  /// The same with a copy of one connection's database.
  public func dryRun(_ db: Database) throws -> MigrationReport {
    let recorder = MigrationRecorder()
    if db.engine != nil { return try rehearsal(db, recorder) }
    return try dryRun(on: db.temporaryCopy { recorder.add($0) }, recorder)
  }

  /// Runs the pending migrations in a transaction that is rolled back.
  private func rehearsal(_ db: Database, _ recorder: MigrationRecorder) throws -> MigrationReport {
    var failure: (any Error)?
    try db.inTransaction { db in
      try db.engine?.waitForMigration(inTransaction: true)
      let history = try checkedHistory(db)
      let pending = migrations[history.applied.count...]
      db.tracing({ recorder.add($0) }) {
        for migration in pending where failure == nil {
          recorder.begin(migration.name, totalChanges: db.totalChanges)
          defer { recorder.end(totalChanges: db.totalChanges) }
          guard migration.isTransactional else { continue }
          do {
            try db.inSavepoint { db in
              try migration.up(db)
              try db.engine?.endMigration(restoring: history.searchPath, inTransaction: true)
            }
          } catch {
            failure = MigrationError.failed(migration: migration.name, error: error)
          }
        }
      }
      db.setRollbackOnly()
    }
    return MigrationReport(
      migrations: recorder.finished, error: failure, integrityProblems: [],
      foreignKeyViolations: [])
  }

  private func dryRun(
    on copy: DatabaseCopy, _ recorder: MigrationRecorder
  ) throws -> MigrationReport {
    let db = copy.db
    _ = try pending(db)
    let observed = migrations.map { migration in
      var observed = migration
      observed.up = { db in
        recorder.begin(migration.name, totalChanges: db.totalChanges)
        defer { recorder.end(totalChanges: db.totalChanges) }
        try migration.up(db)
      }
      return observed
    }
    var failure: (any Error)?
    do {
      try Migrator(observed).migrate(db) { recorder.finish($0.duration) }
    } catch {
      failure = error
    }
    return MigrationReport(
      migrations: recorder.finished, error: failure,
      integrityProblems: try db.integrityProblems(),
      foreignKeyViolations: try ForeignKeyCheck().newViolations(in: db))
  }
}

/// What migrations have done to a copy of a database; see `Migrator.dryRun`.
public struct MigrationReport: Sendable {
  /// What one migration did.
  public struct Migration: Sendable {
    /// Its name.
    public let name: String
    /// What it ran, in the order of the first times. A statement that ran again is counted.
    public internal(set) var statements: [Statement] = []
    /// How many rows it inserted, changed or deleted, by triggers too.
    public internal(set) var changes = 0
    /// How long it took, with the check of foreign keys.
    public internal(set) var duration: Duration = .zero
  }

  /// A statement, and how often it ran.
  public struct Statement: Sendable {
    /// Its text, with placeholders for arguments unless
    /// ``LarderSQLite/Configuration/showsArguments`` is on.
    public let sql: String
    /// How often it ran.
    public internal(set) var count: Int
    /// The time spent in SQLite, of all runs.
    public internal(set) var duration: Duration
  }

  /// The migrations that ran, in order. The last one failed if there is an error.
  public let migrations: [Migration]
  /// Why the last one failed, usually a ``MigrationError``; nil if all is well.
  public let error: (any Error)?
  /// What is wrong with the file afterwards, in SQLite's words; empty if nothing is.
  public let integrityProblems: [String]
  /// Rows that afterwards refer to rows that aren't there, up to a hundred.
  public let foreignKeyViolations: [ForeignKeyViolation]

  /// Whether all migrations ran and nothing is wrong afterwards.
  public var isSuccess: Bool {
    error == nil && integrityProblems.isEmpty && foreignKeyViolations.isEmpty
  }
}

extension MigrationReport: CustomStringConvertible {
  /// Some lines for each migration, and what is wrong.
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
  /// What SQLite's [check](https://www.sqlite.org/pragma.html#pragma_integrity_check) of the whole
  /// file finds, up to a hundred lines.
  func integrityProblems() throws -> [String] {
    let lines = try executeQuery("PRAGMA integrity_check(100)").map {
      try $0.get(at: 0, as: String.self)
    }
    return lines == ["ok"] ? [] : lines
  }
}

/// Gathers what the statements of migrations do, under a lock since traces may come from anywhere.
private final class MigrationRecorder: Sendable {
  private let state = Lock(State())

  private struct State {
    var finished: [MigrationReport.Migration] = []
    /// Whether a migration runs, rather than what is around it.
    var isRunning = false
    var start = ContinuousClock.now
    var changesBefore = 0
    /// The place of each statement in the list.
    var places: [String: Int] = [:]
  }

  var finished: [MigrationReport.Migration] { state.withLock { $0.finished } }

  func begin(_ name: String, totalChanges: Int) {
    state.withLock { state in
      state.finished.append(MigrationReport.Migration(name: name))
      state.isRunning = true
      state.start = .now
      state.changesBefore = totalChanges
      state.places = [:]
    }
  }

  func add(_ event: TraceEvent) {
    state.withLock { state in
      guard state.isRunning, let last = state.finished.indices.last else { return }
      let sql = event.expandedSQL ?? event.sql
      if let place = state.places[sql] {
        state.finished[last].statements[place].count += 1
        state.finished[last].statements[place].duration += event.duration
      } else {
        state.places[sql] = state.finished[last].statements.count
        state.finished[last].statements.append(
          MigrationReport.Statement(sql: sql, count: 1, duration: event.duration))
      }
    }
  }

  func end(totalChanges: Int) {
    state.withLock { state in
      guard let last = state.finished.indices.last else { return }
      state.isRunning = false
      state.finished[last].changes = totalChanges - state.changesBefore
      state.finished[last].duration = .now - state.start
    }
  }

  /// The time with the check of foreign keys.
  func finish(_ duration: Duration?) {
    state.withLock { state in
      guard let duration, let last = state.finished.indices.last else { return }
      state.finished[last].duration = duration
    }
  }
}
