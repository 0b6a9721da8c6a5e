/// The rows of a query, one at a time.
///
/// ```swift
/// let cities = try db.executeQuery("SELECT name, population FROM city")
/// while try cities.next() {
///   print(try cities.get("name", as: String.self), try cities.get(at: 1, as: Int?.self) ?? 0)
/// }
/// ```
///
/// Several result sets may be open on one database, also of the same SQL, and tables may be
/// written meanwhile. A result set releases its locks when it has returned its last row, when it
/// is closed, and when nothing refers to it any more. It is not Sendable, and valid only inside the
/// scope that made it: afterwards everything throws.
public final class ResultSet {
  let database: Database
  @usableFromInline let statement: PreparedStatement
  private let execution: Int
  /// The number of the current row; 0 for none, -1 and down for rows of the buffer.
  @exclusivity(unchecked) @usableFromInline private(set) var rowNumber = 0
  /// The thread that took the last step; any if the connection isn't bound to one.
  @exclusivity(unchecked) @usableFromInline private(set) var rowOwner: UInt = 0
  /// The names of the columns once they were asked for on a row; nil again at the end.
  @exclusivity(unchecked) @usableFromInline private(set) var rowNames: ColumnNames?
  /// The rows of a statement that writes, which has ended already.
  @exclusivity(unchecked) private var buffer: BufferedRows?
  /// The first step, when it was taken early for the names of columns.
  @exclusivity(unchecked) private var firstStep: Result<Bool, any Error>?
  @exclusivity(unchecked) private var state = State.beforeFirst

  private enum State {
    case beforeFirst, onRow, ended, failed, closed
  }

  /// Begins an execution of a bound statement. The result set keeps the statement until it gives it back.
  init(_ database: Database, _ statement: PreparedStatement) throws {
    self.database = database
    self.statement = statement
    execution = try statement.begin()
    if case .call = statement.user { database.addOpen(statement) { .resultSet($0) } }
    // Another engine may tell the columns only once the statement runs.
    guard !statement.isReadOnly || statement.columnCount == 0 && database.engine == nil else {
      return
    }
    buffer = try BufferedRows(of: statement)
    database.release(statement, execution)
  }

  deinit { close() }

  /// Goes to the next row; false after the last.
  ///
  /// Throws what SQLite reports, such as `ResultCode.busy`. Once it has returned false or thrown,
  /// another call throws `ResultCode.misuse`.
  public func next() throws -> Bool {
    guard state == .beforeFirst || state == .onRow else { throw endedError() }
    if let buffer {
      try statement.connection.check()
      rowNumber -= 1
      state = -rowNumber <= buffer.rowCount ? .onRow : .ended
      return state == .onRow
    }
    // A call from another thread or scope is refused, but doesn't end the result set for its owner.
    guard statement.execution == execution, statement.connection.isAccessible else {
      throw endedError()
    }
    // The same holds for a call by a function that the query itself calls.
    if statement.isRunning { throw statement.runningError() }
    do {
      if try takeStep() {
        rowNumber = statement.rowNumber
        rowOwner = statement.connection.currentOwner
        state = .onRow
        return true
      }
    } catch {
      end(as: .failed)
      throw error
    }
    end(as: .ended)
    return false
  }

  @inline(__always)
  private func takeStep() throws -> Bool {
    if let firstStep {
      self.firstStep = nil
      return try firstStep.get()
    }
    return try statement.step()
  }

  /// Ends the query and releases its locks. Reading throws from now on. Closing again does nothing.
  public func close() {
    // If a function that the query calls closes it, it ends with an error when that returns.
    if statement.execution == execution, statement.closesLater() { return }
    end(as: .closed)
  }

  private func end(as state: State) {
    if self.state == .closed || self.state == state { return }
    self.state = state
    rowNumber = 0
    rowNames = nil
    firstStep = nil
    buffer = nil
    database.release(statement, execution)
  }

  func endedError() -> any Error {
    do { try statement.connection.check() } catch { return error }
    let message =
      switch state {
      case .ended: "the result set has returned its last row already"
      case .failed: "the result set ended with an error before its last row"
      case .closed: "the result set is closed"
      case .beforeFirst, .onRow:
        "the result set was closed when its scope ended, or by another use of its statement"
      }
    return DatabaseError(.misuse, message, sql: statement.sql)
  }
}

