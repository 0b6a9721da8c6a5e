import CSQLite

// Writing to virtual tables; see [The xUpdate Method](https://www.sqlite.org/vtab.html#xupdate).

extension sqlite3_module {
  /// Adds the methods for writing to tables, and for their transactions.
  mutating func addWriting() {
    iVersion = 2
    xUpdate = { table, count, values, _ in
      guard let table else { return SQLITE_ERROR }
      return OpenTable.write(table, UnsafeBufferPointer(start: values, count: Int(count)))
    }
    // Tables are told of the beginning by their first change.
    xBegin = { _ in SQLITE_OK }
    xSync = { OpenTable.step($0, .prepare) }
    xCommit = { OpenTable.step($0, .commit) }
    xRollback = { OpenTable.step($0, .rollback) }
    xSavepoint = { OpenTable.step($0, .savepoint(Int($1))) }
    xRelease = { OpenTable.step($0, .release(Int($1))) }
    xRollbackTo = { OpenTable.step($0, .rollbackTo(Int($1))) }
  }
}

extension OpenTable {
  fileprivate static func step(
    _ table: UnsafeMutablePointer<sqlite3_vtab>?, _ step: VirtualTableChanges.Step
  ) -> Int32 {
    guard let table else { return SQLITE_ERROR }
    return of(table) { open in
      // SQLite reports all steps but the beginning to a table that was created in the same transaction.
      guard open.hasChanges else { return SQLITE_OK }
      if step == .commit || step == .rollback { open.hasChanges = false }
      try open.tell(step)
      return SQLITE_OK
    }
  }

  private func tell(_ step: VirtualTableChanges.Step) throws {
    guard let transaction = shape.changes?.transaction else { return }
    try environment.callAlone { try transaction(step) }
  }

  /// Inserts, updates or deletes a row. The values begin with the old row's key, NULL for an insertion.
  /// Unless the row is deleted, a second key follows, which is ignored, and then the values of all columns,
  /// which contain it.
  fileprivate static func write(
    _ table: UnsafeMutablePointer<sqlite3_vtab>, _ values: UnsafeBufferPointer<OpaquePointer?>
  ) -> Int32 {
    of(table) { open in
      let format = open.environment.format()
      let key = try DatabaseValue(column: ColumnReader(value: values.first ?? nil, format: format))
      var row: [DatabaseValue] = []
      for (column, value) in zip(open.shape.columns, values.dropFirst(2)) {
        row.append(try open.shape.converted(value, for: column, format))
      }
      if !open.hasChanges {
        try open.tell(.begin)
        open.hasChanges = true
      }
      let written = row
      try open.environment.call { try open.shape.write(key, values.count > 1 ? written : nil) }
      return SQLITE_OK
    }
  }
}

extension TableShape {
  fileprivate func write(_ key: DatabaseValue, _ row: [DatabaseValue]?) throws {
    if let row {
      if let primaryKey, row[primaryKey].isNull {
        throw DatabaseError(
          .constraintNotNull, "NOT NULL constraint failed: \(name).\(columns[primaryKey].name)")
      }
      if key.isNull {
        try change(changes?.insert)(row)
      } else {
        try change(changes?.update)(key, row)
      }
    } else {
      try change(changes?.delete)(key)
    }
  }

  private func change<Change>(_ change: Change?) throws -> Change {
    guard let change else { throw DatabaseError(.readOnly, "table \(name) may not be modified") }
    return change
  }

  /// A value converted as a column of a STRICT table would: without loss. Throws if that isn't possible.
  fileprivate func converted(
    _ value: OpaquePointer?, for column: VirtualColumn, _ format: StorageFormat
  ) throws -> DatabaseValue {
    let given = try DatabaseValue(column: ColumnReader(value: value, format: format))
    if let stored = column.stored(given) { return stored }
    // The value itself isn't converted, because SQLite uses it elsewhere too.
    guard let copy = sqlite3_value_dup(value) else {
      throw DatabaseError(.noMemory, "out of memory")
    }
    defer { sqlite3_value_free(copy) }
    let reader = ColumnReader(value: copy, format: format)
    switch (column.type, given) {
    case (.integer, .real(let number)):
      if let whole = Int64(exactly: number) { return .integer(whole) }
    case (.integer, .text), (.real, .text):
      _ = sqlite3_value_numeric_type(copy)
      let number = try DatabaseValue(column: reader)
      if let stored = column.stored(number) { return stored }
      if case .real(let number) = number, let whole = Int64(exactly: number) {
        return .integer(whole)
      }
    case (.text, .integer), (.text, .real):
      _ = sqlite3_value_text(copy)
      return .text(try reader.text())
    default: break
    }
    throw DatabaseError(
      .constraintDatatype,
      "cannot store a value of type \(given.storageClass) in column \(name).\(column.name)")
  }
}
