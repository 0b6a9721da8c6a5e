/// A statement that is compiled once and run many times.
///
/// ```swift
/// let insert = try db.prepare("INSERT INTO city VALUES (?, ?)")
/// for city in cities { try insert.execute(city.name, city.population) }
/// ```
///
/// It can also run step by step: ``bind(_:)``, ``step()`` until it returns false, bind again. While the
/// statement stands on a row, its columns can be read. It is not Sendable, and valid only inside the
/// scope that made it: afterwards everything throws.
public final class Statement {
  let database: Database
  @usableFromInline let prepared: PreparedStatement
  @exclusivity(unchecked) private var isBound: Bool
  /// Whether ``step()`` may begin an execution or continue it.
  @exclusivity(unchecked) private var mayStep: Bool
  @exclusivity(unchecked) @usableFromInline private(set) var rowNumber = 0

  @exclusivity(unchecked) @usableFromInline private(set) var rowOwner: UInt = 0

  @exclusivity(unchecked) private var isClosed = false
  private let source: SQL

  init(_ database: Database, _ prepared: PreparedStatement, _ source: SQL) {
    self.database = database
    self.prepared = prepared
    self.source = source
    isBound = prepared.parameterCount == 0
    mayStep = isBound
    database.addOpen(prepared) { .statement($0) }
  }

  deinit { close() }

  /// Finalizes the statement. Everything throws from now on. Closing again does nothing.
  public func close() {
    guard prepared.isOpen, prepared.connection.isAccessible else { return }
    isClosed = true
    if !prepared.isRunning { database.removeOpen(prepared) }
    prepared.finalize()
  }

  /// Closes the statement if something that it called has tried to.
  private func closeIfAsked() {
    if isClosed { close() }
  }

  /// The statement's text.
  public var sql: String { prepared.sql }

  /// The number of parameters.
  public var parameterCount: Int { prepared.parameterCount }

  /// Whether the statement makes no direct change to the database
  /// (see [sqlite3_stmt_readonly](https://www.sqlite.org/c3ref/stmt_readonly.html)), and is neither a
  /// PRAGMA that sets something nor ATTACH or DETACH.
  public var isReadOnly: Bool { prepared.isReadOnly }

  /// Binds all parameters, and ends an execution that is under way. Throws for a wrong number of
  /// arguments and for values that can't be stored; nothing is bound then.
  public func bind(_ arguments: (any DatabaseValueConvertible)?...) throws {
    try bind(arguments: Arguments(arguments))
  }

  /// Binds all parameters by an array or, by name, by a dictionary. Throws as ``bind(_:)`` does.
  public func bind(arguments: Arguments) throws {
    try check()
    defer { closeIfAsked() }
    prepared.reset()
    rowNumber = 0
    isBound = false
    mayStep = false
    // Positional arguments replace the interpolated ones.
    let replaces = arguments.pairs == nil && arguments.count > 0
    try prepared.bind(replaces ? SQL(raw: sql) : source, arguments)
    isBound = true
    mayStep = true
  }

  /// Goes to the next row: true if there is one, false when the statement has ended. Throws what SQLite
  /// reports, and `ResultCode.misuse` without bound parameters. After the end or an error, only
  /// ``bind(_:)`` or ``reset()`` makes it run again; until then it throws `ResultCode.misuse`.
  public func step() throws -> Bool {
    try check()
    guard isBound else {
      throw DatabaseError(.misuse, "the statement's parameters aren't bound", sql: sql)
    }
    guard prepared.state != .failed else {
      throw DatabaseError(
        .misuse, "the statement's last step failed: bind or reset it first", sql: sql)
    }
    guard mayStep, prepared.state != .done else {
      throw DatabaseError(.misuse, "the statement has ended: bind or reset it first", sql: sql)
    }
    rowNumber = 0
    defer { closeIfAsked() }
    if prepared.state == .ready { try prepared.begin() }
    guard try prepared.step() else { return false }
    rowNumber = prepared.rowNumber
    rowOwner = prepared.connection.currentOwner
    return true
  }

