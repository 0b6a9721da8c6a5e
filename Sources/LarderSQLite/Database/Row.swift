/// The current row of a result set. Reading it throws once the result set has moved on.
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

  /// A reader of a column of this row. Throws as ``ColumnAccess`` says, and once the result set has moved on.
  @_documentation(visibility: internal)
  @inlinable @inline(__always)
  public func reader(at index: Int) throws -> ColumnReader {
    guard number == rows.rowNumber else {
      throw DatabaseError(.misuse, "the row was used after its result set had moved on")
    }
    return try rows.reader(at: index)
  }

  /// Calls a closure while nothing can close the result set or advance it. Throws what the closure throws.
  @_documentation(visibility: internal)
  public func whileReading<T>(_ body: () throws -> T) throws -> T {
    try rows.whileReading(body)
  }

  /// Adds the column and the statement to a conversion's error.
  @_documentation(visibility: internal)
  public func describe(_ error: any Error, at index: Int) -> any Error {
    rows.describe(error, at: index)
  }
}

extension Row: CustomStringConvertible {
  /// The columns with their values as they are stored, for reading: `[id: 2, name: "Bern", note: NULL, photo: 512 bytes]`.
  public var description: String {
    guard number == rows.rowNumber else { return "[a row whose result set has moved on]" }
    let parts = columnNames.enumerated().map { index, name in
      let value = try? DatabaseValue(column: reader(at: index))
      let text =
        switch value {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): text.debugDescription
        case .blob(let bytes): "\(bytes.count) bytes"
        case nil: "unreadable"
        }
      return "\(name): \(text)"
    }
    return "[" + parts.joined(separator: ", ") + "]"
  }
}
