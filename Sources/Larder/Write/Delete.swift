import LarderSQLite

// DELETE of a record. RowChanges.swift deletes a query's rows.

extension Record {
  /// Deletes the row with the record's primary key. Returns whether there was one.
  ///
  /// - Throws: ``RecordError/stale(table:key:)`` if the row has another version,
  ///   ``LarderSQLite/DatabaseError``, and what the hook `willDelete` throws.
  @discardableResult
  public func delete(_ db: Database) throws -> Bool {
    let table = Self.table
    var record = self
    return try table.inScope(db, &record) { record, db in
      try table.hooks?.willDelete(record, db)
      return try withUnsafePointer(to: record) { try table.core.delete($0, db) }
    }
  }
}

extension TableCore {
  fileprivate func delete(_ record: UnsafeRawPointer, _ db: Database) throws -> Bool {
    try checkChangesRows()
    if try write(delete, record, db, for: .row) > 0 { return true }
    if hasVersion, case RecordError.stale(let table, let key) = try missing(record, db) {
      throw RecordError.stale(table: table, key: key)
    }
    return false
  }
}
