import CSQLite

/// A prepared statement: its handle in SQLite, its execution, and notes of the cache and the schema checks.
///
/// It has one user at a time. A user remembers the number of its execution; once the statement is reset or
/// finalized, the number has changed, and a user of the old one gets an error instead of somebody else's row.
///
/// What runs for each statement and row has its rare cases in functions of their own, or behind `_slowPath`, which has
/// the compiler put them elsewhere: a processor keeps 32 KiB of instructions close by, of which the C API's own for one
/// INSERT take 20, so that a simulated cache loads some of the rest anew for each row.
///
/// The unsafe pointer is sound: it is nil from the moment the statement is finalized, which happens
/// at the latest when the database is closed.
@usableFromInline
package final class PreparedStatement {
  @usableFromInline package let connection: Connection
  @usableFromInline package let sql: String
  let kind: StatementKind
  /// Whether the statement makes no direct change to the database file, and sets nothing.
  @usableFromInline let isReadOnly: Bool
  /// Whether something has to be done before each execution; see ``Connection/prepareToRun(_:)``.
  private let isPreparedToRun: Bool
  @exclusivity(unchecked) package private(set) var handle: OpaquePointer?
  /// The statement of another engine, in the handle's place; nil once it is finalized.
  @exclusivity(unchecked) private(set) var engine: (any EngineStatement)?

  /// Whether another engine's statement has failed with an error that a changed column type may have caused.
  var mayBeStale = false
  @exclusivity(unchecked) var user = User.call
  /// The region that it reads and writes; nil if nobody collected that when it was compiled.
  @exclusivity(unchecked) var region: StatementRegion?
  /// The schema's mark under which its tables were checked, with their number; 0 for none. See
  /// ``KnownSchema``.
  @exclusivity(unchecked) @usableFromInline var checkedMark = 0
  /// Whether its present use is by a declared table, and not as SQL of the same text.
  @exclusivity(unchecked) @usableFromInline var isDeclared = false
  /// The declared tables that it was checked against, if it has any.
  var checkedTables: CheckedTables?
  @exclusivity(unchecked) var cacheEntry = CacheEntry()

  @usableFromInline package let arena: BindingArena
  @usableFromInline let parameterCount: Int
  lazy var parameters = ParameterNames(engine?.parameterNames ?? sqliteParameterNames)

  @exclusivity(unchecked) var state = State.ready
  @exclusivity(unchecked) private(set) var execution = 0
  /// The number of the row. It goes up with every row, reset and finalization, so that it identifies
  /// a row; it is never 0 or negative.
  @exclusivity(unchecked) @usableFromInline var rowNumber = 1
  @exclusivity(unchecked) var measurement = StatementMeasurement()
  /// The number of closures that are reading the current row's bytes.
  @exclusivity(unchecked) private var readingDepth = 0

  /// The number of columns, correct once the statement has taken a step: a schema change may alter it before.
  @exclusivity(unchecked) @usableFromInline var columnCount: Int
  @exclusivity(unchecked) var names: ColumnNames?
  /// The number of SQLite's recompilations, as of the last check.
  @exclusivity(unchecked) var generation: Int32 = 0
  /// The ``Connection/schemaMark`` under which Larder compiled it.
  @exclusivity(unchecked) var compiledMark: Int
  /// Whether it has to be recompiled before it gets other values; see ``renew()``.
  @exclusivity(unchecked) @usableFromInline var isOutdated = false

  /// Whether it waits in the cache for its next use.
  var isIdle: Bool {
    @inline(__always) get { if case .nobody = user { true } else { false } }
  }

  /// Takes over a handle that was just prepared.
  init(handle: OpaquePointer, sql: String, kind: StatementKind, connection: Connection) {
    self.handle = handle
    self.kind = kind
    self.sql = sql
    self.connection = connection
    compiledMark = connection.schemaMark
    arena = BindingArena(statement: handle, format: connection.storageFormat)
    parameterCount = Int(sqlite3_bind_parameter_count(handle))
    columnCount = Int(sqlite3_column_count(handle))
    // EXPLAIN runs nothing, whatever the statement behind it would write.
    let isExplain = sqlite3_stmt_isexplain(handle) != 0
    switch kind {
    case .pragma(let pragma):
      // SQLite takes `journal_mode` for a change, even if the statement only reads it.
      isReadOnly = isExplain || !pragma.acts
      isPreparedToRun = pragma.isPreparedToRun
    case .attachment, .keyedAttachment:
      isReadOnly = isExplain
      isPreparedToRun = true
    default:
      isReadOnly = isExplain || sqlite3_stmt_readonly(handle) != 0
      isPreparedToRun = kind.mayChangeSchema(isReadOnly: isReadOnly)
    }
  }

  /// Takes over a statement of another engine that was just prepared.
  init(engine: any EngineStatement, sql: String, kind: StatementKind, connection: Connection) {
    self.engine = engine
    self.kind = kind
    self.sql = sql
    self.connection = connection
    compiledMark = connection.schemaMark
    arena = BindingArena(engine: engine, format: connection.storageFormat)
    parameterCount = engine.parameterNames.count
    columnCount = engine.columnNames.count
    isReadOnly = engine.isReadOnly
    isPreparedToRun = false
  }

  deinit { finalize() }

  /// Whether it hasn't been finalized.
  var isOpen: Bool { handle != nil || engine != nil }

  /// Gives the handle back to SQLite, unless the connection is gone or belongs to another process. A
  /// running statement is only marked, and ends when its call returns.
  func finalize() {
    guard isOpen, !closesLater() else { return }
    let event = endMeasured()
    invalidate()
    let closing = handle
    handle = nil
    if connection.isOpen, connection.isOfThisProcess {
      sqlite3_finalize(closing)
      // Nobody is left to handle an error.
      try? engine?.reset(until: connection.deadlines.next)
    }
    engine = nil
    if let event { connection.report(event) }
  }

  /// Whether it is running. If so, it is marked to end when its call returns.
  func closesLater() -> Bool {
    if isRunning { state = .closing }
    return isRunning
  }

  /// Replaces the handle by one that was compiled for the next execution.
  func replaceHandle(by new: OpaquePointer) {
    sqlite3_finalize(handle)
    handle = new
    arena.current = new
    names = nil
    generation = 0
    compiledMark = connection.schemaMark
    isOutdated = false
    columnCount = Int(sqlite3_column_count(new))
  }

  /// Changes the numbers, so that users of the execution notice that it is over.
  private func invalidate() {
    rowNumber &+= 1
    execution &+= 1
    state = .ready
  }

  var isRunning: Bool {
    @inline(__always) get { state == .running || state == .closing }
  }

  @inline(__always)
  func checkNotRunning() throws {
    if isRunning { throw runningError() }
  }

  // MARK: Execution

  /// Begins an execution, on a connection that was just checked, and returns its number.
  @usableFromInline @discardableResult
  package func begin() throws -> Int {
    let restrictions = connection.restrictions
    if !restrictions.isEmpty, _slowPath(isRunning || !isAllowed(by: restrictions)) {
      try checkRestrictions(restrictions)
    }
    if _slowPath(state != .ready || isPreparedToRun || connection.isFollowed) {
      try prepareToBegin()
    }
    measurement.begin(connection)
    execution &+= 1
    return execution
  }

  @inline(__always)
  private func isAllowed(by restrictions: Restrictions) -> Bool {
    restrictions.allow(kind, isReadOnly, hasTransaction: connection.hasTransaction)
  }

  @inline(never)
  private func checkRestrictions(_ restrictions: Restrictions) throws {
    try checkNotRunning()
    do {
      try restrictions.check(
        kind, isReadOnly, hasTransaction: connection.hasTransaction, sql: sql)
    } catch {
      throw connection.named(error)
    }
  }

  @inline(never)
  private func prepareToBegin() throws {
    try checkNotRunning()
    if state != .ready { reset() }
    if isPreparedToRun { try connection.prepareToRun(self) }
    if connection.isFollowed {
      connection.tellWillRun(self)
      // Followers may have read tables, and lost the transaction by an error.
      try connection.check()
    }
  }

  /// Takes one step: true when there is a row.
  @usableFromInline @inline(never)
  package func step() throws -> Bool {
    guard let handle else { return try stepInEngine() }
    if _slowPath(isRunning) { throw runningError() }
    let isFirst = state == .ready
    state = .running
    rowNumber &+= 1
    let code = _slowPath(measurement.isOn) ? measuredStep(handle) : rawStep(handle)
    guard _fastPath(state != .closing), code == SQLITE_ROW || _fastPath(code == SQLITE_DONE) else {
      return try endFailedStep(code, handle, isFirst)
    }
    state = code == SQLITE_ROW ? .row : .done
    if isFirst { try updateColumns() }
    return state == .row
  }

  /// Ends a step that has failed, or in which somebody has closed the statement: throws, or makes the database
  /// usable and takes the step again.
  @inline(never)
  private func endFailedStep(
    _ code: Int32, _ handle: OpaquePointer, _ isFirst: Bool
  ) throws -> Bool {
    let isClosing = state == .closing
    state = code == SQLITE_ROW ? .row : code == SQLITE_DONE ? .done : .failed
    if isFirst, !isClosing {
      noteFailure()
      if connection.makesUsable(after: code) {
        sqlite3_reset(handle)
        state = .ready
        return try step()
      }
    }
    let error = failure(code, isClosing: isClosing)
    if isFirst, !isClosing, try vacuumsTrusting(after: error) { return false }
    throw error
  }

  /// Announces that all rows of the execution that begins are going to be kept: another engine then reads
  /// them at once.
  @inlinable
  package func readAtOnce() {
    if arena.isEngine { readAtOnceInEngine() }
  }

  @usableFromInline
  func readAtOnceInEngine() { engine?.readsAtOnce = true }

  /// Takes the steps that are left. Only then has a statement that writes succeeded.
  @usableFromInline
  package func stepToEnd() throws {
    while try step() {}
  }

  /// Runs the statement to its end, and returns the number of rows that it inserted, changed or
  /// deleted: 0 for other statements, after which SQLite's own number stays as it was.
  @usableFromInline
  package func run() throws -> Int {
    try begin()
    try stepToEnd()
    guard case .rowChange = kind, !isReadOnly else { return 0 }
    if _fastPath(handle != nil) { return Int(sqlite3_changes64(connection.handle)) }
    return engine?.changes ?? 0
  }

  /// Runs a statement without parameters and rows, regardless of the scope's restrictions.
  func runAsControl() throws {
    guard let handle, _fastPath(!isRunning) else {
      try checkNotRunning()
      throw DatabaseError(.misuse, "the statement is closed")
    }
    let code: Int32
    if _slowPath(connection.measuresEach) {
      measurement.begin(connection)
      state = .running
      code = measuredStep(handle)
      state = .done
    } else {
      code = rawStep(handle)
    }
    // No Optional error for both cases: making, moving and testing it took 5 % of an empty read's time.
    if _fastPath(code == SQLITE_DONE) { return endAsControl(handle) }
    let error = failure(code, isClosing: false)
    endAsControl(handle)
    throw error
  }

  @inline(__always)
  private func endAsControl(_ handle: OpaquePointer) {
    if state == .ready { sqlite3_reset(handle) } else { reset() }
  }

  @inline(__always)
  private func rawStep(_ handle: OpaquePointer) -> Int32 {
    connection.callDepth &+= 1
    let code = sqlite3_step(handle)
    connection.callDepth &-= 1
    if code == SQLITE_DONE, !connection.afterSteps.isEmpty { connection.tellHasRun(self, code) }
    return code
  }

  private func measuredStep(_ handle: OpaquePointer) -> Int32 {
    var code = SQLITE_OK
    measurement.step(connection) {
      code = rawStep(handle)
      return code == SQLITE_ROW
    }
    return code
  }

  /// Ends the execution, which releases locks and the snapshot. The values stay bound.
  ///
  /// The result of `sqlite3_reset` is ignored: it is the error that the last step has thrown already.
  package func reset() {
    if _slowPath(isRunning || connection.measuresSome || connection.isFollowed || handle == nil) {
      return resetTelling()
    }
    let wasReady = state == .ready
    invalidate()
    if !wasReady, connection.isOpen, connection.isOfThisProcess { sqlite3_reset(handle) }
  }

  @inline(never)
  private func resetTelling() {
    guard !isRunning else { return }
    let wasReady = state == .ready
    let endsEarly = connection.isFollowed && state == .row
    let event = endMeasured()
    invalidate()
    guard !wasReady, connection.isOpen, connection.isOfThisProcess else { return }
    if let handle { sqlite3_reset(handle) } else { resetInEngine() }
    if endsEarly { connection.tellFollower(self, SQLITE_DONE) }
    if let event { connection.report(event) }
  }

  /// Adds the execution to what is measured, and returns what the trace is told of it.
  @inline(__always)
  private func endMeasured() -> TraceEvent? {
    guard connection.measuresSome, state != .ready else { return nil }
    connection.statementTimes?._withUnsafeGuaranteedRef {
      $0.work.addAlone(measurement.reading)
    }
    return connection.measures ? traceEvent(measurement) : nil
  }

  /// Calls a closure during which the statement can't be stepped, reset or finalized. If anything
  /// closes it meanwhile, it fails afterwards.
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
      if readingDepth == 0 { state = state == .closing ? .failed : outer }
    }
    return try body()
  }
}
