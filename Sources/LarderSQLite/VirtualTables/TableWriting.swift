import CSQLite

// What SQLite calls where a virtual table is written to; see [The xUpdate Method](https://www.sqlite.org/vtab.html#xupdate).

extension sqlite3_module {
  /// Adds the methods of tables that can be written to, and of their transactions.
  mutating func addWriting() {
    iVersion = 2
    xUpdate = { table, count, values, _ in
      guard let table else { return SQLITE_ERROR }
      return OpenTable.write(table, UnsafeBufferPointer(start: values, count: Int(count)))
    }
    // The beginning is told with the first change.
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
      // SQLite tells a table that was created in the transaction of all but its beginning.
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

  /// Makes a change: the values are the key of the row that was there, if one was, and, but for a deletion, a second
  /// key, which is among the values of all columns that follow it.
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

  /// A value as a column of a STRICT table would store it: converted where nothing is lost, or refused.
  fileprivate func converted(
    _ value: OpaquePointer?, for column: VirtualColumn, _ format: StorageFormat
  ) throws -> DatabaseValue {
    let given = try DatabaseValue(column: ColumnReader(value: value, format: format))
    if let stored = column.stored(given) { return stored }
    // The value itself stays as it is: SQLite has it for others.
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
