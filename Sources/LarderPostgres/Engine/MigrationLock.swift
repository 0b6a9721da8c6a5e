import Larder
import LarderSQLite

// The lock by which only one process at a time migrates a schema.

extension PostgresEngine {
  /// Each statement has to see what was committed before it: a snapshot would be older than the lock.
  private static let beginning = "BEGIN ISOLATION LEVEL READ COMMITTED"

  /// Takes the lock with the transaction's first statement, which fails if another process has the lock: by a
  /// division by zero.
  func beginMigration() throws {
    _ = connection.discardDeferredBegin()
    connection.deferred = [
      Self.beginning,
      "SELECT 1 / CASE WHEN pg_try_advisory_xact_lock(\(Self.migrationKey)) THEN 1 ELSE 0 END",
    ]
  }

  /// Waits for the lock outside of a transaction. CREATE INDEX CONCURRENTLY waits for all transactions that
  /// have begun before it, and so would wait for those that wait for it.
  func waitForMigration(inTransaction: Bool) throws {
    // Each round trip has a deadline of its own.
    try perform {
      if !connection.discardDeferredBegin(), hasTransaction { try connection.run("ROLLBACK") }
      let start = ContinuousClock.now
      while true {
        connection.deadline = soon.inNanoseconds
        if inTransaction { connection.deferred = [Self.beginning] }
        let (isLocked, timeout) = try takeMigrationLock(
          "pg_try_advisory\(inTransaction ? "_xact" : "")_lock")
        if isLocked { return }
        if inTransaction { try connection.run("ROLLBACK") }
        guard timeout == 0 || ContinuousClock.now - start < .milliseconds(timeout) else {
          throw PostgresFailure(
            "55P03", "another process has been migrating for longer than lock_timeout")
        }
        try connection.run("SELECT pg_sleep(0.05)")
      }
    }
  }

  private static let migrationKey =
    "hashtext('larder_migration'), hashtext(coalesce(current_schema(), ''))"

  /// Tries to take the lock. Returns whether it was free, and the server's `lock_timeout` in milliseconds.
  private func takeMigrationLock(_ function: String) throws -> (Bool, Int64) {
    let row = try connection.run(all: [
      """
      SELECT \(function)(\(Self.migrationKey))::integer::bigint,
        (SELECT setting::bigint FROM pg_settings WHERE name = 'lock_timeout')
      """
    ])
    return (row?.first == 1, row?.last ?? 0)
  }

  func endMigration(restoring searchPath: String, inTransaction: Bool) throws {
    let restoring = "SELECT set_config('search_path', \(searchPath.quotedText), false)"
    try perform(until: soon) {
      if inTransaction { return try putOff(restoring) }
      try connection.run(restoring)
      try connection.run("SELECT pg_advisory_unlock(\(Self.migrationKey))")
    }
  }
}
