import FoundationEssentials
import LarderSQLite
import Synchronization

// Batches: many records inserted by few statements.

extension Record {
  /// Inserts all of these records or, if one fails, none.
  ///
  /// ```swift
  /// try City.insert(db, contentsOf: cities)
  /// // INSERT INTO "city" ("id", "name") VALUES (?, ?), (?, ?), (?, ?), …
  /// ```
  ///
  /// Up to 128 rows go into one statement, which takes half as long as inserting them one by one. Outside a
  /// transaction, this runs in one of its own; inside, in a savepoint. The records don't get their keys;
  /// ``inserted(_:contentsOf:)`` returns them. Rows that a trigger or a constraint's `ON CONFLICT
  /// IGNORE` skips are left out, while ``inserted(_:contentsOf:)`` throws for them. Records may
  /// refer to one another by foreign keys in any order.
  ///
  /// Throws ``RecordError/batch(table:index:error:)`` with the position of the record that could not be
  /// inserted and the reason, or the reason alone if no single record is at fault, as for a full disk, an
  /// interrupt or a trigger that rolls back.
  ///
  /// `policy` says what to do with a row that breaks a constraint, instead of throwing an error.
  public static func insert(
    _ db: Database, contentsOf records: some Sequence<Self>, or policy: ConflictPolicy? = nil
  ) throws {
    let table = table
    try table.core.checkIsWhole()
    try BatchForeignKeys.inTransaction(table.name, db) { keys, db in
      if table.hooks == nil, !table.core.hasTimestamps,
        try records.withContiguousStorageIfAvailable({
          try table.insert($0, from: 0, db, or: policy, keys)
        }) != nil
      {
        return
      }
      let now = ColumnTimestamp.now
      var index = 0
      var part: ContiguousArray<Self> = []
      for record in records {
        part.append(try table.prepared(record, at: index + part.count, now, db))
        if part.count == 1024 {
          try part.withUnsafeBufferPointer {
            try table.insert($0, from: index, db, or: policy, keys)
          }
          index += part.count
          part.removeAll(keepingCapacity: true)
        }
      }
      try part.withUnsafeBufferPointer {
        try table.insert($0, from: index, db, or: policy, keys)
      }
    }
  }

  /// Inserts all of these records or, if one fails, none, and returns them with their keys.
  ///
  /// They are inserted one by one, which takes twice as long as without keys. Otherwise this does and
  /// throws the same as ``insert(_:contentsOf:or:)``.
  public static func inserted(
    _ db: Database, contentsOf records: some Sequence<Self>
  ) throws -> [Self] {
    let isConstant = table.core.isInState(.constantKey)
    func insert(_ record: inout Self, _ db: Database) throws {
      if isConstant { record = try record.inserted(db) } else { try record.insert(db) }
    }
    return try BatchForeignKeys.inTransaction(table.name, db) { keys, db in
      var inserted = Array(records)
      for index in inserted.indices {
        do {
          do {
            try insert(&inserted[index], db)
          } catch {
            guard try keys.deferKeys(after: error, or: nil) else { throw error }
            try insert(&inserted[index], db)
          }
        } catch {
          throw RecordError.ofBatch(table.name, at: index, error)
        }
        if keys.areDeferred { keys.add(at: index) }
      }
      return inserted
    }
  }
}

extension Table {
  /// The record after its timestamps and the `willInsert` hook have changed it.
  fileprivate func prepared(
    _ record: R, at index: Int, _ now: Date, _ db: Database
  ) throws -> R {
    guard needsScope else { return record }
    do {
      var record = record
      try willInsert(&record, db, at: now)
      return record
    } catch {
      throw RecordError.ofBatch(name, at: index, error)
    }
  }

  fileprivate func insert(
    _ records: UnsafeBufferPointer<R>, from first: Int, _ db: Database,
    or policy: ConflictPolicy?, _ keys: BatchForeignKeys
  ) throws {
    guard let start = records.baseAddress else { return }
    try core.insert(
      RecordBuffer(
        start: UnsafeRawPointer(start), count: records.count, stride: MemoryLayout<R>.stride,
        first: first),
      db, or: policy, keys)
  }
}

/// Records in contiguous memory, which the caller keeps alive.
package struct RecordBuffer {
  let start: UnsafeRawPointer
  package let count: Int
  /// The distance from one record to the next, in bytes.
  let stride: Int
  /// The position of the first record among all records of the batch.
  package let first: Int

  package subscript(index: Int) -> UnsafeRawPointer { start + index * stride }
}

/// How an engine other than SQLite inserts many records.
package protocol BatchDialect {
  /// Inserts records, or none of them if one fails. Called in a transaction or savepoint.
  func insert(
    _ records: RecordBuffer, into table: TableCore, _ db: Database, or policy: ConflictPolicy?
  ) throws
}

