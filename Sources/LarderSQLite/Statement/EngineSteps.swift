// The steps of another engine's statement.

extension PreparedStatement {
  /// Takes a step of another engine's statement.
  @inline(never)
  func stepInEngine() throws -> Bool {
    // Returning a row that is in memory involves no wait that would notice a cancellation.
    if state == .row { try connection.checkCancellation() }
    if state == .row, !measurement.isOn, arena.stepsInEngine() {
      rowNumber &+= 1
      return true
    }
    return try runInEngine { try $0.step(until: connection.deadlines.current) }
  }

  /// Inserts many rows at once, in place of another engine's statement that inserts one.
  func copy(
    into table: String, _ columns: [String], failedRow: inout Int?,
    _ bindNext: (BindingArena) throws -> Bool
  ) throws {
    try begin()
    _ = try runInEngine {
      try $0.copy(
        into: table, columns, until: connection.deadlines.current, failedRow: &failedRow
      ) { try bindNext(arena) }
      return false
    }
  }

  private func runInEngine(_ body: (any EngineStatement) throws -> Bool) throws -> Bool {
    guard let engine else { throw DatabaseError(.misuse, "the statement is closed") }
    try checkNotRunning()
    let isFirst = state == .ready
    state = .running
    rowNumber &+= 1
    connection.engineEffects.formUnion(engine.effects)
    let mayBeDone = isFirst && engine.mayWrite && !connection.hasTransaction && connection.isOpen
    var outcome = Result<Bool, any Error>.success(false)
    func run() -> Bool {
      outcome = Result { try body(engine) }
      return (try? outcome.get()) == true
    }
    connection.callDepth &+= 1
    if measurement.isOn { measurement.step(connection, run) } else { _ = run() }
    connection.callDepth &-= 1
    let isClosing = state == .closing
    state = .failed
    if isClosing { throw closedError() }
    if mayBeDone { outcome = outcome.mapError(connection.unknownOutcome) }
    if case .failure(let error as DatabaseError) = outcome, let sqlState = error.sqlState {
      mayBeStale = SQLState.isOfData(sqlState) || SQLState.isOfSyntaxOrNames(sqlState)
    }
    let hasRow = try connection.reporting { try outcome.get() }
    state = hasRow ? .row : .done
    if !hasRow, case .rowChange = kind {
      connection.engineChanges &+= engine.changes
      if !isReadOnly { connection.lastEngineChanges = engine.changes }
    }
    if isFirst, engine.columnNames.count != columnCount {
      names = nil
      columnCount = engine.columnNames.count
    }
    return hasRow
  }

  /// Ends the execution in the engine. An error goes to the log, because no caller waits for it.
  func resetInEngine() {
    _ = try? connection.reporting { try engine?.reset(until: connection.deadlines.next) }
  }
}
