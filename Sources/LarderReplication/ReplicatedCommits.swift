import LarderSQLite

extension ReplicatedDatabase {
  /// Runs a transaction, and returns once its commit is in the log: it survives the loss of this machine.
  ///
  /// ```swift
  /// try log.inTransaction { db in try payment.insert(db) }
  /// ```
  ///
  /// Other transactions go on meanwhile, and those that commit while a segment is on its way share the next one.
  /// So it takes as long as the sink does: with a folder two syncs, with a remote store its latency.
  ///
  /// Throws what `DatabaseAccess.inTransaction` does. If the commit is made, but the sink
  /// doesn't confirm it in time, it throws what `ship(within:)` does: the commit stands, and is
  /// shipped later.
  ///
  /// - Parameters:
  ///   - limit: how long to wait for the sink.
  ///   - label: the scope's label, for errors of others who wait for it.
  ///   - line: the scope's line.
  ///   - body: the transaction.
  @discardableResult
  public func inTransaction<T>(
    within limit: Duration = .seconds(30), label: StaticString = #function, line: UInt = #line,
    _ body: (Database) throws -> T
  ) throws -> T {
    let result = try openConnections.performSeldom(
      .transaction(.immediate), ScopeCall(label, line), body)
    try ship(within: limit)
    return result
  }

  /// Async variant. Cancelling the task rolls back, until the transaction is committed.
  @discardableResult
  public func inTransaction<T: Sendable>(
    within limit: Duration = .seconds(30), label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    let result = try await openConnections.performOnPrimary(
      .transaction(.immediate), ScopeCall(label, line), body)
    try await ship(within: limit)
    return result
  }
}