  /// Ends the execution that is under way, so that the statement can run again with the same
  /// arguments. Throws when the statement is closed.
  public func reset() throws {
    try check()
    prepared.reset()
    rowNumber = 0
    mayStep = isBound
  }

  /// Runs the statement to its end and returns the number of rows changed. Throws as ``bind(_:)`` and
  /// ``step()`` do.
  @discardableResult
  public func execute(_ arguments: (any DatabaseValueConvertible)?...) throws -> Int {
    try execute(arguments: Arguments(arguments))
  }

  /// Runs the statement with arguments from an array or, by name, from a dictionary, and returns the
  /// number of rows changed. Throws as ``execute(_:)`` does.
  @discardableResult
  public func execute(arguments: Arguments) throws -> Int {
    try bind(arguments: arguments)
    mayStep = false
    defer {
      prepared.reset()
      closeIfAsked()
    }
    return try prepared.run()
  }

  /// Begins a query and returns its result set, which ends when the statement is used again. Throws as
  /// ``bind(_:)`` does. A statement that writes also throws as ``execute(_:)`` does; errors of a query
  /// are thrown by ``ResultSet/next()``.
  public func query(_ arguments: (any DatabaseValueConvertible)?...) throws -> ResultSet {
    try query(arguments: Arguments(arguments))
  }

  /// Begins a query with arguments from an array or, by name, from a dictionary. Throws as ``query(_:)``
  /// does.
  public func query(arguments: Arguments) throws -> ResultSet {
    try bind(arguments: arguments)
    mayStep = false
    return try ResultSet(database, prepared)
  }

  func check() throws {
    try prepared.connection.check()
    guard prepared.isOpen, !isClosed else {
      throw DatabaseError(.misuse, "the statement is closed", sql: sql)
    }
    guard !prepared.isRunning else {
      throw DatabaseError(
        .misuse, "a function that the statement calls can't use the statement", sql: sql)
    }
  }
}

@available(*, unavailable)
extension Statement: Sendable {}

extension Statement: ColumnAccess {
  /// The columns' names in order, as of the last step; empty when the statement is closed.
  public var columnNames: [String] {
    guard prepared.isOpen, prepared.connection.isAccessible else { return [] }
    return current.columnNames.names
  }

  /// The statement; before its first step, a fresh one: SQLite notices altered tables only in that step.
  var current: PreparedStatement {
    guard prepared.state == .ready,
      let fresh = try? prepared.connection.prepare(sql, isPersistent: false)
    else { return prepared }
    return fresh
  }

  /// The position of a column by its name, in any case. Throws as ``ColumnAccess`` says.
  public func columnIndex(named name: String) throws -> Int {
    try check()
    return try current.columnNames.index(of: name, sql: sql)
  }

  /// A reader of a column of the current row. Throws as ``ColumnAccess`` says.
  @_documentation(visibility: internal)
  @inlinable @inline(__always)
  public func reader(at index: Int) throws -> ColumnReader {
    guard rowNumber == prepared.rowNumber, index >= 0, index < prepared.columnCount,
      Connection.isOwn(rowOwner)
    else { throw readingError(at: index) }
    return prepared.reader(at: index)
  }

  @usableFromInline
  func readingError(at index: Int) -> any Error {
    do { try check() } catch { return error }
    guard rowNumber == prepared.rowNumber else {
      return DatabaseError(.misuse, "the statement isn't on a row", sql: sql)
    }
    return DatabaseError(
      .range, "no column at index \(index): there are \(prepared.columnCount)", sql: sql)
  }

  /// Calls a closure while nothing can close the statement or advance it. Throws what the closure throws.
  @_documentation(visibility: internal)
  public func whileReading<T>(_ body: () throws -> T) throws -> T {
    defer { closeIfAsked() }
    return try prepared.whileReading(body)
  }

  /// Adds the column and the statement to a conversion's error.
  @_documentation(visibility: internal)
  public func describe(_ error: any Error, at index: Int) -> any Error {
    prepared.describe(error, at: index)
  }
}
