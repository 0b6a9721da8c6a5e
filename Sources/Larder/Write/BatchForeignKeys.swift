import LarderSQLite

/// The foreign key checks of a batch whose records may refer to one another, in any order.
///
/// SQLite checks foreign keys at the end of each statement: a row may refer to one that comes later in the
/// same statement, but not in the next one. To make the result independent of how the records are split
/// into statements, the checks are [deferred](https://www.sqlite.org/foreignkeys.html#fk_deferred) from the
/// first failure to the end of the batch, and made then.
final class BatchForeignKeys {
  private let table: String
  private let db: Database
  /// The foreign key error that caused the deferral; nil without one.
  private var error: (any Error)?
  /// The positions of the records that were inserted since the deferral, by their row ids.
  private var positions: [Int64: Int] = [:]
  /// The number of violations by rows without row ids when the deferral began.
  private var violationsBefore = 0
  /// Whether foreign keys were deferred before the batch; nil while the batch hasn't changed that.
  private var wasDeferred: Bool?

  /// Runs a batch in a transaction or savepoint, and checks the keys at its end.
  static func inTransaction<T>(
    _ table: String, _ db: Database, _ body: (BatchForeignKeys, Database) throws -> T
  ) throws -> T {
    let keys = BatchForeignKeys(table, db)
    // Called before the commit, which would check the keys without naming a record, and after a rollback.
    defer { keys.end() }
    return try db.inTransaction { db in
      let result = try body(keys, db)
      try keys.check()
      keys.end()
      keys.wasDeferred = nil
      return result
    }
  }

  private init(_ table: String, _ db: Database) {
    self.table = table
    self.db = db
  }

  /// Whether checks are deferred: records are then inserted one by one and passed to ``add(at:)``.
  var areDeferred: Bool { error != nil }

  /// Whether rows of the table may refer to rows of the same table, by a foreign key that is enforced.
  private var referToOwnTable: Bool {
    get throws {
      guard db.enforcesForeignKeys else { return false }
      return try db.value(
        """
        SELECT EXISTS (SELECT 1 FROM pragma_foreign_key_list(?1) WHERE "table" = ?1 COLLATE NOCASE)
        """, table, as: Bool.self) ?? false
    }
  }

  /// Defers the checks after a foreign key error if the row may refer to a later one. Returns whether it
  /// did: the records then have to be inserted again.
  func deferKeys(after error: any Error, or policy: ConflictPolicy?) throws -> Bool {
    // REPLACE deletes rows that others refer to.
    guard db.engine == nil, !areDeferred, policy != .replace, db.isInTransaction,
      (error as? DatabaseError)?.constraint?.kind == .foreignKey, try referToOwnTable
    else { return false }
    violationsBefore = try violations().count { $0 == nil }
    wasDeferred = try setDeferred(true)
    self.error = error
    return true
  }

  /// Runs a closure with foreign keys deferred. They stay deferred to the end of the batch, which fails.
  func whileDeferred<T>(_ body: () throws -> T) throws -> T {
    if try db.engine == nil && !areDeferred && db.isInTransaction && referToOwnTable {
      wasDeferred = try setDeferred(true)
    }
    return try body()
  }

  /// Notes the position of the record that was inserted last.
  func add(at position: Int) { positions[db.lastInsertRowID] = position }

  /// Throws if a row still violates a foreign key.
  private func check() throws {
    guard let error else { return }
    let violations = try violations()
    if let first = violations.compactMap({ $0.flatMap { positions[$0] } }).min() {
      throw RecordError.batch(table: table, index: first, error: error)
    }
    if violations.count(where: { $0 == nil }) > violationsBefore { throw error }
  }

  /// Restores whether foreign keys are deferred. A statement that was compiled while they were deferred
  /// keeps checking them too late: one that fails would leave its row there. Setting the PRAGMA recompiles
  /// all statements, which the end of a transaction doesn't.
  private func end() {
    guard let wasDeferred else { return }
    do {
      _ = try setDeferred(wasDeferred && db.isInTransaction)
    } catch {
      db.clearStatementCache()
    }
  }

  /// The row ids of the table's rows that violate a foreign key; nil for a row without one.
  private func violations() throws -> [Int64?] {
    try db.executeQuery("SELECT rowid FROM pragma_foreign_key_check(?)", table).map {
      try $0.get(at: 0)
    }
  }

  private func setDeferred(_ isDeferred: Bool) throws -> Bool {
    let before = try db.value("PRAGMA defer_foreign_keys", as: Bool.self) ?? false
    try db.executeUpdate(
      isDeferred ? "PRAGMA defer_foreign_keys = ON" : "PRAGMA defer_foreign_keys = OFF")
    return before
  }
}