@available(*, unavailable)
extension ResultSet: Sendable {}

extension ResultSet: ColumnAccess {
  /// The columns' names in order; empty once the result set has ended.
  ///
  /// Before the first row, this makes the query take its first step: only then has SQLite noticed
  /// that a table was altered. An error of that step is thrown by ``next()``.
  public var columnNames: [String] { currentNames?.names ?? [] }

  /// The position of a column by its name, in any case. Throws as ``ColumnAccess`` says.
  @inlinable @inline(__always)
  public func columnIndex(named name: String) throws -> Int {
    if rowNumber == statement.rowNumber, Connection.isOwn(rowOwner),
      let index = rowNames?.expected(name)
    {
      return index
    }
    return try search(name)
  }

  @usableFromInline
  func search(_ name: String) throws -> Int {
    guard let names = currentNames else { throw endedError() }
    let index = try names.index(of: name, sql: statement.sql)
    if state == .onRow { rowNames = names }
    return index
  }

  /// Whether the rows are buffered here, because the statement has ended already.
  var hasEnded: Bool { buffer != nil }

  var currentNames: ColumnNames? {
    guard state == .beforeFirst || state == .onRow else { return nil }
    if let buffer { return buffer.names }
    guard statement.execution == execution, statement.connection.isAccessible else { return nil }
    if state == .beforeFirst, firstStep == nil {
      firstStep = Result { try statement.step() }
    }
    return statement.columnNames
  }

  /// A reader of a column of the current row. Throws as ``ColumnAccess`` says.
  @_documentation(visibility: internal)
  @inlinable @inline(__always)
  public func reader(at index: Int) throws -> ColumnReader {
    guard rowNumber == statement.rowNumber, index >= 0, index < statement.columnCount,
      Connection.isOwn(rowOwner)
    else { return try bufferedReader(at: index) }
    return statement.reader(at: index)
  }

  /// A reader of a column of a buffered row; otherwise throws the reason why there is none.
  @usableFromInline
  func bufferedReader(at index: Int) throws -> ColumnReader {
    try statement.connection.check()
    if let buffer, state == .onRow {
      return try buffer.reader(row: -rowNumber - 1, column: index)
    }
    guard state == .onRow, rowNumber == statement.rowNumber else {
      guard state == .beforeFirst else { throw endedError() }
      throw DatabaseError(.misuse, "the result set is before its first row: call next()")
    }
    throw DatabaseError(
      .range, "no column at index \(index): there are \(statement.columnCount)", sql: statement.sql)
  }

  /// Calls a closure while nothing can close the result set or advance it. Throws what the closure throws.
  @_documentation(visibility: internal)
  public func whileReading<T>(_ body: () throws -> T) throws -> T {
    guard let buffer else {
      defer { if statement.state == .failed { close() } }
      return try statement.whileReading(body)
    }
    return try withExtendedLifetime(buffer) { try body() }
  }

  /// Adds the column and the statement to a conversion's error.
  @_documentation(visibility: internal)
  public func describe(_ error: any Error, at index: Int) -> any Error {
    guard let names = currentNames?.names else { return error }
    return statement.describe(error, at: index, names)
  }
}

extension ResultSet {
  /// The current row, to pass on. It is valid until the next call of ``next()``.
  public var row: Row { Row(rows: self, number: rowNumber) }

  /// Calls a closure for each row that is left, and closes the result set. Throws what the closure and
  /// ``next()`` throw.
  public func forEach(_ body: (Row) throws -> Void) throws {
    defer { close() }
    while try next() { try body(row) }
  }

  /// The results of a closure for each row that is left; closes the result set. Throws as ``forEach(_:)``
  /// does.
  public func map<T>(_ transform: (Row) throws -> T) throws -> [T] {
    var result: [T] = []
    try forEach { result.append(try transform($0)) }
    return result
  }
}

extension Database {
  /// Takes a statement back from a result set, unless it was put to other use meanwhile.
  func release(_ statement: PreparedStatement, _ execution: Int) {
    guard statement.execution == execution, connection.isAccessible else { return }
    if case .statement = statement.user {
      statement.reset()
    } else {
      removeOpen(statement)
      giveBack(statement)
    }
  }
}
