import CSQLite
import Larder

// Writing to virtual tables; see [The xUpdate Method](https://www.sqlite.org/vtab.html#xupdate).

/// SQLite's functions for modules of tables that CREATE VIRTUAL TABLE creates.
enum TableMethods {
  /// For tables that are only read.
  nonisolated(unsafe) static let creatable = TableModule.methods { $0.addCreating() }
  /// For tables that can be written.
  nonisolated(unsafe) static let writable = TableModule.methods {
    $0.addCreating()
    $0.addWriting()
  }
}

extension sqlite3_module {
  fileprivate mutating func addCreating() {
    xCreate = xConnect
    xDestroy = xDisconnect
  }

  /// Adds the methods for writing to tables, and for their transactions.
  fileprivate mutating func addWriting() {
    iVersion = 2
    xUpdate = { table, count, values, _ in
      RequestedTable.of(table) {
        try $0.write(UnsafeBufferPointer(start: values, count: Int(count)), $1)
      }
    }
    // Tables are told of the beginning by their first change.
    xBegin = { _ in SQLITE_OK }
    xSync = { RequestedTable.step($0, .prepare) }
    xCommit = { RequestedTable.step($0, .commit) }
    xRollback = { RequestedTable.step($0, .rollback) }
    xSavepoint = { RequestedTable.step($0, .savepoint(Int($1))) }
    xRelease = { RequestedTable.step($0, .release(Int($1))) }
    xRollbackTo = { RequestedTable.step($0, .rollbackTo(Int($1))) }
  }
}

extension RequestedTable {
  fileprivate static func of(
    _ table: UnsafeMutablePointer<sqlite3_vtab>?,
    _ body: (RequestedTable, any TableEnvironment) throws -> Void
  ) -> Int32 {
    guard let table else { return SQLITE_ERROR }
    return OpenTable.of(table) { open in
      guard let requested = open.requests as? RequestedTable else { return SQLITE_ERROR }
      try body(requested, open.environment)
      return SQLITE_OK
    }
  }

  fileprivate static func step(
    _ table: UnsafeMutablePointer<sqlite3_vtab>?, _ step: VirtualTableChanges.Step
  ) -> Int32 {
    of(table) { table, environment in
      // SQLite reports all steps but the beginning to a table that was created in the same transaction.
      guard table.hasChanges else { return }
      if step == .commit || step == .rollback { table.hasChanges = false }
      try table.tell(step, environment)
    }
  }

  private func tell(
    _ step: VirtualTableChanges.Step, _ environment: any TableEnvironment
  ) throws {
    guard let transaction = changes?.transaction else { return }
    try environment.whileBlocked { try transaction(step) }
  }

  /// Inserts, updates or deletes a row. The values begin with the old row's key, NULL for an insertion.
  /// Unless the row is deleted, a second key follows, which is ignored, and then the values of all columns,
  /// which contain it.
  fileprivate func write(
    _ values: UnsafeBufferPointer<OpaquePointer?>, _ environment: any TableEnvironment
  ) throws {
    let format = environment.storageFormat
    let key = try DatabaseValue(column: ColumnReader(value: values.first ?? nil, format: format))
    let row = try zip(columns, values.dropFirst(2)).map { column, value in
      try converted(value, for: column, format)
    }
    if !hasChanges {
      try tell(.begin, environment)
      hasChanges = true
    }
    try environment.whileReadingTable { try write(key, values.count > 1 ? row : nil) }
  }

  private func write(_ key: DatabaseValue, _ row: [DatabaseValue]?) throws {
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
  private func converted(
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
