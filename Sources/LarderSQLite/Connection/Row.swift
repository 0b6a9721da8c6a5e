/// The row that a result set stands on. It throws once the result set has gone on.
public struct Row {
  @usableFromInline let rows: ResultSet
  @usableFromInline let number: Int

  init(rows: ResultSet, number: Int) {
    self.rows = rows
    self.number = number
  }
}

@available(*, unavailable)
extension Row: Sendable {}

extension Row: ColumnAccess {
  /// The columns' names in order.
  public var columnNames: [String] { rows.columnNames }

  /// The position of a column by its name, in any case. Throws as ``ColumnAccess`` says.
  public func columnIndex(named name: String) throws -> Int {
    try rows.columnIndex(named: name)
  }

  /// What reads a column of this row. Throws as ``ColumnAccess`` says, and once the result set has gone on.
  @_documentation(visibility: internal)
  @inlinable @inline(__always)
  public func reader(at index: Int) throws -> ColumnReader {
    guard number == rows.rowNumber else {
      throw DatabaseError(.misuse, "the row is used after its result set has gone on")
    }
    return try rows.reader(at: index)
  }

  /// Calls a closure during which nothing can close the result set, or go on. Throws what that throws.
  @_documentation(visibility: internal)
  public func whileReading<T>(_ body: () throws -> T) throws -> T {
    try rows.whileReading(body)
  }

  /// An error of a conversion, with the column and the statement.
  @_documentation(visibility: internal)
  public func describe(_ error: any Error, at index: Int) -> any Error {
    rows.describe(error, at: index)
  }
}
