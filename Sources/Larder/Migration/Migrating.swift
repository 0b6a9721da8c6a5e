import LarderSQLite

extension Migrator {
  /// Applies the migrations that haven't been.
  ///
  /// The scope of the queue or pool lasts until all are applied; others that want to write wait.
  /// ``LarderSQLite/Configuration/statementDeadline`` holds for what they run too. Where tasks
  /// shouldn't block, `try await queue.inDatabase { try migrator.migrate($0) }` does the same, and
  /// cancelling undoes the migration that runs.
  ///
  /// - `progress`: called before and after each migration, on the thread that runs it. It
  ///   can't use the queue or pool.
  ///
  /// Throws ``MigrationError``, and ``LarderSQLite/DatabaseError`` where none has begun, such as
  /// ``LarderSQLite/ResultCode/busy`` if another process keeps the database locked for longer than
  /// the busy timeout.
  public func migrate(
    _ access: some DatabaseAccess, progress: ((MigrationProgress) -> Void)? = nil
  ) throws {
    try access.inDatabase { try migrate($0, progress: progress) }
  }

  /// Applies the migrations that haven't been, outside of a transaction.
  public func migrate(
    _ db: Database, progress: ((MigrationProgress) -> Void)? = nil
  ) throws {
    // What is to be done is read anew each time: another process may be doing it too.
    while let step = try nextStep(db) { try run(step, db, progress) }
  }

  /// What is to be done next; nil if nothing is.
  private func nextStep(_ db: Database) throws -> MigrationStep? {
    let history = try checkedHistory(db)
    let index = history.applied.count
    if index < migrations.count { return .apply(index) }
    return history.isRecorded || history.applied.isEmpty ? nil : .adopt
  }
}
