/// What a ``DatabaseQueue`` and a ``DatabasePool`` offer.
///
/// Each call runs its closure as a scope: with a connection of its own for the time, in order with
/// others, on this thread or, for transactions that share a commit, on another caller's while this
/// one waits. The `Database` is good inside of the scope only, and so is all that was made with it.
/// Calling the same queue or pool from inside of one of its scopes throws.
///
/// The asynchronous forms do the same without blocking the task's thread. When the task is
/// cancelled, a scope that waits leaves the line, and one that runs is interrupted and rolled back;
/// both throw `CancellationError`. Where a transaction shares its commit with others, a statement that
/// writes runs to its end first, since interrupting it would roll back all of them: see
/// [Interrupt](https://www.sqlite.org/c3ref/interrupt.html).
public protocol DatabaseAccess: AnyObject, Sendable {
  /// The connections, which the methods below use.
  var connections: Connections { get }
}

/// The connections of a queue or a pool.
public final class Connections: Sendable {
  let writer: Writer
  /// Nil where the writer reads too.
  let readers: Readers?

  init(writer: Writer, readers: Readers?) {
    self.writer = writer
    self.readers = readers
  }
}

extension DatabaseAccess {
  /// Runs a closure with the connection that writes, outside of a transaction.
  ///
  /// A transaction that the closure leaves open is rolled back, and an error thrown.
  @discardableResult
  @inlinable
  public func inDatabase<T>(_ body: (Database) throws -> T) throws -> T {
    try connections.perform(.plain, body)
  }

  /// Runs a closure in a transaction: commits when it returns, rolls back when it throws.
  ///
  /// The closure never runs unless the transaction has begun; when the commit fails, all is rolled
  /// back and the error thrown. Transactions that wait at the same time share one commit (see
  /// ``Configuration/groupCommit``), each in a savepoint: one that throws undoes only itself. The
  /// closure can't begin or end transactions by itself; see ``Database/setRollbackOnly()``.
  @discardableResult
  @inlinable
  public func inTransaction<T>(
    _ kind: TransactionKind = .immediate, _ body: (Database) throws -> T
  ) throws -> T {
    try connections.perform(.transaction(kind), body)
  }

  /// Runs a closure in a savepoint, which outside of a transaction is a deferred transaction.
  @discardableResult
  @inlinable
  public func inSavepoint<T>(_ body: (Database) throws -> T) throws -> T {
    try connections.perform(.savepoint) { try $0.inSavepoint(body) }
  }

  /// Runs a closure that reads one snapshot of the database. Statements that write throw.
  @inlinable
  public func read<T>(_ body: (Database) throws -> T) throws -> T {
    try connections.perform(.read, body)
  }

  /// Makes the statement that the writing connection runs throw ``ResultCode/interrupt``.
  public func interrupt() { connections.writer.interruptHandle.interrupt() }

  /// Moves the write-ahead log into the database file; see ``Database/checkpoint(_:)``.
  @discardableResult
  public func checkpoint(
    _ mode: CheckpointMode = .passive
  ) throws -> (logFrames: Int, checkpointed: Int) {
    try connections.perform(.plain) { try $0.checkpoint(mode) }
  }

  /// Waits for the scopes that were called before, and closes all connections. Later scopes throw;
  /// closing again does nothing.
  ///
  /// Throws ``ResultCode/busy``, and stays open, where a scope takes longer than
  /// ``Configuration/scopeTimeout`` to end, as one does that waits for this call.
  public func close() throws {
    try connections.close()
  }
}

extension DatabaseAccess {
  /// As the form that isn't asynchronous.
  @discardableResult
  public func inDatabase<T: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await connections.perform(.plain, body)
  }

  /// As the form that isn't asynchronous.
  @discardableResult
  public func inTransaction<T: Sendable>(
    _ kind: TransactionKind = .immediate, _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await connections.perform(.transaction(kind), body)
  }

  /// As the form that isn't asynchronous.
  @discardableResult
  public func inSavepoint<T: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await connections.perform(.savepoint) { try $0.inSavepoint(body) }
  }

  /// As the form that isn't asynchronous.
  public func read<T: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await connections.perform(.read, body)
  }
}
