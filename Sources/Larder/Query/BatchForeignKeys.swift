import LarderSQLite

/// The foreign keys of a batch in whose table rows may refer to one another, in any order.
///
/// SQLite checks them at the end of each statement: a row may refer to one that comes later in the
/// same statement, but not in the next one. So that it doesn't depend on how the records are parted,
/// they are [deferred](https://www.sqlite.org/foreignkeys.html#fk_deferred) from the first that fails
/// to the end of the batch, and checked then.
final class BatchForeignKeys {
  private let table: String
  private let db: Database
  /// The error that would have been thrown at once.
  private var error: (any Error)?
  /// The positions of the records that were inserted since, by their row ids.
  private var positions: [Int64: Int] = [:]
  /// How many rows refer to none, and are in tables without row ids, when it began.
  private var violationsBefore = 0
  /// Whether all keys were deferred before; nil as long as they are as they were.
  private var wasDeferred: Bool?

  /// Runs a batch in a transaction or savepoint, and checks the keys at its end.
  static func inTransaction<T>(
    _ table: String, _ db: Database, _ body: (BatchForeignKeys, Database) throws -> T
  ) throws -> T {
    let keys = BatchForeignKeys(table, db)
    // Before the commit, which would check them without telling the record, and after a rollback.
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

  /// Whether records are inserted one by one, and told.
  var areDeferred: Bool { error != nil }

  /// Whether a row of the table may refer to another that isn't there yet.
  private var referToOwnTable: Bool {
    get throws {
      guard db.enforcesForeignKeys else { return false }
      return try db.value(
        """
        SELECT EXISTS (SELECT 1 FROM pragma_foreign_key_list(?1) WHERE "table" = ?1 COLLATE NOCASE)
        """, table, as: Bool.self) ?? false
    }
  }

  /// Defers the keys where an error says that a row refers to none, and may refer to a later one.
  /// Returns whether it does: the records are to be inserted once more.
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

  /// Runs a closure while rows may refer to none, to the end of the batch, which fails.
  func whileDeferred<T>(_ body: () throws -> T) throws -> T {
    if try db.engine == nil && !areDeferred && db.isInTransaction && referToOwnTable {
      wasDeferred = try setDeferred(true)
    }
    return try body()
  }

  /// Remembers where the record stands that was inserted last.
  func add(at position: Int) { positions[db.lastInsertRowID] = position }

  /// Throws where a row refers to none now.
  private func check() throws {
    guard let error else { return }
    let violations = try violations()
    if let first = violations.compactMap({ $0.flatMap { positions[$0] } }).min() {
      throw RecordError.batch(table: table, index: first, error: error)
    }
    if violations.count(where: { $0 == nil }) > violationsBefore { throw error }
  }

  /// Puts back whether keys are deferred. A statement that was compiled while they were checks them
  /// too late ever after: one that fails would leave its row there. Setting the PRAGMA, other than
  /// the end of a transaction, has all statements compiled anew.
  private func end() {
    guard let wasDeferred else { return }
    do {
      _ = try setDeferred(wasDeferred && db.isInTransaction)
    } catch {
      db.clearStatementCache()
    }
  }

  /// The row ids of the table's rows that refer to none.
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
