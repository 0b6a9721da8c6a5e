extension Database {
  /// Calls a closure before each commit of this connection. If it throws, the commit fails with
  /// `ResultCode.constraintCommitHook` and the error's text, and the transaction is rolled back.
  ///
  /// The closure can't use the connection. It stays registered as long as the returned observation is kept,
  /// even beyond the scope. See [sqlite3_commit_hook](https://www.sqlite.org/c3ref/commit_hook.html). Throws
  /// `ResultCode.readOnly` in a read scope, which commits nothing, and ``UnsupportedByEngine`` if the engine
  /// isn't SQLite.
  public func onCommit(_ body: @escaping @Sendable () throws -> Void) throws -> Observation {
    connection.hooks.installCommitHook(on: try hookable())
    return observation {
      $0.onCommit[$1] = body
    } end: {
      $0.onCommit[$1] = nil
    }
  }

  /// Calls a closure after each rollback of a transaction of this connection, but not of a savepoint.
  /// Otherwise like ``onCommit(_:)``, also in what is thrown.
  public func onRollback(_ body: @escaping @Sendable () -> Void) throws -> Observation {
    connection.hooks.installRollbackHook(on: try hookable())
    return observation {
      $0.onRollback[$1] = body
    } end: {
      $0.onRollback[$1] = nil
    }
  }

  /// Calls a closure for each row that a statement of this connection inserts, updates or deletes, even if
  /// the transaction is rolled back later. Otherwise like ``onCommit(_:)``, also in what is thrown.
  ///
  /// SQLite reports rows of ordinary tables only: neither those of WITHOUT ROWID tables, nor rows that
  /// REPLACE or a DELETE without WHERE removes. See
  /// [sqlite3_update_hook](https://www.sqlite.org/c3ref/update_hook.html). To follow committed changes, use
  /// `changes(of:)` of a queue or pool.
  ///
  /// - Parameter body: gets the operation, the table, and the row id (the new one after an update).
  public func onUpdate(
    _ body: @escaping @Sendable (RowChange.Kind, _ table: String, _ rowID: Int64) -> Void
  ) throws -> Observation {
    connection.hooks.installUpdateHook(on: try hookable())
    let tell: @Sendable (Int32, String, Int64) -> Void = { operation, table, rowID in
      body(.init(code: operation), table, rowID)
    }
    return observation {
      $0.onUpdate[$1] = tell
    } end: {
      $0.onUpdate[$1] = nil
    }
  }

  private func hookable(_ feature: StaticString = #function) throws -> OpaquePointer {
    let handle = try connection.sqlite(feature)
    guard !connection.restrictions.contains(.writing) else {
      throw DatabaseError(
        .readOnly, "a read scope can't set hooks, since it doesn't write; use inDatabase")
    }
    connection.hooks.isRunning = { [unowned connection] isRunning in
      if isRunning { connection.block(.hook) } else { connection.unblock(.hook) }
    }
    return handle
  }

  private func observation(
    begin: (inout ConnectionHooks.Closures, Int) -> Void,
    end: @escaping @Sendable (inout ConnectionHooks.Closures, Int) -> Void
  ) -> Observation {
    let closures = connection.hooks.closures
    let number = closures.withLock { closures in
      closures.last += 1
      begin(&closures, closures.last)
      return closures.last
    }
    return Observation { closures.withLock { end(&$0, number) } }
  }
}
