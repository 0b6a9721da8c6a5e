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
/// written meanwhile. A result set lets go of its locks when it has returned its last row, when it
/// is closed, and when nothing refers to it any more. It is not Sendable, and good only inside the
/// scope that made it: afterwards everything throws.
public final class ResultSet {
  let database: Database
  @usableFromInline let statement: PreparedStatement
  /// The number of the execution that this result set shows; another one isn't its business.
  private let execution: Int
  /// The number of the row that it stands on; 0 for none, -1 and down for rows of the buffer.
  @exclusivity(unchecked) @usableFromInline private(set) var rowNumber = 0
  /// The thread that took the last step, or any where the connection isn't bound to one.
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

  /// Begins an execution of a statement that is bound. It stays with the result set until that
  /// gives it back.
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
  /// Throws what SQLite reports, such as `ResultCode.busy`. Once it has returned false or thrown
  /// there is no next row to ask for: that throws `ResultCode.misuse`.
  public func next() throws -> Bool {
    guard state == .beforeFirst || state == .onRow else { throw endedError() }
    if let buffer {
      try statement.connection.check()
      rowNumber -= 1
      state = -rowNumber <= buffer.rowCount ? .onRow : .ended
      return state == .onRow
    }
    // Neither another thread nor another scope ends it for those whose it is.
    guard statement.execution == execution, statement.connection.isAccessible else {
      throw endedError()
    }
    // Nor does a call from inside of what the query itself calls.
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

  /// Ends the query and lets go of its locks. Everything throws from now on. Closing again does
  /// nothing.
  public func close() {
    // A function that the query calls may want to close it: it ends with an error when it returns.
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
    if let error = Result(catching: statement.connection.check).failure { return error }
    let message =
      switch state {
      case .ended: "the result set has returned its last row already"
      case .failed: "the result set has ended with an error before its last row"
      case .closed: "the result set is closed"
      case .beforeFirst, .onRow:
        "the result set was closed with its scope, or by another use of its statement"
      }
    return DatabaseError(.misuse, message, sql: statement.sql)
  }
}

@available(*, unavailable)
extension ResultSet: Sendable {}

extension ResultSet: ColumnAccess {
  /// The columns' names in order; none once the result set has ended.
  ///
  /// Asked for before the first row, they make the query take its first step: only then has SQLite
  /// noticed that a table was altered. What that step throws comes from ``next()``.
  public var columnNames: [String] { currentNames?.names ?? [] }

  /// The number of columns; 0 once the result set has ended.
  public var columnCount: Int { columnNames.count }

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

  /// Whether its rows wait here, the statement having ended.
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

  /// What reads a column of the current row. Throws as ``ColumnAccess`` says.
  @_documentation(visibility: internal)
  @inlinable @inline(__always)
  public func reader(at index: Int) throws -> ColumnReader {
    guard rowNumber == statement.rowNumber, index >= 0, index < statement.columnCount,
      Connection.isOwn(rowOwner)
    else { return try bufferedReader(at: index) }
    return statement.reader(at: index)
  }

  /// The reader of a row that waits here; otherwise throws what is wrong.
  @usableFromInline
  func bufferedReader(at index: Int) throws -> ColumnReader {
    try statement.connection.check()
    if let buffer, state == .onRow {
      return try buffer.reader(row: -rowNumber - 1, column: index)
    }
    guard state == .onRow, rowNumber == statement.rowNumber else {
      guard state == .beforeFirst else { throw endedError() }
      throw DatabaseError(.misuse, "the result set stands before its first row: call next()")
    }
    throw DatabaseError(
      .range, "no column at index \(index): there are \(statement.columnCount)",
      sql: statement.sql)
  }

  /// Calls a closure during which nothing can close the result set, or go on. Throws what that throws.
  @_documentation(visibility: internal)
  public func whileReading<T>(_ body: () throws -> T) throws -> T {
    guard let buffer else {
      defer { if statement.state == .failed { close() } }
      return try statement.whileReading(body)
    }
    return try withExtendedLifetime(buffer) { try body() }
  }

  /// An error of a conversion, with the column and the statement.
  @_documentation(visibility: internal)
  public func describe(_ error: any Error, at index: Int) -> any Error {
    guard let names = currentNames?.names else { return error }
    return statement.describe(error, at: index, names)
  }
}

extension ResultSet {
  /// The current row, to pass on. It is good until the next call of ``next()``.
  public var row: Row { Row(rows: self, number: rowNumber) }

  /// Calls a closure for each row that is left, and closes the result set. Throws what the closure and
  /// ``next()`` throw.
  public func forEach(_ body: (Row) throws -> Void) throws {
    defer { close() }
    while try next() { try body(row) }
  }

  /// What a closure makes of each row that is left; closes the result set. Throws as ``forEach(_:)`` does.
  public func map<T>(_ transform: (Row) throws -> T) throws -> [T] {
    var result: [T] = []
    try forEach { result.append(try transform($0)) }
    return result
  }
}

extension Result {
  fileprivate var failure: (any Error)? {
    if case .failure(let error) = self { error } else { nil }
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
