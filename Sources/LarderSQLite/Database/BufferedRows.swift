/// The rows that a writing statement has returned.
///
/// Such a statement runs to its end at once: otherwise its changes would be committed, or fail to
/// be, only when somebody closes the result set. SQLite keeps these rows in memory too.
final class BufferedRows {
  // The names are set last, and not by the initializer alone: it may throw, and the copies are freed then too.
  private(set) var names = ColumnNames([])
  /// The copies of the values, which belong to this object alone.
  private var values: [ColumnReader] = []
  private(set) var rowCount = 0

  init(of statement: PreparedStatement) throws {
    while try statement.step() {
      for index in 0..<statement.columnCount {
        guard let value = statement.reader(at: index).copy() else {
          throw DatabaseError(.noMemory, "out of memory", sql: statement.sql)
        }
        values.append(value)
      }
      rowCount += 1
    }
    names = statement.columnNames
  }

  deinit {
    for value in values { value.freeCopy() }
  }

  func reader(row: Int, column: Int) throws -> ColumnReader {
    guard names.names.indices.contains(column) else {
      throw DatabaseError(.range, "no column at index \(column): there are \(names.names.count)")
    }
    return values[row * names.names.count + column]
  }
}
