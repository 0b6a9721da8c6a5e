import LarderSQLite

// One migration in one transaction, with the row that records it.

extension Migrator {
  /// Applies the migration with this index, unless another process already has.
  ///
  /// - Parameter known: the history as it was last read.
  func apply(
    _ index: Int, _ db: Database, _ known: MigrationHistory,
    _ progress: (((name: String, index: Int, count: Int, duration: Duration?)) -> Void)?
  ) throws -> MigrationHistory? {
    let migration = migrations[index]
    func report(_ duration: Duration?) {
      progress?((migration.name, index, migrations.count, duration))
    }
    func run(_ db: Database) throws {
      report(nil)
      try migration.up(db)
    }
    let change =
      if !migration.backfills.isEmpty {
        try changeInBatches(migration, appliedBefore: index, db) { report(nil) }
      } else if let engine = db.engine, !migration.isTransactional {
        try change(outsideOfTransaction: engine, migration, appliedBefore: index, db, run)
      } else {
        try change(migration, appliedBefore: index, after: index + 1, db, known, run) {
          try $0.add(migration, duration: $1, in: db)
        }
      }
    guard let change else { return nil }
    report(change.duration)
    return change.written
  }

  /// Undoes the migration with this index, the last one applied, unless another process already has.
  func undo(_ index: Int, _ db: Database) throws {
    let migration = migrations[index]
    guard let down = migration.down else {
      throw MigrationError.irreversible(migration: migration.name)
    }
    try change(migration, appliedBefore: index + 1, after: index, db, nil, down) { history, _ in
      try history.remove(migration, in: db)
      return nil
    }
  }

  /// Records the migrations that the `user_version` stands for.
  func recordVersion(_ db: Database) throws {
    try checkIsOutsideOfTransaction(db)
    try db.inTransaction { db in
      var history = try checkedHistory(db)
      try history.record(in: db)
    }
  }

  func checkIsOutsideOfTransaction(_ db: Database) throws {
    guard !db.isInTransaction else {
      throw DatabaseError(
        .misuse, "each migration is a transaction of its own: call migrate outside of a transaction"
      )
    }
  }

  /// The history, read in a transaction while no other process can migrate.
  private func lockedHistory(_ db: Database, _ known: MigrationHistory?) throws -> MigrationHistory
  {
    guard let engine = db.engine else { return try checkedHistory(db) }
    func history() throws -> MigrationHistory {
      let history = try known?.reread(in: db) ?? MigrationHistory(db)
      try history.check(against: migrations, in: db)
      return history
    }
    do {
      // Other engines allow several writers at a time, so this takes the lock for migrations.
      try engine.beginMigration()
      return try history()
    } catch let error as DatabaseError where error.sqlState == "22012" {
      try engine.waitForMigration(inTransaction: true)
      return try history()
    }
  }

  /// The time that a migration took, and the history afterwards if it was read in the same round trip.
  typealias Change = (duration: Duration, written: MigrationHistory?)

  /// Runs a migration in a transaction, with its check of foreign keys and its row in the history. Nil if the
  /// number of applied migrations isn't the expected one. All errors get the migration's name.
  @discardableResult
  private func change(
    _ migration: Migration, appliedBefore expected: Int, after: Int, _ db: Database,
    _ known: MigrationHistory?, _ body: (Database) throws -> Void,
    record: (MigrationHistory, Duration) throws -> MigrationHistory?
  ) throws -> Change? {
    try checkIsOutsideOfTransaction(db)
    let isUnenforced = !migration.foreignKeys && db.enforcesForeignKeys
    var hasBegun = false
    func inTransaction() throws -> Change? {
      try db.inTransaction(.immediate) { db in
        // Other engines allow several writers at a time, so the history is read under a lock.
        var history = try lockedHistory(db, known)
        guard history.applied.count == expected else { return nil }
        // Violations from before aren't this migration's fault.
        let violations = isUnenforced ? try ForeignKeyCheck(db) : ForeignKeyCheck()
        hasBegun = true
        try history.record(in: db)
        let objects = db.engine == nil ? try MigrationHistory.objects(in: db) : []
        let start = ContinuousClock.now
        try body(db)
        try db.engine?.endMigration(restoring: history.searchPath, inTransaction: true)
        if isUnenforced {
          let new = try violations.newViolations(in: db)
          guard new.isEmpty else {
            throw MigrationError.foreignKeys(migration: migration.name, violations: new)
          }
        }
        let duration = ContinuousClock.now - start
        let written = try record(history, duration)
        try checkBookkeeping(db, objects, history, written, appliedAfter: after)
        guard !db.isRollbackOnly else {
          throw DatabaseError(
            .misuse, "setRollbackOnly can't be used in a migration: throw an error to undo it")
        }
        return (duration, written)
      }
    }
    do {
      return try db.detachingAfterwards {
        try isUnenforced ? db.withoutForeignKeys(inTransaction) : inTransaction()
      }
    } catch  where hasBegun && !(error is MigrationError) {
      throw MigrationError.failed(migration: migration.name, error: error)
    }
  }

  /// The variant for statements that can't run in a transaction. The migration is recorded in a transaction
  /// of its own after the last statement.
  private func change(
    outsideOfTransaction engine: any EngineConnection, _ migration: Migration,
    appliedBefore expected: Int, _ db: Database, _ body: (Database) throws -> Void
  ) throws -> Change? {
    try checkIsOutsideOfTransaction(db)
    let searchPath = try MigrationHistory(db).searchPath
    // Also after an error: a statement that is cancelled may have got the lock.
    defer { try? engine.endMigration(restoring: searchPath, inTransaction: false) }
    try engine.waitForMigration(inTransaction: false)
    var history = try checkedHistory(db)
    guard history.applied.count == expected else { return nil }
    let start = ContinuousClock.now
    do {
      try body(db)
      let duration = ContinuousClock.now - start
      return try db.inTransaction { db in
        try history.record(in: db)
        return (duration, try history.add(migration, duration: duration, in: db))
      }
    } catch {
      var known = error as? DatabaseError
      known?.leavesChanges = true
      throw MigrationError.failed(migration: migration.name, error: known ?? error)
    }
  }

  /// Throws if the migration has changed its history's table, or put a trigger on it. Otherwise it might be
  /// committed without being recorded, or later ones couldn't be recorded.
  private func checkBookkeeping(
    _ db: Database, _ objects: [SchemaEntry], _ history: MigrationHistory,
    _ written: MigrationHistory?, appliedAfter count: Int
  ) throws {
    let written = try written ?? history.reread(in: db)
    guard written.applied.count == count,
      db.engine == nil
        ? try MigrationHistory.objects(in: db) == objects : written.objects == history.objects,
      zip(written.applied, migrations).allSatisfy({
        $0.name.isSame(as: $1.name) && $1.hasChecksum($0.checksum, in: db)
      })
    else { throw DatabaseError(.misuse, "a migration can't change the table larder_migration") }
  }
}
