import CSQLite

// What a prepared statement is at, who has it, and what the cache has noted of it.

extension PreparedStatement {
  enum User {
    /// It waits in the cache.
    case nobody
    /// The call that took it, which gives it back.
    case call
    /// A ``ResultSet``; the number is its place among the database's open statements.
    case resultSet(Int)
    /// A ``Statement``, which decides when it ends; likewise.
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
    /// Stands on a row.
    case row
    /// Has returned its last row, or none.
    case done
    /// Its last step has failed, or somebody has closed it while its row was read.
    case failed
    /// Is being bound, read, or inside `sqlite3_step`, where nothing else may touch it.
    case running
    /// The same, and somebody has closed it meanwhile: it ends when it returns.
    case closing
  }

  struct CacheEntry {
    /// Its place among those that are kept; nil if it isn't.
    var place: Int?
    /// The hash of its text.
    var hash = 0
    /// The ``FixedSQL`` that it was last found by; 0 for none.
    var number = 0
    /// When it was last given back, by the cache's clock.
    var lastUse = 0
  }
}

// Its errors.

extension PreparedStatement {
  func runningError() -> DatabaseError {
    DatabaseError(
      .misuse, "the statement is used by something that it calls, or while it is read", sql: sql)
  }

  func closedError() -> DatabaseError {
    DatabaseError(.misuse, "the statement was closed by something that it called", sql: sql)
  }

  /// The error of a step that has failed. It is made before those who follow are told, who may ask SQLite
  /// something, after which its message is gone.
  func failure(
    _ code: Int32, _ handle: OpaquePointer, isClosing: Bool
  ) -> DatabaseError {
    let error =
      isClosing ? closedError() : connection.error(code, sql: sql, statement: handle)
    // SQLite may have rolled back by itself.
    if !connection.hasTransaction { connection.knownSchema.noteEnd(undone: true) }
    if code != SQLITE_ROW, code != SQLITE_DONE, !connection.afterSteps.isEmpty {
      connection.tellHasRun(self, code)
    }
    return error
  }

  /// An error of a conversion, with the column and the statement.
  @usableFromInline
  func describe(_ error: any Error, at index: Int, _ names: [String]? = nil) -> any Error {
    guard var error = error as? ConversionError else { return error }
    let names = names ?? columnNames.names
    error.index = index
    error.column = names.indices.contains(index) ? names[index] : nil
    error.sql = sql
    return error
  }
}
