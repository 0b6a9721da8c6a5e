// A database with another engine than SQLite behind it.

extension Connection {
  /// Compiles a statement by another engine.
  func prepare(_ sql: String, by engine: any EngineConnection) throws -> PreparedStatement {
    try check()
    let kind = StatementKind(of: try SQLText(sql), from: 0)
    if case .scopeSavepoint = kind { throw Self.savepointError(sql) }
    return PreparedStatement(
      engine: try reporting { try engine.prepare(sql, until: deadlines.next) }, sql: sql,
      kind: kind, connection: self)
  }

  /// The error of a statement that has written, in no transaction, where its answer never came: it may have been
  /// done.
  func unknownOutcome(_ error: any Error) -> any Error {
    guard let known = error as? DatabaseError, engine?.lossError != nil,
      known.sqlState == "08006" || known.code == .interrupt
    else { return error }
    return DatabaseError(
      .ioError, known.message + ": look whether the statement was done before it runs again",
      sql: known.sql, engine: known.engine, sqlState: SQLState.unknownOutcome)
  }

  static func savepointError(_ sql: String) -> DatabaseError {
    DatabaseError(
      .misuse, "the savepoint “\(TransactionControl.savepointName)” is the scopes' own", sql: sql)
  }
}

extension Database {
  /// A database behind which is another engine.
  ///
  /// - Parameter configuration: what of it isn't SQLite's own applies: the statement cache, the date format,
  ///   the trace and the log, deadlines.
  package convenience init(
    engine: any EngineConnection, path: String, configuration: Configuration
  ) {
    self.init(
      connection: Connection(
        engine: engine, busyTimeout: configuration.busyTimeout,
        dateFormat: configuration.dateFormat, reporting: Reporting(configuration)),
      path: path,
      configuration: configuration)
    statementDeadline = configuration.statementDeadline
  }

  /// Forgets another engine's compiled statements that may be out of date, once one of them has ended: all where
  /// it may have changed the schema; itself where it has failed for what may be the types of columns, or would
  /// lose something of values once they have changed, and no transaction keeps them as they are.
  func forgetOutdated(_ statement: PreparedStatement) {
    if connection.engineEffects.remove(.schema) != nil { cache.removeAll() }
    if statement.isDoubtful
      || statement.engine?.effects.contains(.losesDetail) == true && !hasTransaction
    {
      cache.removeAll { $0 === statement }
    }
  }

  /// Inserts many rows in the place of a statement that inserts one; see ``EngineStatement``.
  package func copy(
    into table: String, _ columns: [String], by insert: FixedSQL, failedRow: inout Int?,
    _ bindNext: (BindingArena) throws -> Bool
  ) throws {
    let statement = try take(insert)
    defer { giveBack(statement) }
    try statement.copy(into: table, columns, failedRow: &failedRow, bindNext)
  }

  /// Notes that a row was written with a key of its own; see ``EngineConnection``.
  package func noteKey(_ key: Int64, of column: String, in table: String) throws {
    try connection.reporting { try engine?.noteKey(key, of: column, in: table) }
  }

  /// Has the engine's numbers go on behind keys that are in their way; see ``EngineConnection``.
  package func passKeys(of column: String, in table: String) throws {
    try connection.reporting { try engine?.passKeys(of: column, in: table) }
  }

  /// Runs a closure, of whose statements another trace is told too.
  package func tracing<T>(
    _ trace: @escaping @Sendable (TraceEvent) -> Void, _ body: () throws -> T
  ) rethrows -> T {
    let own = connection.reporting
    connection.reporting.trace = { event in
      trace(event)
      if event.duration >= own.slowStatementThreshold { own.trace?(event) }
    }
    connection.reporting.slowStatementThreshold = .zero
    connection.measures = true
    defer {
      connection.reporting = own
      connection.measures = own.trace != nil
    }
    return try body()
  }

  /// The name of the engine that is behind it, as errors have it: `SQLite` or `PostgreSQL`.
  public var engineName: String { engine?.name ?? "SQLite" }

  /// The other engine's connection; nil for SQLite.
  package var engine: (any EngineConnection)? { connection.engine }
}
