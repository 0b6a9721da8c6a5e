// A database with another engine than SQLite behind it.

extension Connection {
  func prepare(_ sql: String, by engine: any EngineConnection) throws -> PreparedStatement {
    try check()
    let kind = StatementKind(of: try SQLText(sql), from: 0)
    if case .scopeSavepoint = kind { throw Self.savepointError(sql) }
    return PreparedStatement(
      engine: try reporting { try engine.prepare(sql, until: deadlines.next) }, sql: sql,
      kind: kind, connection: self)
  }

  /// The error for a statement that has written outside of a transaction, if its answer never came: it may
  /// have been done.
  func unknownOutcome(_ error: any Error) -> any Error {
    guard let known = error as? DatabaseError, engine?.lossError != nil,
      known.sqlState == SQLState.connectionFailure || known.code == .interrupt
    else { return error }
    return DatabaseError(
      .ioError, known.message + ": check whether the statement took effect before you run it again",
      sql: known.sql, engine: known.engine, sqlState: SQLState.unknownOutcome
    ).at(placeOf: known)
  }

  static func savepointError(_ sql: String) -> DatabaseError {
    DatabaseError(
      .misuse,
      "the name of the savepoint “\(TransactionControl.savepointName)” is reserved for scopes",
      sql: sql)
  }
}

extension Database {
  /// A database backed by another engine.
  ///
  /// - Parameters:
  ///   - place: where the database is, for errors and the trace.
  ///   - configuration: only settings that aren't SQLite's own apply: the statement cache, the date format,
  ///     the trace and the log, deadlines.
  package convenience init(
    engine: any EngineConnection, path: String, at place: String, configuration: Configuration
  ) {
    self.init(
      connection: Connection(
        nil, engine: engine, busyTimeout: configuration.busyTimeout,
        dateFormat: configuration.dateFormat, reporting: Reporting(configuration)),
      path: path, configuration: configuration)
    statementDeadline = configuration.statementDeadline
    connection.place = place
  }

  /// Evicts another engine's compiled statements that may be outdated, once `statement` has ended. All go if
  /// it may have changed the schema. It goes itself after an error that a changed column type may have
  /// caused, or if such a change would lose detail of its values and no transaction prevents it.
  func forgetOutdated(_ statement: PreparedStatement) {
    if connection.engineEffects.remove(.schema) != nil { cache.removeAll() }
    if statement.mayBeStale
      || statement.engine?.effects.contains(.losesDetail) == true && !hasTransaction
    {
      cache.removeAll { $0 === statement }
    }
  }

  /// Inserts many rows at once in place of a statement that inserts one; see ``EngineStatement``.
  ///
  /// - Parameter table: the table's quoted name.
  package func copy(
    into table: String, _ columns: [String], by insert: FixedSQL, failedRow: inout Int?,
    _ bindNext: (BindingArena) throws -> Bool
  ) throws {
    let statement = try take(insert)
    defer { giveBack(statement) }
    try statement.copy(into: table, columns, failedRow: &failedRow, bindNext)
  }

  /// Has each statement of the transaction see the newest commits; see ``EngineConnection``. SQLite's
  /// writer always does.
  package func relaxIsolation() throws {
    try connection.reporting { try engine?.relaxIsolation() }
  }

  /// Notes that a row was written with an explicit key; see ``EngineConnection``.
  package func noteKey(_ key: Int64, of column: String, in table: String) throws {
    try connection.reporting { try engine?.noteKey(key, of: column, in: table) }
  }

  /// Moves the engine's sequence past keys that are in its way; see ``EngineConnection``.
  package func passKeys(of column: String, in table: String) throws {
    try connection.reporting { try engine?.passKeys(of: column, in: table) }
  }

  /// Waits until no other transaction runs that has waited in this way, in this process or another.
  package func waitForTurn(_ limit: Duration?) throws {
    try connection.reporting {
      try engine?.waitForTurn(until: limit.map { MonotonicClock.now + $0.bounded })
    }
  }

  /// Runs a closure, and tells another trace of its statements too.
  package func tracing<T>(
    _ trace: @escaping @Sendable (TraceEvent) -> Void, _ body: () throws -> T
  ) rethrows -> T {
    let (own, measured) = (connection.reporting, connection.measures)
    connection.reporting.trace = { event in
      trace(event)
      if event.duration >= own.slowStatementThreshold { own.trace?(event) }
    }
    connection.reporting.slowStatementThreshold = .zero
    connection.measures = true
    defer {
      connection.reporting = own
      connection.measures = measured
    }
    return try body()
  }

  /// The engine's name, as in errors: `SQLite` or `PostgreSQL`.
  public var engineName: String { engine?.name ?? "SQLite" }

  package var engine: (any EngineConnection)? { connection.engine }

  /// Whether there is another ``engine``. Asking for that itself would retain it.
  package var hasEngine: Bool { connection.engine != nil }
}
