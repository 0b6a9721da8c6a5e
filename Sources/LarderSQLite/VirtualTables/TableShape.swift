import CSQLite

/// The shape of an open virtual table: its columns, its parameters, and what makes its rows.
///
/// Rows are asked for either by a function's arguments, which are hidden columns for SQLite, or by a
/// ``TableRequests``. See [Table-valued functions](https://www.sqlite.org/vtab.html#tabfunc2).
package final class TableShape: Sendable {
  /// A parameter of a table-valued function.
  package struct Parameter: Sendable {
    let isRequired: Bool

    package init(isRequired: Bool) { self.isRequired = isRequired }
  }

  /// What makes the rows.
  package enum Rows: Sendable {
    /// Makes the rows for a function's arguments.
    case call(@Sendable (TableArguments) throws -> TableRows)
    /// Makes what answers the requests for the rows of one open table.
    case request(@Sendable () -> any TableRequests)
  }

  let name: String
  let columns: [String]
  let parameters: [Parameter]
  /// Whether the table is limited to the program's own statements, and not available to the schema.
  let isDirectOnly: Bool
  let rows: Rows
  /// The declaration for SQLite. Columns without a type keep their values as they are.
  let declaration: String

  /// The maximum number of parameters: a plan's number has one bit for each.
  static let mostParameters = 31
  /// The estimated number of rows; nothing is known of them before the table is read.
  private static let expectedRows = 1000

  /// - Parameter declaration: the declaration, unless that of columns and parameters of any type will do.
  package init(
    _ name: String, columns: [String], _ parameters: [Parameter] = [], declaration: String? = nil,
    isDirectOnly: Bool, rows: Rows
  ) {
    self.name = name
    self.columns = columns
    self.parameters = parameters
    self.isDirectOnly = isDirectOnly
    self.rows = rows
    let list =
      columns.map(\.quotedIdentifier)
      + Self.argumentNames(parameters).map { "\($0.quotedIdentifier) HIDDEN" }
    self.declaration = declaration ?? "CREATE TABLE larder (\(list.joined(separator: ", ")))"
  }

  private static func argumentNames(_ parameters: [Parameter]) -> [String] {
    parameters.indices.map { "argument_\($0 + 1)" }
  }

  /// Throws `ResultCode.misuse` for columns or parameters that no table can have.
  package func check() throws {
    var known: Set<[UInt8]> = []
    for column in columns + Self.argumentNames(parameters) {
      guard !column.isEmpty, !column.utf8.contains(0) else {
        throw DatabaseError(.misuse, "a column's name can't be empty or contain a NUL")
      }
      guard known.insert(column.foldedName).inserted else {
        throw DatabaseError(.misuse, "\(name) has two columns named \(column)")
      }
    }
    guard !columns.isEmpty, columns.count <= 2000 else {
      throw DatabaseError(.misuse, "a table needs 1 to 2000 columns")
    }
    guard parameters.count <= Self.mostParameters else {
      throw DatabaseError(.misuse, "a table can have at most \(Self.mostParameters) arguments")
    }
  }

  // MARK: Plans

  /// Chooses which constraints give a scan its arguments. Returns false if an argument depends on a table
  /// that is read later.
  ///
  /// A missing argument is reported when the scan begins, not here: to plan the sides of an OR, SQLite also
  /// asks for plans whose arguments it then drops.
  func plan(_ info: UnsafeMutablePointer<sqlite3_index_info>) -> Bool {
    let count = Int(info.pointee.nConstraint)
    let constraints = UnsafeBufferPointer(start: info.pointee.aConstraint, count: count)
    /// The constraint that gives each parameter its value.
    var chosen = [Int?](repeating: nil, count: parameters.count)
    var waits = [Bool](repeating: false, count: parameters.count)
    for (index, constraint) in constraints.enumerated()
    where constraint.op == UInt8(SQLITE_INDEX_CONSTRAINT_EQ) {
      guard let number = parameterNumber(ofColumn: Int(constraint.iColumn)) else { continue }
      if constraint.usable == 0 {
        waits[number] = true
      } else if chosen[number] == nil {
        chosen[number] = index
      }
    }
    var mask: Int32 = 0
    var argumentIndex: Int32 = 0
    var isComplete = true
    for (number, parameter) in parameters.enumerated() {
      guard let index = chosen[number] else {
        if waits[number] { return false }
        if parameter.isRequired { isComplete = false }
        continue
      }
      mask |= 1 << Int32(number)
      argumentIndex += 1
      info.pointee.aConstraintUsage[index].argvIndex = argumentIndex
      info.pointee.aConstraintUsage[index].omit = 1
    }
    info.pointee.idxNum = mask
    info.pointee.estimatedRows = Int64(Self.expectedRows)
    info.pointee.estimatedCost = isComplete ? Double(Self.expectedRows * 2) : 1e99
    return true
  }

  private func parameterNumber(ofColumn column: Int) -> Int? {
    let number = column - columns.count
    return parameters.indices.contains(number) ? number : nil
  }

  /// Throws if a required argument is missing.
  func check(_ arguments: TableArguments) throws {
    for (number, parameter) in parameters.enumerated()
    where parameter.isRequired && arguments.values[number] == nil {
      throw DatabaseError(.error, "argument \(number + 1) of \(name) is missing")
    }
  }
}

/// The arguments by which rows are asked for.
///
/// Pointer safety: SQLite makes the values for one call, and no copy outlives it.
@usableFromInline
package struct TableArguments {
  /// The values by parameter; nil for an omitted one.
  let values: [OpaquePointer?]
  let format: StorageFormat

  /// An argument converted to a type; an omitted one is NULL. Throws ``ConversionError`` if it has another
  /// type.
  @usableFromInline
  package func value<T: DatabaseValueConvertible>(at index: Int, as type: T.Type) throws -> T {
    do {
      guard index < values.count, let value = values[index] else {
        return try T(databaseValue: .null)
      }
      return try T(column: ColumnReader(value: value, format: format))
    } catch var error as ConversionError {
      error.column = "argument \(index + 1)"
      error.index = index
      throw error
    }
  }

  /// All arguments as they are; nil for omitted ones.
  func all() throws -> [DatabaseValue?] {
    try values.map { value in
      try value.map { try DatabaseValue(column: ColumnReader(value: $0, format: format)) }
    }
  }

  /// The rows that are bound to the first argument, if any.
  var boundRows: BoundRows? {
    guard let rows = values.first.flatMap({ larder_value_table($0) }) else { return nil }
    return Unmanaged<BoundRows>.fromOpaque(rows).takeUnretainedValue()
  }
}
