import CSQLite

/// A compiled statement: SQLite's handle, the state of its execution, and what is remembered of it.
///
/// It has one user at a time: a call, a ``ResultSet``, or a ``Statement``. A user remembers the
/// number of its execution; once the statement is reset or finalized, the number has changed and
/// whoever still refers to the old one gets an error instead of somebody else's row.
///
/// What makes its unsafe pointer sound: it is nil from the moment it is finalized, which happens at
/// the latest when the database is closed.
@usableFromInline
package final class PreparedStatement {
  @usableFromInline let connection: Connection
  @usableFromInline package let sql: String
  @exclusivity(unchecked) private(set) var handle: OpaquePointer?
  @usableFromInline package let arena: BindingArena
  @usableFromInline let parameterCount: Int
  /// Whether the statement makes no direct change to the database file, and sets nothing.
  let isReadOnly: Bool
  /// What the statement is.
  let kind: StatementKind
  /// Whether the statement begins or ends a transaction; savepoints don't.
  let isTransactionControl: Bool
  /// Whether something has to be done before each execution; see ``Connection/prepareToRun(_:)``.
  private let isPreparedToRun: Bool
  /// Right once the statement has taken a step; a schema change may alter it before.
  @exclusivity(unchecked) @usableFromInline private(set) var columnCount: Int

  /// Goes up with every row, reset and finalization, so that a row is known by its number. 0 is no
  /// row's number, nor are negative ones.
  @exclusivity(unchecked) @usableFromInline private(set) var rowNumber = 1
  /// The number of the execution that is under way.
  @exclusivity(unchecked) private(set) var execution = 0
  @exclusivity(unchecked) private(set) var state = State.ready
  /// Where ``Database`` keeps this statement while a result set or a ``Statement`` uses it.
  var openIndex: Int?
  /// Whether a ``Statement`` keeps it, which then decides when it ends.
  @exclusivity(unchecked) var isOwned = false
  /// Whether somebody has closed it while it was running: then it ends when it returns.
  @exclusivity(unchecked) var isAbandoned = false
  /// When it was last returned to the cache; nil if it isn't the cache's.
  @exclusivity(unchecked) var lastUse: Int?
  /// Whether somebody has taken it from the cache.
  @exclusivity(unchecked) var isInUse = false

  /// Whether time counts: for a deadline or for a trace.
  @exclusivity(unchecked) private var isMeasured = false
  /// The time spent in SQLite since the execution began.
  @exclusivity(unchecked) private var spent = Duration.zero
  /// The rows it has returned since, counted for a trace.
  @exclusivity(unchecked) private var rowCount = 0
  /// How many closures look at the current row's bytes.
  @exclusivity(unchecked) private var readingDepth = 0
  @exclusivity(unchecked) private var names: ColumnNames?
  @exclusivity(unchecked) private var namesGeneration: Int32 = 0
  private lazy var parameters = ParameterNames(arena.statement, count: parameterCount)

  enum State {
    /// Nothing has run since the last reset.
    case ready
    /// Stands on a row.
    case row
    /// Has returned its last row, or none.
    case done
    /// Its last step has failed.
    case failed
    /// Is being bound, or inside `sqlite3_step`, where nothing else may touch it.
    case running
  }

  /// Takes over a handle that was just prepared.
  init(handle: OpaquePointer, sql: String, kind: StatementKind, connection: Connection) {
    self.handle = handle
    self.kind = kind
    isTransactionControl = if case .transactionControl = kind { true } else { false }
    self.sql = sql
    self.connection = connection
    arena = BindingArena(
      statement: handle, format: connection.storageFormat)
    parameterCount = Int(sqlite3_bind_parameter_count(handle))
    // What is only explained doesn't run, whatever it would write.
    let isExplained = sqlite3_stmt_isexplain(handle) != 0
    switch kind {
    case .pragma(let pragma):
      // SQLite takes `journal_mode` for a change, also where it only asks.
      isReadOnly = isExplained || !pragma.acts
      isPreparedToRun = pragma.isPreparedToRun
    case .attachment:
      isReadOnly = isExplained
      isPreparedToRun = true
    default:
      isReadOnly = isExplained || sqlite3_stmt_readonly(handle) != 0
      isPreparedToRun = false
    }
    columnCount = Int(sqlite3_column_count(handle))
  }

  deinit { finalize() }

  /// Gives the handle back to SQLite. In a forked process, or once the connection is gone, there
  /// is nothing to give back. A statement that is running ends when it returns instead.
  func finalize() {
    guard let closing = handle else { return }
    guard state != .running else {
      isAbandoned = true
      return
    }
    let event = traceEvent()
    invalidate()
    handle = nil
    if connection.handle != nil, connection.isOfThisProcess { sqlite3_finalize(closing) }
    if let event { connection.report(event) }
  }

  /// Whether it is a PRAGMA.
  var isPragma: Bool { if case .pragma = kind { true } else { false } }

  /// Takes over what was compiled for the next execution in place of what there was.
  func replaceHandle(by new: OpaquePointer) {
    sqlite3_finalize(handle)
    handle = new
    arena.statement = new
    names = nil
    namesGeneration = 0
    columnCount = Int(sqlite3_column_count(new))
  }

  /// Makes whoever refers to the execution find out that it is over.
  private func invalidate() {
    rowNumber &+= 1
    execution &+= 1
    state = .ready
    isAbandoned = false
  }

  // MARK: Arguments

  /// Binds all parameters. On failure nothing runs.
  @usableFromInline
  func bind(_ sql: SQL, _ arguments: Arguments) throws {
    beginBinding()
    do {
      try bindAll(sql, arguments)
    } catch {
      throw endBinding(after: error)
    }
    try endBinding()
  }

  /// Makes the statement untouchable: values are the caller's code, which must not get at it while
  /// they are bound. Either ``endBinding()`` has to follow or ``endBinding(after:)``.
  @usableFromInline
  func beginBinding() {
    state = .running
    connection.callDepth &+= 1
    arena.rewind()
  }

  @usableFromInline
  func endBinding() throws {
    connection.callDepth &-= 1
    state = .ready
    if isAbandoned { try checkNotAbandoned() }
  }

  /// Returns the error with the statement's text.
  @usableFromInline
  func endBinding(after error: any Error) -> any Error {
    connection.callDepth &-= 1
    state = .ready
    isAbandoned = false
    if let error = error as? DatabaseError {
      return DatabaseError(error.extendedCode, error.message, sql: sql)
    }
    guard var error = error as? ConversionError else { return error }
    error.sql = sql
    return error
  }

  /// Throws unless there are as many parameters.
  @inlinable
  func checkCount(_ count: Int) throws {
    if count != parameterCount { throw countError(given: count) }
  }

  @usableFromInline
  func countError(given count: Int) -> DatabaseError { parameters.countError(given: count) }

  private func bindAll(_ sql: SQL, _ arguments: Arguments) throws {
    if arguments.pairs == nil && (sql.values.isEmpty || arguments.values.isEmpty) {
      try bind(positional: sql.values.isEmpty ? arguments.values : sql.values)
    } else {
      try parameters.bind(named: arguments, anonymous: sql.values, in: arena)
    }
  }

  private func bind(positional values: [(any DatabaseValueConvertible)?]) throws {
    try checkCount(values.count)
    try arena.bind(values)
  }

  // MARK: Execution

  /// Begins an execution, on a connection that was just checked, and returns its number.
  @usableFromInline
  func begin() throws -> Int {
    try checkNotRunning()
    if !connection.restrictions.isEmpty { try connection.restrictions.check(self) }
    if state != .ready { reset() }
    if isPreparedToRun { try connection.prepareToRun(self) }
    isMeasured = connection.measures || connection.deadlines.limit != nil
    if isMeasured {
      rowCount = 0
      spent = .zero
    }
    execution &+= 1
    return execution
  }

  /// Takes one step: true when there is a row.
  @usableFromInline
  package func step() throws -> Bool {
    guard let handle else { throw DatabaseError(.misuse, "the statement is closed") }
    try checkNotRunning()
    let isFirst = state == .ready
    state = .running
    rowNumber &+= 1
    let code = isMeasured ? measuredStep(handle) : rawStep(handle)
    state = code == SQLITE_ROW ? .row : .done
    if isAbandoned { try checkNotAbandoned() }
    switch code {
    case SQLITE_ROW:
      if isFirst { updateColumns(handle) }
      return true
    case SQLITE_DONE:
      if isFirst { updateColumns(handle) }
      return false
    default:
      state = .failed
      throw connection.error(code, sql: sql, statement: handle)
    }
  }

  private func checkNotAbandoned() throws {
    guard isAbandoned else { return }
    isAbandoned = false
    throw DatabaseError(.misuse, "the statement was closed by something that it called", sql: sql)
  }

  @inline(__always)
  private func rawStep(_ handle: OpaquePointer) -> Int32 {
    connection.callDepth &+= 1
    let code = sqlite3_step(handle)
    connection.callDepth &-= 1
    if code != SQLITE_ROW, connection.hasAnnouncedCommit { connection.onAnnouncedCommit?() }
    return code
  }

  private func measuredStep(_ handle: OpaquePointer) -> Int32 {
    let outer = connection.deadlines.current
    let start = MonotonicClock.now
    connection.deadlines.current = connection.deadlines.limit.map { start + $0 - spent }
    let code = rawStep(handle)
    spent += MonotonicClock.now - start
    if code == SQLITE_ROW { rowCount += 1 }
    connection.deadlines.current = outer
    return code
  }

  /// Runs an INSERT, UPDATE or DELETE to its end and returns the number of rows that it changed.
  func runChange() throws -> Int {
    _ = try begin()
    guard !isMeasured, let handle, let database = connection.handle else {
      return try runToEnd()
    }
    state = .running
    rowNumber &+= 1
    let code = rawStep(handle)
    state = code == SQLITE_ROW ? .row : .done
    if isAbandoned { try checkNotAbandoned() }
    switch code {
    case SQLITE_DONE: break
    case SQLITE_ROW: try stepToEnd()
    default:
      state = .failed
      throw connection.error(code, sql: sql, statement: handle)
    }
    return Int(sqlite3_changes64(database))
  }

  /// Runs a statement without parameters and rows, whatever the connection's scope rules out.
  func runAsControl() throws {
    try checkNotRunning()
    guard let handle else { throw DatabaseError(.misuse, "the statement is closed") }
    guard !connection.measures, connection.deadlines.limit == nil else {
      let restrictions = connection.restrictions
      connection.restrictions = []
      defer {
        connection.restrictions = restrictions
        reset()
      }
      _ = try begin()
      _ = try step()
      return
    }
    let code = rawStep(handle)
    guard code != SQLITE_DONE else {
      sqlite3_reset(handle)
      return
    }
    let error = connection.error(code, sql: sql, statement: handle)
    sqlite3_reset(handle)
    throw error
  }

  /// Ends the execution, which lets go of locks and of the snapshot. The values stay bound.
  ///
  /// What `sqlite3_reset` returns is the error that the last step has thrown already.
  func reset() {
    guard state != .running else { return }
    let wasReady = state == .ready
    let event = wasReady || !connection.measures ? nil : traceEvent()
    invalidate()
    guard !wasReady, let handle, connection.handle != nil, connection.isOfThisProcess else {
      return
    }
    sqlite3_reset(handle)
    if let event { connection.report(event) }
  }

  private func traceEvent() -> TraceEvent? {
    guard connection.measures, state != .ready,
      spent >= connection.reporting.slowStatementThreshold
    else { return nil }
    let shows = connection.reporting.showsArguments
    return TraceEvent(
      sql: sql, expandedSQL: shows ? Connection.expandedSQL(of: handle) : nil, duration: spent,
      waited: connection.waited, rowCount: rowCount)
  }

  /// Calls a closure during which the statement can't be stepped, reset or finalized.
  func whileReading<T>(_ body: () throws -> T) throws -> T {
    let outer = state
    if readingDepth == 0 {
      try checkNotRunning()
      state = .running
    }
    readingDepth += 1
    connection.callDepth += 1
    defer {
      connection.callDepth -= 1
      readingDepth -= 1
      state = outer
    }
    return try body()
  }

  @inline(__always)
  func checkNotRunning() throws {
    if state == .running { throw runningError() }
  }

  private func runningError() -> DatabaseError {
    DatabaseError(
      .misuse, "the statement is used by something that it calls, or while it is read", sql: sql)
  }

  // MARK: Columns

  /// SQLite compiles a statement anew when the schema has changed, in its first step.
  private func updateColumns(_ handle: OpaquePointer) {
    let generation = sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 0)
    guard generation != namesGeneration else { return }
    namesGeneration = generation
    names = nil
    columnCount = Int(sqlite3_column_count(handle))
  }

  /// The columns' names, as of the last step or, before one, of the preparation.
  @usableFromInline
  package var columnNames: ColumnNames {
    if let names { return names }
    let made = ColumnNames(handle, count: columnCount)
    names = made
    return made
  }

  /// A reader of a column of the row that the statement stands on.
  @usableFromInline @inline(__always)
  func reader(at index: Int) -> ColumnReader {
    ColumnReader(
      statement: arena.statement, index: Int32(truncatingIfNeeded: index),
      format: arena.format)
  }
}
