import LarderSQLite

// A migration of backfills: a transaction for each batch, and one that records the migration.

/// The table that keeps where the batches of a migration have come to, until the migration is recorded.
struct BackfillPositions {
  private let db: Database
  private let migration: String
  private var name: SQL {
    SQL(raw: (db.engine == nil ? "main." : "") + BookkeepingTables.backfills)
  }

  init(_ migration: Migration, in db: Database) { (self.migration, self.db) = (migration.name, db) }

  /// Fills the next batch of a step, in a transaction. Returns false once there is none.
  func next(_ backfill: Backfill, _ step: Int) throws -> Bool {
    try db.executeUpdate(
      """
      CREATE TABLE IF NOT EXISTS \(name) (migration TEXT NOT NULL, step INTEGER NOT NULL,
        position TEXT, PRIMARY KEY (migration, step))
      """)
    let known = try db.executeQuery(
      "SELECT position FROM \(name) WHERE migration = \(migration) AND step = \(step)"
    ).map { try $0.get(at: 0, as: String?.self) }.first
    // A position that is NULL is behind the last row.
    if case .some(.none) = known { return false }
    let last = try backfill.fill(db, known ?? nil)
    try db.executeUpdate(
      """
      INSERT INTO \(name) (migration, step, position) VALUES (\(migration), \(step), \(last))
      ON CONFLICT (migration, step) DO UPDATE SET position = excluded.position
      """)
    return last != nil
  }

  func remove() throws { try db.executeUpdate(("DROP TABLE IF EXISTS \(name)" as SQL).uncached) }
}

extension Migrator {
  /// Runs a migration of backfills, unless another process has recorded it meanwhile. Nil in that case.
  func changeInBatches(
    _ migration: Migration, appliedBefore expected: Int, _ db: Database, _ begin: () -> Void
  ) throws -> (duration: Duration, written: MigrationHistory?)? {
    try checkIsOutsideOfTransaction(db)
    let searchPath = try MigrationHistory(db).searchPath
    // Also after an error: a statement that is cancelled may have got the lock.
    defer { try? db.engine?.endMigration(restoring: searchPath, inTransaction: false) }
    try db.engine?.waitForMigration(inTransaction: false)
    guard try checkedHistory(db).applied.count == expected else { return nil }
    begin()
    let start = ContinuousClock.now
    let positions = BackfillPositions(migration, in: db)
    /// A transaction, in which no other process has recorded the migration. SQLite has no lock for all of them.
    func inTransaction<T>(_ body: (inout MigrationHistory) throws -> T) throws -> T? {
      try db.inTransaction { db in
        var history = try checkedHistory(db)
        return history.applied.count == expected ? try body(&history) : nil
      }
    }
    do {
      for (step, backfill) in migration.backfills.enumerated() {
        while case let isRest = try inTransaction({ _ in try positions.next(backfill, step) }),
          isRest != false
        { guard isRest != nil else { return nil } }
      }
      return try inTransaction { history in
        try history.record(in: db)
        try positions.remove()
        let duration = ContinuousClock.now - start
        return (duration, try history.add(migration, duration: duration, in: db))
      }
    } catch {
      var known = error as? DatabaseError
      known?.leavesChanges = true
      throw MigrationError.failed(migration: migration.name, error: known ?? error)
    }
  }
}
