import LarderSQLite

// UPSERT (INSERT … ON CONFLICT DO UPDATE), and save: an update or else an insert.

extension Record {
  /// Updates the row with the record's primary key, or inserts the record if there is none or the
  /// key is nil.
  ///
  /// Throws ``RecordError/stale(table:key:)`` if the row has another version.
  public mutating func save(_ db: Database) throws {
    let table = Self.table
    try table.core.checkHasKey()
    let hasKey = withUnsafePointer(to: self) { table.core.hasKey($0, db) }
    guard hasKey else { return try insert(db) }
    // Both statements see the same rows.
    try db.inTransaction { db in
      if table.hooks != nil {
        // Only the hook of what is done is called.
        let isThere = try withUnsafePointer(to: self) { try table.core.isThere($0, db) }
        return isThere ? try update(db) as Void : try insert(db)
      }
      do {
        try update(db) as Void
      } catch RecordError.notFound {
        try insert(db)
      }
    }
  }

  /// The same for a record that isn't a variable; returns it with its key and new version.
  @discardableResult @_disfavoredOverload
  public func save(_ db: Database) throws -> Self {
    var record = self
    try record.save(db) as Void
    return record
  }

  /// Inserts the record or, where a row with the same primary key or other unique columns is there,
  /// updates that.
  ///
  /// ```swift
  /// try city.upsert(db)
  /// try city.upsert(db, onConflict: City.columns.name, updating: City.columns.population)
  /// // INSERT … ON CONFLICT ("name") DO UPDATE SET "population" = excluded."population"
  /// ```
  ///
  /// See [UPSERT](https://www.sqlite.org/lang_upsert.html). The record gets the row's version,
  /// which goes up if the row was there, whatever it was, and the row's key where that was nil or
  /// other columns are the target.
  ///
  /// - `target`: the columns that decide whether the row is there, which need a unique index; the
  ///     primary key if none are named.
  /// - `columns`: those that are updated; all but the key and the target if none are named.
  public mutating func upsert<each Target, each Value>(
    _ db: Database, onConflict target: repeat Column<Self, each Target>,
    updating columns: repeat Column<Self, each Value>
  ) throws {
    let table = Self.table
    let target = try table.indices(repeat each target)
    let text = try table.upsert(target, table.indices(repeat each columns))
    try table.inScope(db, &self) { record, db in
      try table.hooks?.willInsert(&record, db)
      try withUnsafeMutablePointer(to: &record) { try table.core.upsert($0, db, text, target) }
    }
  }

  /// The same for a record that isn't a variable; returns it with its key and version.
  @discardableResult @_disfavoredOverload
  public func upsert<each Target, each Value>(
    _ db: Database, onConflict target: repeat Column<Self, each Target>,
    updating columns: repeat Column<Self, each Value>
  ) throws -> Self {
    var record = self
    try record.upsert(db, onConflict: repeat each target, updating: repeat each columns) as Void
    return record
  }
}

extension Table {
  /// The statement of an upsert; nil for the one that the table has ready.
  fileprivate func upsert(_ target: [Int], _ chosen: [Int]) throws -> SQLFragment? {
    if target.isEmpty && chosen.isEmpty {
      try core.checkHasKey()
      return nil
    }
    try core.check()
    if target.isEmpty { try core.checkHasKey() }
    try core.checkWritten(chosen)
    return core.sql.upsert(onConflict: target, updating: chosen.isEmpty ? nil : chosen)
  }
}

extension TableCore {
  /// Whether no part of the record's key is NULL.
  fileprivate func hasKey(_ record: UnsafeRawPointer, _ db: Database) -> Bool {
    sql.key.allSatisfy { (try? layout.value(of: $0, in: record, db.dateFormat)) != .null }
  }

  /// - Parameters:
  ///   - statement: nil for the one that the table has ready.
  ///   - target: the columns that tell the row, which may be there with another key than the
  ///     record's; the key if empty.
  fileprivate func upsert(
    _ record: UnsafeMutableRawPointer, _ db: Database, _ statement: SQLFragment?,
    _ target: [Int]
  ) throws {
    var returned = sql.version.map { [$0] } ?? []
    // The row may be there under another key. (The last row id is that of an earlier INSERT then.)
    if !target.isEmpty || rowIDColumn != nil && !hasKey(record, db) { returned += sql.key }
    if returned.isEmpty {
      _ = try statement.map { try write($0, record, db) } ?? write(upsert, record, db)
      return
    }
    let statement = statement ?? sql.upsert()
    guard options.contains(.withoutRowID) else {
      // A version that its type doesn't have shows only once it is written.
      if hasVersion {
        return try db.inTransaction {
          try take(returned, of: statement.returning(sql.names(returned)), record, $0)
        }
      }
      return try take(returned, of: statement.returning(sql.names(returned)), record, db)
    }
    // RETURNING isn't to be relied on there: see ``Table/writeReturning(_:_:_:)``.
    try db.inTransaction { db in
      _ = try write(statement, record, db)
      try take(returned, of: sql.find(returned, by: target), record, db)
    }
  }

  /// Sets properties to the columns of a statement's first row, if it has one.
  private func take(
    _ returned: [Int], of statement: SQLFragment, _ record: UnsafeMutableRawPointer, _ db: Database
  ) throws {
    try withRows(of: RecordStatement(statement), record, db) { statement in
      guard try statement.step() else { return }
      for (index, column) in returned.enumerated() {
        let reader = ColumnReader(
          statement: statement.arena.statement, index: Int32(truncatingIfNeeded: index),
          format: statement.arena.format)
        try layout.take(reader, column, of: record)
      }
      try statement.stepToEnd()
    }
  }
}
