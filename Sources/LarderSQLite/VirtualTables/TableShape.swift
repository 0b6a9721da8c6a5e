import CSQLite

/// A virtual table that is open: its columns, the values by which its rows are asked for, and the rows.
///
/// Those values are the arguments of a function, which are SQLite's hidden columns, or what some of its columns
/// have to equal. See [Table-valued functions](https://www.sqlite.org/vtab.html#tabfunc2).
final class TableShape: Sendable {
  /// Something that rows may be asked for by.
  struct Parameter: Sendable {
    /// The column that it is the value of; nil for an argument.
    let column: Int?
    let isRequired: Bool
  }

  typealias Rows = @Sendable (TableArguments) throws -> TableRows

  let name: String
  let columns: [String]
  let parameters: [Parameter]
  /// Whether only the program's own statements may use it.
  let isDirectOnly: Bool
  let rows: Rows
  /// What SQLite is told. Values come as they are: no column has a type.
  let declaration: String

  /// As many as SQLite's number of a plan has bits for.
  static let mostParameters = 31
  /// About as many rows as a table is said to have, of which nothing is known before it is read.
  private static let expectedRows = 1000

  init(
    _ name: String, columns: [String], _ parameters: [Parameter], isDirectOnly: Bool,
    rows: @escaping Rows
  ) {
    self.name = name
    self.columns = columns
    self.parameters = parameters
    self.isDirectOnly = isDirectOnly
    self.rows = rows
    let list =
      columns.map(\.quotedIdentifier)
      + Self.argumentNames(parameters).map { "\($0.quotedIdentifier) HIDDEN" }
    declaration = "CREATE TABLE larder (\(list.joined(separator: ", ")))"
  }

  private static func argumentNames(_ parameters: [Parameter]) -> [String] {
    let count = parameters.count { $0.column == nil }
    return (0..<count).map { "argument_\($0 + 1)" }
  }

  /// Throws `ResultCode.misuse` for columns and arguments that no table can have.
  func check() throws {
    var known: Set<[UInt8]> = []
    for column in columns + Self.argumentNames(parameters) {
      guard !column.isEmpty, !column.utf8.contains(0) else {
        throw DatabaseError(.misuse, "a column's name is not empty and has no NUL")
      }
      guard known.insert(column.foldedName).inserted else {
        throw DatabaseError(.misuse, "\(name) has two columns \(column)")
      }
    }
    guard !columns.isEmpty, columns.count <= 2000 else {
      throw DatabaseError(.misuse, "a table has 1 to 2000 columns")
    }
    guard parameters.count <= Self.mostParameters else {
      throw DatabaseError(.misuse, "a table has at most \(Self.mostParameters) arguments")
    }
  }

  // MARK: Plans

  /// Chooses how a scan gets its values. False where it can't be one: an argument depends on what is read later.
  ///
  /// Where one is missing, the scan throws when it begins. Here it can't be told: SQLite also asks for plans of which
  /// it drops the arguments, to find the rows of each side of an OR.
  func plan(_ info: UnsafeMutablePointer<sqlite3_index_info>) -> Bool {
    let count = Int(info.pointee.nConstraint)
    let constraints = UnsafeBufferPointer(start: info.pointee.aConstraint, count: count)
    /// The constraint that each parameter gets its value of.
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
    var rowCount = Self.expectedRows
    var isComplete = true
    for (number, parameter) in parameters.enumerated() {
      guard let index = chosen[number] else {
        if parameter.column == nil, waits[number] { return false }
        if parameter.isRequired { isComplete = false }
        continue
      }
      mask |= 1 << Int32(number)
      argumentIndex += 1
      info.pointee.aConstraintUsage[index].argvIndex = argumentIndex
      // Columns are compared by SQLite again: with their collation and affinity.
      info.pointee.aConstraintUsage[index].omit = parameter.column == nil ? 1 : 0
      if parameter.column != nil { rowCount = max(1, rowCount / 100) }
    }
    info.pointee.idxNum = mask
    info.pointee.estimatedRows = Int64(rowCount)
    info.pointee.estimatedCost = isComplete ? Double(rowCount * 2) : 1e99
    return true
  }

  private func parameterNumber(ofColumn column: Int) -> Int? {
    if column >= columns.count {
      let arguments = parameters.indices.filter { parameters[$0].column == nil }
      let number = column - columns.count
      return number < arguments.count ? arguments[number] : nil
    }
    return parameters.firstIndex { $0.column == column }
  }

  /// Throws where an argument is missing.
  func check(_ arguments: TableArguments) throws {
    for (number, parameter) in parameters.enumerated()
    where parameter.isRequired && arguments.values[number] == nil {
      throw DatabaseError(.error, "argument \(number + 1) of \(name) is missing")
    }
  }
}

/// The values by which rows are asked for.
///
/// What makes the unsafe pointers sound: SQLite makes them for one call, and no copy outlives it.
@usableFromInline
package struct TableArguments {
  /// By the number of the parameter; nil for one that has none.
  let values: [OpaquePointer?]
  let format: StorageFormat

  /// An argument as a type, nil of it where there is none. Throws ``ConversionError`` where it is no such value.
  @usableFromInline
  func value<T: DatabaseValueConvertible>(at index: Int, as type: T.Type) throws -> T {
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

  /// All as they are, nil where there is none.
  func all() throws -> [DatabaseValue?] {
    try values.map { value in
      try value.map { try DatabaseValue(column: ColumnReader(value: $0, format: format)) }
    }
  }

  /// The rows that were bound to the first.
  var boundRows: BoundRows? {
    guard let rows = values.first.flatMap({ larder_value_table($0) }) else { return nil }
    return Unmanaged<BoundRows>.fromOpaque(rows).takeUnretainedValue()
  }
}
