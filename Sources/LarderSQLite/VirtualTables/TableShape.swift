import CSQLite

/// A virtual table that is open: its columns, by what its rows are asked for, and the rows.
///
/// They are asked for by the arguments of a function, which are SQLite's hidden columns, or by what its columns are
/// compared with. See [Table-valued functions](https://www.sqlite.org/vtab.html#tabfunc2).
final class TableShape: Sendable {
  /// An argument.
  struct Parameter: Sendable {
    let isRequired: Bool
  }

  /// Makes the rows.
  enum Rows: Sendable {
    /// For arguments.
    case call(@Sendable (TableArguments) throws -> TableRows)
    /// For what is asked of columns.
    case request(@Sendable (VirtualTableRequest, RowCheck?) throws -> TableRows)
  }

  let name: String
  let columns: [VirtualColumn]
  let parameters: [Parameter]
  /// The column by which rows are known, where there is one: then they have no row ids.
  let primaryKey: Int?
  /// Whether only the program's own statements may use it.
  let isDirectOnly: Bool
  let rows: Rows
  let changes: VirtualTableChanges?
  /// What SQLite is told. Where a column has no type, its values come as they are.
  let declaration: String

  /// As many as SQLite's number of a plan has bits for.
  static let mostParameters = 31
  /// About as many rows as a table is said to have, of which nothing is known before it is read.
  private static let expectedRows = 1000

  init(
    _ name: String, columns: [VirtualColumn], _ parameters: [Parameter] = [],
    primaryKey: Int? = nil, isDirectOnly: Bool, changes: VirtualTableChanges? = nil, rows: Rows
  ) {
    self.name = name
    self.columns = columns
    self.parameters = parameters
    self.primaryKey = primaryKey
    self.isDirectOnly = isDirectOnly
    self.changes = changes
    self.rows = rows
    var list = columns.enumerated().map { index, column in
      column.declaration + (index == primaryKey ? " NOT NULL" : "")
    }
    list += Self.argumentNames(parameters).map { "\($0.quotedIdentifier) HIDDEN" }
    if let primaryKey { list.append("PRIMARY KEY (\(columns[primaryKey].name.quotedIdentifier))") }
    declaration =
      "CREATE TABLE larder (\(list.joined(separator: ", ")))"
      + (primaryKey == nil ? "" : " WITHOUT ROWID")
  }

  private static func argumentNames(_ parameters: [Parameter]) -> [String] {
    parameters.indices.map { "argument_\($0 + 1)" }
  }

  /// Whether scans may find other rows than all, or those of another scan of the table.
  var hasAccess: Bool { columns.contains { !$0.access.isEmpty } }

  /// Throws `ResultCode.misuse` for columns and arguments that no table can have.
  func check() throws {
    var known: Set<[UInt8]> = []
    for column in columns.map(\.name) + Self.argumentNames(parameters) {
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
    for column in columns {
      guard column.type != .null else {
        throw DatabaseError(.misuse, "column \(column.name) can't be of type NULL")
      }
      guard column.type != nil || !column.access.contains(.range) else {
        throw DatabaseError(
          .misuse, "column \(column.name) needs a type for ranges of its values")
      }
      guard column.collation?.utf8.contains(0) != true, column.collation != "" else {
        throw DatabaseError(.misuse, "a collation's name is not empty and has no NUL")
      }
    }
  }

  // MARK: Plans

  /// Chooses how a scan gets its arguments. False where it can't be one: an argument depends on what is read later.
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
