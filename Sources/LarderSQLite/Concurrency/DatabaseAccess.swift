/// What a ``DatabaseQueue`` and a ``DatabasePool`` offer: scopes, for many threads and tasks.
///
/// Each call runs its closure as a scope: as if its caller were alone with the database, with a connection
/// of its own for the time, in order with others (FIFO), on the caller's thread. The `Database` is good
/// inside of the scope only, and so is all that was made with it. Calling the same queue or pool
/// from inside of one of its scopes throws where that call would wait for the scope itself.
///
/// The asynchronous forms do the same in the caller's task, with its locals, priority and cancellation,
/// without blocking a thread of the cooperative pool: a thread of the queue's or pool's own runs the
/// closure, unless the call's closures have been brief. When the task is cancelled, a scope that waits
/// leaves the queue, and one that runs, or waits for another process's lock, is interrupted and rolled
/// back; both throw `CancellationError`.
///
/// A call throws what its closure throws, and ``DatabaseError``: `ResultCode.busyTimeout` where it waits
/// for its turn longer than ``Configuration/scopeTimeout``, `ResultCode.busy` where another
/// process's lock lasts longer than the busy timeout, `ResultCode.misuse` inside of a scope that it would
/// wait for, after `close()`, and in a process that was forked.
///
/// Where commits are durable, a call returns, or throws, once what its closure may have seen is on disk;
/// callers share that wait (see ``Configuration/groupCommit``). Should the disk fail to sync, all
/// calls throw `ResultCode.ioErrorFsync` from then on, until the database is opened anew.
///
/// The label of a scope, its function's name unless told otherwise, and its line are named in the errors of
/// those who wait for it in vain.
public protocol DatabaseAccess: AnyObject, Sendable {
  /// The connections, which the methods below use, and no program does.
  @_documentation(visibility: internal)
  var connections: Connections { get }
}

extension DatabaseAccess {
  /// Runs a closure with the connection that writes, outside of a transaction.
  ///
  /// A transaction that the closure leaves open is rolled back, and `ResultCode.misuse` thrown.
  @discardableResult
  @inlinable
  public func inDatabase<T>(
    label: StaticString = #function, line: UInt = #line,
    _ body: (Database) throws -> T
  ) throws -> T {
    try connections.perform(.plain, ScopeCall(label, line), body)
  }

  /// Runs a closure in a transaction: commits when it returns, rolls back when it throws.
  ///
  /// The closure never runs unless the transaction has begun; when the commit fails, all is rolled
  /// back and the error thrown. The closure can't begin or end transactions by itself; see
  /// ``Database/setRollbackOnly()``.
  @discardableResult
  @inlinable
  public func inTransaction<T>(
    label: StaticString = #function, line: UInt = #line, _ body: (Database) throws -> T
  ) throws -> T {
    try connections.perform(.transaction(.immediate), ScopeCall(label, line), body)
  }

  /// The same in a transaction of a kind.
  @discardableResult
  @inlinable
  public func inTransaction<T>(
    _ kind: TransactionKind, label: StaticString = #function, line: UInt = #line,
    _ body: (Database) throws -> T
  ) throws -> T {
    try connections.perform(.transaction(kind), ScopeCall(label, line), body)
  }

  /// Runs a closure in a savepoint, which outside of a transaction is a deferred transaction. Throws as
  /// ``Database/inSavepoint(_:)`` does.
  @discardableResult
  @inlinable
  public func inSavepoint<T>(
    label: StaticString = #function, line: UInt = #line,
    _ body: (Database) throws -> T
  ) throws -> T {
    try connections.perform(.savepoint, ScopeCall(label, line)) { try $0.inSavepoint(body) }
  }

  /// Runs a closure that reads one snapshot of the database. Statements that write throw.
  @inlinable
  public func read<T>(
    label: StaticString = #function, line: UInt = #line,
    _ body: (Database) throws -> T
  ) throws -> T {
    try connections.perform(.read, ScopeCall(label, line), body)
  }

  /// Makes the statement that the writing connection runs throw `ResultCode.interrupt`; in a pool of another
  /// engine than SQLite, those of all connections.
  public func interrupt() { connections.interrupt() }

  /// Moves the write-ahead log into the database file; returns and throws what
  /// ``Database/checkpoint(_:)`` does.
  @discardableResult
  public func checkpoint(
    _ mode: CheckpointMode = .passive
  ) throws -> (logFrames: Int, checkpointed: Int) {
    try connections.checkpoint(mode)
  }

  /// Waits for the scopes that were called before, and closes all connections. Later scopes throw;
  /// closing again does nothing.
  ///
  /// Throws `ResultCode.busyTimeout`, and stays open, where a scope takes longer than
  /// ``Configuration/scopeTimeout`` to end, as one does that waits for this call.
  public func close() throws {
    try connections.close()
  }

  /// What the connections have done since they were opened, and are doing now. It can be asked at any
  /// time, also while the writer is in use; it takes less than a microsecond.
  public var statistics: AccessStatistics { connections.statistics }
}

extension DatabaseAccess {
  /// As the form that isn't asynchronous.
  @discardableResult
  public func inDatabase<T: Sendable>(
    label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await connections.perform(.plain, ScopeCall(label, line), body)
  }

  /// As the form that isn't asynchronous.
  @discardableResult
  public func inTransaction<T: Sendable>(
    label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await connections.perform(.transaction(.immediate), ScopeCall(label, line), body)
  }

  /// As the form that isn't asynchronous.
  @discardableResult
  public func inTransaction<T: Sendable>(
    _ kind: TransactionKind, label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await connections.perform(.transaction(kind), ScopeCall(label, line), body)
  }

  /// As the form that isn't asynchronous.
  @discardableResult
  public func inSavepoint<T: Sendable>(
    label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await connections.perform(.savepoint, ScopeCall(label, line)) { try $0.inSavepoint(body) }
  }

  /// As the form that isn't asynchronous.
  public func read<T: Sendable>(
    label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await connections.perform(.read, ScopeCall(label, line), body)
  }

  /// As the form that isn't asynchronous, without blocking a thread of the cooperative pool. A task that is
  /// cancelled closes all the same.
  public func close() async throws {
    try await connections.close()
  }
}
