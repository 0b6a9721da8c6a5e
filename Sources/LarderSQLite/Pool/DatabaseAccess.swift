/// The interface of ``DatabaseQueue`` and ``DatabasePool``: scopes, for many threads and tasks.
///
/// Each call runs its closure as a scope, on the caller's thread and in order with others (FIFO). The caller
/// has a connection to itself for that time, as if it were alone with the database. The `Database` is valid
/// inside of the scope only, and so is all that was made with it. Calling the same queue or pool from inside
/// of one of its scopes throws if that call would wait for the scope itself.
///
/// The async variants do the same in the caller's task, with its locals, priority and cancellation, without
/// blocking a thread of the cooperative pool: a thread of the queue's or pool's own runs the closure, unless
/// the call's closures have been brief. When the task is cancelled, a waiting scope leaves the queue. A scope
/// that runs, or waits for another process's lock, is interrupted and rolled back. Both throw
/// `CancellationError`.
///
/// A call throws what its closure throws, and ``DatabaseError``: `ResultCode.busyTimeout` if it waits for its
/// turn longer than ``Configuration/scopeTimeout``; `ResultCode.busy` if another process's lock lasts longer
/// than the busy timeout; `ResultCode.misuse` inside of a scope that it would wait for, after `close()`, and
/// in a process that was forked.
///
/// If commits are durable, a call returns or throws only once what its closure may have seen is on disk;
/// callers share that wait (see ``Configuration/groupCommit``). Should the disk fail to sync, all calls throw
/// `ResultCode.ioErrorFsync` from then on, until the database is opened anew.
///
/// A scope's label (its function's name by default) and its line are named in the errors of callers that wait
/// for it in vain.
public protocol DatabaseAccess: AnyObject, Sendable {
  /// The connections that the methods below use. Not for programs.
  @_documentation(visibility: internal)
  var connections: Connections { get }
}

extension DatabaseAccess {
  /// Runs a closure with the connection that writes, outside of a transaction.
  ///
  /// A transaction that the closure leaves open is rolled back, and `ResultCode.misuse` thrown.
  ///
  /// - Throws: What the closure throws, or ``DatabaseError``; see ``DatabaseAccess``.
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
  /// The closure never runs unless the transaction has begun; when the commit fails, all is rolled back and
  /// the error thrown. The closure can't begin or end transactions by itself; see
  /// ``Database/setRollbackOnly()``.
  ///
  /// - Throws: What the closure throws, or ``DatabaseError``; see ``DatabaseAccess``.
  @discardableResult
  @inlinable
  public func inTransaction<T>(
    label: StaticString = #function, line: UInt = #line, _ body: (Database) throws -> T
  ) throws -> T {
    try connections.perform(.transaction(.immediate), ScopeCall(label, line), body)
  }

  /// Runs a closure in a transaction of the given kind.
  ///
  /// - Throws: What the closure throws, or ``DatabaseError``; see ``DatabaseAccess``.
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
  ///
  /// - Throws: What the closure throws, or ``DatabaseError``; see ``DatabaseAccess``.
  @inlinable
  public func read<T>(
    label: StaticString = #function, line: UInt = #line,
    _ body: (Database) throws -> T
  ) throws -> T {
    try connections.perform(.read, ScopeCall(label, line), body)
  }

  /// Interrupts the writing connection's statement, which then throws `ResultCode.interrupt`. In a pool of an
  /// engine other than SQLite, interrupts those of all connections.
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
  /// Throws `ResultCode.busyTimeout`, and stays open, if a scope takes longer than
  /// ``Configuration/scopeTimeout`` to end, such as a scope that waits for this very call.
  public func close() throws {
    try connections.close()
  }

  /// Figures of what the connections have done since they were opened, and of what they are doing now. They
  /// can be read at any time, also while the writer is in use; it takes some microseconds
  /// and waits for no disk.
  public var statistics: AccessStatistics { connections.statistics }
}

extension DatabaseAccess {
  /// Async variant. Cancelling the task interrupts the closure's statement, and throws `CancellationError`.
  @discardableResult
  public func inDatabase<T: Sendable>(
    label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await connections.perform(.plain, ScopeCall(label, line), body)
  }

  /// Async variant. Cancelling the task rolls back, and throws `CancellationError`.
  @discardableResult
  public func inTransaction<T: Sendable>(
    label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await connections.perform(.transaction(.immediate), ScopeCall(label, line), body)
  }

  /// Async variant. Cancelling the task rolls back, and throws `CancellationError`.
  @discardableResult
  public func inTransaction<T: Sendable>(
    _ kind: TransactionKind, label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await connections.perform(.transaction(kind), ScopeCall(label, line), body)
  }

  /// Async variant. Cancelling the task rolls back, and throws `CancellationError`.
  @discardableResult
  public func inSavepoint<T: Sendable>(
    label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await connections.perform(.savepoint, ScopeCall(label, line)) { try $0.inSavepoint(body) }
  }

  /// Async variant. Cancelling the task interrupts the read, and throws `CancellationError`.
  public func read<T: Sendable>(
    label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await connections.perform(.read, ScopeCall(label, line), body)
  }

  /// Async variant, which throws the same. A cancelled task closes all the same.
  public func close() async throws {
    try await connections.close()
  }
}
