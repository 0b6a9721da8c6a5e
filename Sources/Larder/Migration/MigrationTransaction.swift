import LarderSQLite

// One migration in one transaction, with the row that remembers it.

extension Migrator {
  /// Applies the migration with this index, unless another process was first.
  ///
  /// - Parameter known: the history as it was read last.
  func apply(
    _ index: Int, _ db: Database, _ known: MigrationHistory,
    _ progress: (((name: String, index: Int, count: Int, duration: Duration?)) -> Void)?
  ) throws -> MigrationHistory? {
    let migration = migrations[index]
    var written: MigrationHistory?
    func report(_ duration: Duration?) {
      progress?((migration.name, index, migrations.count, duration))
    }
    func run(_ db: Database) throws {
      report(nil)
      try migration.up(db)
    }
    func record(_ history: MigrationHistory, _ duration: Duration) throws -> MigrationHistory? {
      written = try history.add(migration, duration: duration, in: db)
      return written
    }
    let duration =
      if let engine = db.engine, !migration.isTransactional {
        try change(
          outsideOfTransaction: engine, migration, appliedBefore: index, db, run, record: record)
      } else {
        try change(
          migration, appliedBefore: index, after: index + 1, db, known, run, record: record)
      }
    guard let duration else { return nil }
    report(duration)
    return written
  }

  /// Undoes the migration with this index, the last that is applied, unless another process was first.
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

  /// Writes down what another scheme has applied.
  func adopt(_ db: Database) throws {
    try checkIsOutsideOfTransaction(db)
    try db.inTransaction { db in
      var history = try checkedHistory(db)
      try history.record(in: db)
    }
  }

  private func checkIsOutsideOfTransaction(_ db: Database) throws {
    guard !db.isInTransaction else {
      throw DatabaseError(
        .misuse, "each migration is a transaction of its own: migrate outside of one")
    }
  }

  /// The history as it is in a transaction, while nobody else migrates.
  private func lockedHistory(_ db: Database, _ known: MigrationHistory?) throws -> MigrationHistory
  {
    guard let engine = db.engine else { return try checkedHistory(db) }
    func history() throws -> MigrationHistory {
      let history = try known?.reread(in: db) ?? MigrationHistory(db)
      try history.check(against: migrations, in: db)
      return history
    }
    do {
      // Other engines let several write at a time.
      try engine.beginMigration()
      return try history()
    } catch let error as DatabaseError where error.sqlState == "22012" {
      try engine.waitForMigration(inTransaction: true)
      return try history()
    }
  }

  /// Runs a migration's closure with the check and the bookkeeping that belong to it in a
  /// transaction, and returns the time that it took; nil if the number of applied migrations isn't
  /// the expected one any more. Errors, also of the commit, get the migration's name.
  @discardableResult
  private func change(
    _ migration: Migration, appliedBefore expected: Int, after: Int, _ db: Database,
    _ known: MigrationHistory?, _ body: (Database) throws -> Void,
    record: (MigrationHistory, Duration) throws -> MigrationHistory?
  ) throws -> Duration? {
    try checkIsOutsideOfTransaction(db)
    let isUnenforced = migration.foreignKeys == .checkedBeforeCommit && db.enforcesForeignKeys
    var hasBegun = false
    func inTransaction() throws -> Duration? {
      try db.inTransaction(.immediate) { db in
        // Other engines let several write at a time.
        var history = try lockedHistory(db, known)
        guard history.applied.count == expected else { return nil }
        // Those that are there already are nobody's fault.
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
            .misuse, "setRollbackOnly has no meaning in a migration, which throws to be undone")
        }
        return duration
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

  /// The same for statements that can't be in a transaction: they are remembered in one of its own after the
  /// last.
  private func change(
    outsideOfTransaction engine: any EngineConnection, _ migration: Migration,
    appliedBefore expected: Int, _ db: Database, _ body: (Database) throws -> Void,
    record: (MigrationHistory, Duration) throws -> MigrationHistory?
  ) throws -> Duration? {
    try checkIsOutsideOfTransaction(db)
    let searchPath = try MigrationHistory(db).searchPath
    try engine.waitForMigration(inTransaction: false)
    defer { try? engine.endMigration(restoring: searchPath, inTransaction: false) }
    var history = try checkedHistory(db)
    guard history.applied.count == expected else { return nil }
    let start = ContinuousClock.now
    do {
      try body(db)
      let duration = ContinuousClock.now - start
      try db.inTransaction { db in
        try history.record(in: db)
        _ = try record(history, duration)
      }
      return duration
    } catch {
      var known = error as? DatabaseError
      known?.leavesChanges = true
      throw MigrationError.failed(migration: migration.name, error: known ?? error)
    }
  }

  /// Throws where the migration has changed the bookkeeping, or left a trigger that does: it would
  /// be committed without being remembered, or later ones couldn't be.
  private func checkBookkeeping(
    _ db: Database, _ objects: [SchemaEntry], _ history: MigrationHistory,
    _ written: MigrationHistory?, appliedAfter count: Int
  ) throws {
    let written = try written ?? history.reread(in: db)
    let applied = written.applied
    guard applied.count == count,
      db.engine == nil
        ? try MigrationHistory.objects(in: db) == objects : written.objects == history.objects,
      zip(applied, migrations).allSatisfy({
        $0.name.isSame(as: $1.name) && $1.hasChecksum($0.checksum, in: db)
      })
    else {
      throw DatabaseError(.misuse, "a migration can't change the table larder_migration")
    }
  }
}
