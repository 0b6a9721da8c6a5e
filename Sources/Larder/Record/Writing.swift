import LarderSQLite
import Synchronization

// The common part of inserting, updating, upserting and deleting a record. `TableCore`'s part isn't generic:
// it takes the record's address, which the caller guarantees to be that of a value of the table's type.

extension TableCore {
  /// Runs a statement with a record's values, and returns the number of rows changed.
  func write(
    _ statement: RecordStatement, _ record: UnsafeRawPointer, _ db: Database, for use: TableUse
  ) throws -> Int {
    if _slowPath(state.load(ordering: .relaxed) != 0) { try checkWriting(record) }
    do {
      return try db.run(statement.sql, of: tableNumber, for: use, { self }) {
        if _slowPath(isInState(.unlikeDeclared)) {
          try checkFits(record, statement.order, for: use, db)
        }
        try statement.bind(record, layout, to: $0)
      }
    } catch {
      throw describe(error, writing: record, db, sql: statement.text)
    }
  }

  /// Runs a statement that is made for this call.
  func write(
    _ fragment: SQLFragment, _ record: UnsafeRawPointer, _ db: Database, for use: TableUse
  ) throws -> Int {
    try write(RecordStatement(fragment, in: db.dialect), record, db, for: use)
  }

  /// Calls a closure with a statement to which a record's values are bound, before its first row.
  func withRows<T>(
    of statement: RecordStatement, _ record: UnsafeRawPointer, _ db: Database, for use: TableUse,
    _ body: (PreparedStatement) throws -> T
  ) throws -> T {
    if state.load(ordering: .relaxed) != 0 { try checkWriting(record) }
    do {
      return try db.whileSchemaStays {
        try db.withRows(
          statement.sql, of: tableNumber, for: use, { self },
          bind: {
            if isInState(.unlikeDeclared) { try checkFits(record, statement.order, for: use, db) }
            try statement.bind(record, layout, to: $0)
          }, body)
      }
    } catch {
      throw describe(error, writing: record, db, sql: statement.text)
    }
  }

  /// Gives a record the row id that it was just inserted with.
  func assignRowID(_ record: UnsafeMutableRawPointer, _ db: Database) throws {
    guard let rowIDColumn else { return }
    if _slowPath(isInState(.unlikeDeclared)), fitting.keepsKey(db) { return }
    try set(record, rowIDColumn, db.lastInsertRowID, db, sql: insert.text)
  }

  func set(
    _ record: UnsafeMutableRawPointer, _ column: Int, _ integer: Int64, _ db: Database,
    sql text: String
  ) throws {
    do {
      try layout.assign(record, column, integer)
    } catch {
      throw describe(error, writing: record, db, sql: text)
    }
  }

  /// Whether RETURNING is unreliable. If rows have no row id, or if the table's
  /// first column is one of real numbers, SQLite returns other columns as real
  /// numbers (seen in 3.40). Looks at the table, unless that is known.
  func misreturns(_ db: Database, for use: TableUse) throws -> Bool {
    if options.contains(.withoutRowID) { return true }
    try db.look(at: self, for: use)
    return fitting.misreturns(db)
  }
}

extension Table {
  /// Runs an operation that may fail after something was written. A failure undoes it, also in the record.
  @usableFromInline
  func inScope<T>(
    _ db: Database, _ record: inout R, _ body: (inout R, Database) throws -> T
  ) throws -> T {
    guard needsScope else { return try body(&record, db) }
    var changed = record
    let result =
      needsTransaction
      ? try db.inTransaction { try body(&changed, $0) } : try body(&changed, db)
    record = changed
    return result
  }

  /// Runs one of the table's statements with a record's values, and reads a record from the row it returns.
  func writeReturning(
    _ fragment: SQLFragment, _ record: R, _ db: Database, for use: TableUse
  ) throws -> R? {
    func fetch(_ statement: RecordStatement, _ record: R, _ db: Database) throws -> R? {
      try withUnsafePointer(to: record) { record in
        try core.withRows(of: statement, record, db, for: use) { statement in
          guard try statement.step() else { return nil }
          let written = try self.record(statement, core.identity.first)
          try statement.stepToEnd()
          return written
        }
      }
    }
    func fetchReturned(_ db: Database) throws -> R? {
      let returning = fragment.returning(core.sql.columnList)
      return try fetch(RecordStatement(returning, in: db.dialect), record, db)
    }
    return try db.whileSchemaStays {
      guard try core.misreturns(db, for: use) else { return try fetchReturned(db) }
      // A write, then a read by the key, which has to be unique. RETURNING is
      // used after all if the key isn't known then.
      if use.contains(.insertion) { try db.look(at: core, for: [use, .key]) }
      return try db.inTransaction { db in
        var record = record
        let isNumbered = try withUnsafePointer(to: record) {
          try use.contains(.insertion) && core.missingKey(of: $0, db) != nil
        }
        if isNumbered, core.isInState(.constantKey) { return try fetchReturned(db) }
        let count = try withUnsafeMutablePointer(to: &record) {
          let count = try core.write(fragment, $0, db, for: use)
          if count > 0, isNumbered { try core.assignRowID($0, db) }
          return count
        }
        return count > 0 ? try fetch(core.find, record, db) : nil
      }
    }
  }

  @usableFromInline
  func indices<each Value>(_ columns: repeat Column<R, each Value>) throws -> [Int] {
    var indices: [Int] = []
    for column in repeat each columns {
      guard let index = core.columns.firstIndex(where: { $0.name.isSame(as: column.name) }) else {
        throw DatabaseError(.misuse, "the table “\(name)” has no column “\(column.name)”")
      }
      indices.append(index)
    }
    return indices
  }
}
