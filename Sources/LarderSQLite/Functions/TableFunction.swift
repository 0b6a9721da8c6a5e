// Table-valued functions of the program's own.

/// A function in Swift whose rows queries read as a table.
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
/// The closure gets the arguments and returns a sequence of values, of tuples, or a function that returns one after
/// the other until it returns nil, and may throw. It is called when a statement begins to read the table: each time
/// anew where an argument is a column of another table (`FROM city, words(city.name)`). Rows are asked for one by
/// one: with LIMIT no more than it takes. Both happen on the thread that runs the statement. An argument may be left out where its
/// type is an Optional: it is nil then.
///
/// What either throws makes the statement throw: a ``DatabaseError`` with its code and message, any other error with
/// its description, in both the arguments' values replaced by `…` unless ``Configuration/showsArguments`` is on; so
/// does an argument of another type. Dates are in the connection's format. See
/// [Table-valued functions](https://www.sqlite.org/vtab.html#tabfunc2).
public struct TableFunction<Row, each Argument: DatabaseValueConvertible>: Sendable {
  /// The name in SQL.
  public let name: String
  /// The names of the columns.
  public let columns: [String]
  let parameters: [TableShape.Parameter]
  let isDirectOnly: Bool
  let rows: @Sendable (TableArguments) throws -> TableRows
  private let columnCount: Int

  /// A function whose rows are values: a table of one column, `value` if no name is said.
  ///
  /// - `directOnly`: whether it can't be used in the schema: in views and triggers, which whoever wrote the file has
  ///   written.
  @inlinable
  public init<Rows: Sequence & SendableMetatype>(
    _ name: String, columns: String..., directOnly: Bool = true,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Rows
  ) where Row: DatabaseValueConvertible, Rows.Element == Row, Rows.Iterator: SendableMetatype {
    self.init(name, columns, columnCount: 1, directOnly: directOnly) { arguments in
      var index = -1
      func next<T: DatabaseValueConvertible>(_ type: T.Type) throws -> T {
        index += 1
        return try arguments.value(at: index, as: type)
      }
      return TableRows(try body(repeat next((each Argument).self)))
    }
  }

  /// The same with a function that makes the values until it returns nil.
  @inlinable
  public init(
    _ name: String, columns: String..., directOnly: Bool = true,
    _ body: @escaping @Sendable (repeat each Argument) throws -> () throws -> Row?
  ) where Row: DatabaseValueConvertible {
    self.init(name, columns, columnCount: 1, directOnly: directOnly) { arguments in
      var index = -1
      func next<T: DatabaseValueConvertible>(_ type: T.Type) throws -> T {
        index += 1
        return try arguments.value(at: index, as: type)
      }
      return TableRows(try body(repeat next((each Argument).self)))
    }
  }

  /// A function whose rows are tuples: their columns are `c1`, `c2` and so on if no names are said.
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

  /// The same with a function that makes the tuples until it returns nil.
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

  /// What a call is given, each argument as its type.
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

  /// Throws `ResultCode.misuse` where it can't be a table.
  func shape() throws -> TableShape {
    guard columns.count == columnCount else {
      throw DatabaseError(
        .misuse, "\(name) has \(columns.count) names of columns for rows of \(columnCount) values")
    }
    let shape = TableShape(
      name, columns: columns.map { VirtualColumn($0) }, parameters, isDirectOnly: isDirectOnly,
      rows: .call(rows))
    try shape.check()
    return shape
  }
}

extension Database {
  /// Registers a table-valued function for use in SQL; see ``TableFunction``. Register it in
  /// ``Configuration/prepareDatabase`` where each connection is to have it.
  ///
  /// Registering one anew replaces it: statements that are running go on with what they have begun to read.
  /// A table of the database with the same name hides it. ``removeFunction(_:argumentCount:)`` removes it.
  ///
  /// Throws `ResultCode.misuse` for a name that is empty, too long, has a NUL or is that of one of SQLite's tables,
  /// and for columns with the same name or another number of names than a row has values.
  public func createFunction<Row, each Argument: DatabaseValueConvertible>(
    _ function: TableFunction<Row, repeat each Argument>
  ) throws {
    _ = try connection.sqlite()
    let shape = try function.shape()
    try connection.registerTables(function.name, .eponymous) { name, _, _ in
      // A file can name any table of its own after the function.
      guard name.foldedName == function.name.foldedName else {
        throw DatabaseError(.error, "\(function.name) is a function, and makes no tables")
      }
      return shape
    }
  }
}