extension TableCore {
  /// The most rows of a statement. More aren't faster.
  package static let mostRows = 128

  fileprivate func insert(
    _ records: RecordBuffer, _ db: Database, or policy: ConflictPolicy?, _ keys: BatchForeignKeys
  ) throws {
    var looked = 0
    while looked < records.count, state.load(ordering: .relaxed) != 0 {
      try checkWriting(records[looked])
      looked += 1
    }
    if db.engine != nil, let engine = db.definitions as? any BatchDialect {
      return try engine.insert(records, into: self, db, or: policy)
    }
    let width = max(1, sql.written.count)
    // DEFAULT VALUES is for one row only.
    var rows = sql.written.isEmpty ? 1 : Self.mostRows
    while rows > 1, rows * width > db.limit(.variables) { rows /= 2 }
    var index = 0
    while index < records.count {
      while rows > records.count - index { rows /= 2 }
      let statement = batch(rows: rows, or: policy)
      while index + rows <= records.count {
        try insert(records, index..<index + rows, statement, db, or: policy, keys)
        index += rows
      }
    }
  }

  private func batch(rows: Int, or policy: ConflictPolicy?) -> RecordStatement {
    // FAIL and ROLLBACK are left out: what they leave behind would hinder finding the record at fault.
    let verb = policy == .fail || policy == .rollback ? nil : policy?.rawValue
    return statement(StatementKey(rows: rows, policy: verb)) {
      sql.insert(rows: rows == 1 ? nil : rows, or: verb)
    }
  }

  private func insert(
    _ records: RecordBuffer, _ range: Range<Int>, _ statement: RecordStatement, _ db: Database,
    or policy: ConflictPolicy?, _ keys: BatchForeignKeys
  ) throws {
    if keys.areDeferred { return try insertOneByOne(records, range, db, or: policy, keys) }
    let width = Int32(truncatingIfNeeded: sql.written.count)
    var bound = range.lowerBound
    var hasBegun = false
    do {
      _ = try db.run(statement.sql, of: tableNumber, for: .newRecord, { self }) { arena in
        var first: Int32 = 1
        bound = range.lowerBound
        hasBegun = true
        let isUnlike = isInState(.unlikeDeclared)
        while bound < range.upperBound {
          if isUnlike { try checkFits(records[bound], statement.order, for: .newRecord, db) }
          try layout.bind(records[bound], statement.order, to: arena, from: first)
          first &+= width
          bound &+= 1
        }
      }
    } catch {
      // The table is at fault, not a record.
      if !hasBegun, error is RecordError { throw error }
      if bound < range.upperBound {
        let error = describe(error, writing: records[bound], db, sql: statement.text)
        throw RecordError.batch(table: name, index: records.first + bound, error: error)
      }
      if try keys.deferKeys(after: error, or: policy) {
        return try insertOneByOne(records, range, db, or: policy, keys)
      }
      let failure = try keys.whileDeferred {
        findFailure(records, range, db, after: error, or: policy)
      }
      guard let (index, cause) = failure else { throw error }
      throw RecordError.ofBatch(name, at: records.first + index, cause)
    }
  }

  /// Inserts records one by one, and notes the row id of each.
  private func insertOneByOne(
    _ records: RecordBuffer, _ range: Range<Int>, _ db: Database, or policy: ConflictPolicy?,
    _ keys: BatchForeignKeys
  ) throws {
    // Made once, since its text would otherwise be composed again for each record.
    let statement = RecordStatement(sql.insert(or: policy?.rawValue))
    for index in range {
      do {
        let count = try write(statement, records[index], db, for: .newRecord)
        if count > 0 { keys.add(at: records.first + index) }
      } catch  where ((error as? DatabaseError)?.code ?? .constraint) == .constraint {
        throw RecordError.batch(table: name, index: records.first + index, error: error)
      }
    }
  }

  /// Finds the record at fault after a statement has broken a constraint, by inserting its records one by
  /// one. All of it is rolled back with the batch. Nil if no single record is at fault, or it can't be
  /// found any more.
  private func findFailure(
    _ records: RecordBuffer, _ range: Range<Int>, _ db: Database, after error: any Error,
    or policy: ConflictPolicy?
  ) -> (index: Int, error: any Error)? {
    guard (error as? DatabaseError)?.code == .constraint else { return nil }
    guard db.isInTransaction else { return range.count == 1 ? (range.lowerBound, error) : nil }
    let statement = RecordStatement(sql.insert(or: policy?.rawValue))
    for index in range {
      do {
        _ = try write(statement, records[index], db, for: .newRecord)
      } catch {
        return (index, error)
      }
    }
    return nil
  }
}
