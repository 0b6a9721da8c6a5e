import Larder

// Custom table-valued functions.

/// A Swift function whose result queries read as a table.
///
/// ```swift
/// let series = TableFunction("series") { (from: Int, to: Int) in from...to }
/// let words = TableFunction("words", columns: "place", "word") { (text: String) in
///   text.split(separator: " ").enumerated().lazy.map { ($0.offset, String($0.element)) }
/// }
/// try db.createFunction(series)
/// try db.executeQuery("SELECT value FROM series(1, 10) WHERE value % 2 = 0")
/// ```
///
/// The closure gets the arguments. It returns a sequence of values or of tuples, or a throwing function that
/// returns them one by one and then nil. It is called when a statement begins to read the table;
/// if an argument is a column of another table (`FROM city, words(city.name)`), once for each of that table's
/// rows. Rows are fetched one by one, and with LIMIT no more than needed. Both happen on the thread that runs
/// the statement. An argument whose type is an Optional may be omitted, and is nil then.
///
/// Errors of both become the statement's: a `DatabaseError` with its code and message, any other error with
/// its description. In both, the arguments' values are replaced by `…` unless
/// `Configuration.showsArguments` is on. An argument of another type also makes the statement throw. Dates
/// are in the connection's format. See [Table-valued functions](https://www.sqlite.org/vtab.html#tabfunc2).
public struct TableFunction<Row, each Argument: DatabaseValueConvertible>: Sendable {
  /// The name in SQL.
  public let name: String
  /// The names of the columns.
  public let columns: [String]
  let parameters: [TableShape.Parameter]
  let isDirectOnly: Bool
  let rows: @Sendable (TableArguments) throws -> TableRows
  private let columnCount: Int

  /// A function whose rows are values: a table of one column, named `value` unless a name is given.
  ///
  /// - `directOnly`: whether the function is barred from the schema: views and triggers, which come from
  ///   whoever wrote the file.
  @inlinable
  public init<Rows: Sequence & SendableMetatype>(
    _ name: String, columns: String..., directOnly: Bool = true,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Rows
  ) where Row: DatabaseValueConvertible, Rows.Element == Row, Rows.Iterator: SendableMetatype {
    self.init(name, columns, columnCount: 1, directOnly: directOnly) { arguments in
      let values = try Self.values(of: arguments)
      return TableRows(try body(repeat each values))
    }
  }

  /// A function whose rows are values, which another function makes one by one until it returns nil.
  @inlinable
  public init(
    _ name: String, columns: String..., directOnly: Bool = true,
    _ body: @escaping @Sendable (repeat each Argument) throws -> () throws -> Row?
  ) where Row: DatabaseValueConvertible {
    self.init(name, columns, columnCount: 1, directOnly: directOnly) { arguments in
      let values = try Self.values(of: arguments)
      return TableRows(try body(repeat each values))
    }
  }

  /// A function whose rows are tuples. The columns are named `c1`, `c2` and so on unless names are given.
  @_disfavoredOverload  // a value is a tuple of one
  @inlinable
  public init<Rows: Sequence & SendableMetatype, each Value: DatabaseValueConvertible>(
    _ name: String, columns: String..., directOnly: Bool = true,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Rows
  )
  where
    Row == (repeat each Value), Rows.Element == (repeat each Value),
    Rows.Iterator: SendableMetatype
  {
    var count = 0
    for _ in repeat (each Value).self { count += 1 }
    self.init(name, columns, columnCount: count, directOnly: directOnly) { arguments in
      let values = try Self.values(of: arguments)
      return TableRows(tuples: try body(repeat each values))
    }
  }

  /// A function whose rows are tuples, which another function makes one by one until it returns nil.
  @_disfavoredOverload
  @inlinable
  public init<each Value: DatabaseValueConvertible>(
    _ name: String, columns: String..., directOnly: Bool = true,
    _ body: @escaping @Sendable (repeat each Argument) throws -> () throws -> (repeat each Value)?
  ) where Row == (repeat each Value) {
    var count = 0
    for _ in repeat (each Value).self { count += 1 }
    self.init(name, columns, columnCount: count, directOnly: directOnly) { arguments in
      let values = try Self.values(of: arguments)
      return TableRows(tuples: try body(repeat each values))
    }
  }

  /// The arguments of a call, each converted to its type.
  @inlinable
  static func values(of arguments: TableArguments) throws -> (repeat each Argument) {
    var index = -1
    func next<T: DatabaseValueConvertible>(_ type: T.Type) throws -> T {
      index += 1
      return try arguments.value(at: index, as: type)
    }
    return (repeat try next((each Argument).self))
  }

  @usableFromInline
  init(
    _ name: String, _ columns: [String], columnCount: Int, directOnly: Bool,
    rows: @escaping @Sendable (TableArguments) throws -> TableRows
  ) {
    self.name = name
    self.columnCount = columnCount
    self.columns =
      !columns.isEmpty
      ? columns : columnCount == 1 ? ["value"] : (0..<columnCount).map { "c\($0 + 1)" }
    var parameters: [TableShape.Parameter] = []
    for type in repeat (each Argument).self {
      parameters.append(.init(isRequired: !type.columnType.isNullable))
    }
    self.parameters = parameters
    isDirectOnly = directOnly
    self.rows = rows
  }

  /// The shape of the function's table. Throws `ResultCode.misuse` if it can't be one.
  func shape() throws -> TableShape {
    guard columns.count == columnCount else {
      throw DatabaseError(
        .misuse, "\(name) names \(columns.count) columns, but its rows have \(columnCount) values")
    }
    let shape = TableShape(
      name, columns: columns, parameters, isDirectOnly: isDirectOnly, rows: .call(rows))
    try shape.check()
    return shape
  }
}

extension Database {
  /// Registers a ``LarderVirtualTables/TableFunction`` for use in SQL. To have it on every connection,
  /// register it in `Configuration.prepareDatabase`.
  ///
  /// Registering one again replaces it; running statements continue with the rows that they have begun to
  /// read. A table of the database with the same name hides it. `removeFunction(_:argumentCount:)` removes
  /// it.
  ///
  /// Throws `ResultCode.misuse` for a name that is empty, too long, contains NUL or is that of one of
  /// SQLite's tables, for duplicate column names, and if there are more or fewer column names than a row has
  /// values.
  public func createFunction<Row, each Argument: DatabaseValueConvertible>(
    _ function: TableFunction<Row, repeat each Argument>
  ) throws {
    _ = try connection.sqlite()
    let shape = try function.shape()
    try connection.registerTables(function.name, TableModule.eponymous) { name, _, _ in
      // A file's CREATE VIRTUAL TABLE could use the function as a module, under any name.
      guard name.foldedName == function.name.foldedName else {
        throw DatabaseError(
          .error,
          "\(function.name) is a table-valued function, which CREATE VIRTUAL TABLE can't use")
      }
      return shape
    }
  }
}
