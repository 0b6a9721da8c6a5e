import CSQLite

/// The rows that a writing statement has returned.
///
/// Such a statement runs to its end at once: otherwise its changes would be committed, or fail to
/// be, only when somebody closes the result set. SQLite keeps these rows in memory too.
///
/// The unsafe pointers are sound: they are copies that belong to this object alone.
final class BufferedRows {
  let names: ColumnNames
  private let format: StorageFormat
  private var values: [OpaquePointer?] = []
  private(set) var rowCount = 0

  init(of statement: PreparedStatement) throws {
    format = statement.arena.format
    while try statement.step() {
      for index in 0..<statement.columnCount {
        guard let value = statement.copyOfValue(at: index) else {
          throw DatabaseError(.noMemory, "out of memory", sql: statement.sql)
        }
        values.append(value)
      }
      rowCount += 1
    }
    names = statement.columnNames
  }

  deinit {
    for value in values {
      if format.isEngine { EngineValue.free(value) } else { sqlite3_value_free(value) }
    }
  }

  func reader(row: Int, column: Int) throws -> ColumnReader {
    guard names.names.indices.contains(column) else {
      throw DatabaseError(.range, "no column at index \(column): there are \(names.names.count)")
    }
    return ColumnReader(value: values[row * names.names.count + column], format: format)
  }
}

extension PreparedStatement {
  /// A copy of a value of the current row, to be freed as `deinit` frees it.
  fileprivate func copyOfValue(at index: Int) -> OpaquePointer? {
    let value = reader(at: index).value
    return arena.isEngine ? EngineValue.copy(value) : sqlite3_value_dup(value)
  }
}
