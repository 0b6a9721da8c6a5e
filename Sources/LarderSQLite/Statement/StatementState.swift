import CSQLite

// A prepared statement's state, its user, and its entry in the cache.

extension PreparedStatement {
  enum User {
    /// The statement waits in the cache.
    case nobody
    /// The call that took it, which gives it back.
    case call
    /// A ``ResultSet``; the number is its place among the database's open statements.
    case resultSet(Int)
    /// A ``Statement``, which decides when it ends; the number has the same meaning.
    case statement(Int)

    /// The place among the open statements.
    var place: Int? {
      get {
        switch self {
        case .resultSet(let place), .statement(let place): place
        case .nobody, .call: nil
        }
      }
      set {
        switch (self, newValue) {
        case (.resultSet, let place?): self = .resultSet(place)
        case (.statement, let place?): self = .statement(place)
        default: break
        }
      }
    }
  }

  enum State {
    /// Nothing has run since the last reset.
    case ready
    /// It stands on a row.
    case row
    /// It has returned its last row, or none.
    case done
    /// Its last step has failed, or somebody has closed it while its row was read.
    case failed
    /// It is being bound, read, or inside `sqlite3_step`, where nothing else may touch it.
    case running
    /// It is running, and somebody has closed it meanwhile: it ends when its call returns.
    case closing
  }

  struct CacheEntry {
    /// The place among the kept statements; nil if it isn't kept.
    var place: Int?
    /// The hash of its text.
    var hash = 0
    /// The number of the ``FixedSQL`` that it was last found by; 0 for none.
    var number = 0
    /// The time when it was last given back, by the cache's clock.
    var lastUse = 0
  }
}

// The errors of a prepared statement.

extension PreparedStatement {
  func runningError() -> DatabaseError {
    DatabaseError(
      .misuse,
      "the statement can't be used while its rows are read, or by a function that it calls",
      sql: sql)
  }

  func closedError() -> DatabaseError {
    DatabaseError(.misuse, "the statement was closed by a function that it called", sql: sql)
  }

  /// Makes the error of a failed step, and then tells followers. They may call SQLite, after which its
  /// message is gone.
  func failure(_ code: Int32, isClosing: Bool) -> DatabaseError {
    let error = isClosing ? closedError() : connection.error(code, sql: sql, statement: handle)
    // SQLite may have rolled back by itself.
    if !connection.hasTransaction { connection.knownSchema.noteEnd(undone: true) }
    if code != SQLITE_ROW, code != SQLITE_DONE, !connection.afterSteps.isEmpty {
      connection.tellHasRun(self, code)
    }
    return error
  }

  /// Adds the column and the statement to a conversion's error.
  @usableFromInline
  func describe(_ error: any Error, at index: Int, _ names: [String]? = nil) -> any Error {
    guard var error = error as? ConversionError else { return error }
    let names = names ?? columnNames.names
    error.index = index
    error.column = names.indices.contains(index) ? names[index] : nil
    error.sql = sql
    return error
  }

  /// Tells the scope's span of an execution that has ended, and returns what the trace is told of it.
  func traceEvent(_ measurement: StatementMeasurement) -> TraceEvent? {
    connection.onTimedStatement?({ sql }, measurement.spent)
    guard connection.reporting.trace != nil,
      measurement.spent >= connection.reporting.slowStatementThreshold
    else { return nil }
    let shows = connection.reporting.showsArguments
    return TraceEvent(
      sql: sql, expandedSQL: shows ? Connection.expandedSQL(of: handle) : nil,
      duration: measurement.spent, waited: connection.waited, rows: measurement.rowCount)
  }
}
