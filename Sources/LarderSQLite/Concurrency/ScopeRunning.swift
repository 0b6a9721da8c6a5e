import Synchronization

extension Database {
  /// Runs a body as a scope on this thread, which then owns the connection, and leaves the
  /// connection clean: without open statements, transactions and restrictions.
  func runScope<T>(_ scope: Scope, _ kind: ScopeKind, _ body: (Database) throws -> T) throws -> T {
    connection.takeOver()
    defer {
      if connection.changedSettings != nil { restoreSettings() }
      connection.leave()
    }
    _ = try connection.check()
    try prepareToEnd()
    switch kind {
    case .plain, .savepoint: return try runPlain(scope, body)
    case .read: return try runRead(scope, body)
    case .transaction(let kind):
      try execute(kind.control)
      return try finish(try undoOnError { try runBody(scope, .transaction, body) })
    }
  }

  private func runPlain<T>(_ scope: Scope, _ body: (Database) throws -> T) throws -> T {
    let result = try undoOnError { try runBody(scope, [], body) }
    guard !hasTransaction else {
      ensureUndone { try execute(.rollback) }
      throw DatabaseError(
        .misuse, "the scope left its transaction open, which was rolled back; use inTransaction")
    }
    return result
  }

  private func runRead<T>(_ scope: Scope, _ body: (Database) throws -> T) throws -> T {
    // Where nobody else can write there is no need for a transaction, which takes a fifth of the
    // time of a scope with one look-up.
    let isAlone = connection.isAlone
    if !isAlone { try execute(.beginDeferred) }
    let result = try undoOnError {
      try runBody(
        scope, isAlone ? [.writing, .transactionControl] : [.writing, .transaction], body)
    }
    // Nothing was written: it doesn't matter how the snapshot ends, if it hasn't by an error.
    if hasTransaction { try undoOnError { try execute(.commit) } }
    return result
  }

  /// Calls the body and closes what it has left open.
  func runBody<T>(
    _ scope: Scope, _ restrictions: Restrictions, _ body: (Database) throws -> T
  ) throws -> T {
    isRollbackOnly = false
    connection.restrictions = restrictions
    defer {
      connection.restrictions = []
      if hasOpenStatements { closeOpenStatements() }
    }
    return try scope.run { try body(self) }
  }

  /// Rolls back what a body that throws has begun, or has left to SQLite to roll back.
  func undoOnError<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch {
      connection.unblock([.cancellation, .rollback, .innerRollback])
      ensureUndone { try execute(.rollback) }
      throw error
    }
  }

  /// Commits, or rolls back where the body asked for it, and passes the body's result on.
  private func finish<T>(_ result: T) throws -> T {
    try checkTransactionIsOpen()
    try undoOnError { try execute(isRollbackOnly ? .rollback : .commit) }
    return result
  }

  func checkTransactionIsOpen() throws {
    guard hasTransaction else {
      throw DatabaseError(.abort, "an error made SQLite roll the transaction back")
    }
  }
}
