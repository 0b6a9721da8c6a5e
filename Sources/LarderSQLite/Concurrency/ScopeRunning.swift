import CSQLite
import Synchronization

/// The kind of a scope: what its body runs in.
@usableFromInline
package enum ScopeKind: Sendable {
  /// No transaction, except those that the body begins.
  case plain
  /// Like ``plain``, with the whole body in a savepoint.
  case savepoint
  /// A transaction.
  case transaction(TransactionKind)
  /// A read transaction: one snapshot, and no writes.
  case read

  var isRead: Bool { if case .read = self { true } else { false } }

  /// Whether a scope of this kind can be retried as a whole, since a failure undoes all that it did.
  package var isTransaction: Bool {
    switch self {
    case .transaction, .savepoint: true
    case .plain, .read: false
    }
  }
}

/// The result of a task's scope.
struct ScopeOutcome<Value: Sendable>: Sendable {
  var result: Result<Value, any Error>
  /// The log position of what the scope has committed or seen. The caller waits until it is synced.
  var position = 0
}

extension ScopeOutcome<Void> {
  /// A copy with the value that the body has returned.
  func giving<T: Sendable>(_ value: T?) -> ScopeOutcome<T> {
    let given = Result {
      try result.get()
      guard let value else { throw DatabaseError(.internal, "the scope has no result") }
      return value
    }
    return ScopeOutcome<T>(result: given, position: position)
  }
}

/// A runner of tasks' scopes: the writer, or the readers of a pool.
protocol ScopeRunner: AnyObject, Sendable {
  var scheduler: any TaskScheduler { get }
  /// Runs a task's scope, on the thread that runs the task's job.
  func perform(
    _ task: WaitingTask, _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) -> ScopeOutcome<Void>
  /// Runs a task's scope on the task's current thread if that takes no waiting. Otherwise does nothing, and
  /// returns nil.
  func performAtOnce(
    _ task: WaitingTask, _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) -> ScopeOutcome<Void>?
  /// Removes a cancelled task from the queue, or interrupts its scope.
  func cancel(_ task: WaitingTask)
}

extension Database {
  /// Runs a body as a scope on this thread, which then owns the connection, and leaves the
  /// connection clean: without open statements, transactions and restrictions.
  func runScope(_ kind: ScopeKind, _ body: (Database) throws -> Void) throws {
    connection.takeOver()
    hasBegun = false
    defer {
      if _slowPath(connection.changedSettings != nil) { restoreSettings() }
      connection.leave()
    }
    try connection.check()
    try prepareToEnd()
    switch kind {
    case .plain, .savepoint: try runPlain(body)
    case .read: try runRead(body)
    case .transaction(let kind):
      try executeChecked(kind.control)
      hasBegun = true
      try undoOnError { try runBody(.transaction, body) }
      try finish()
    }
  }

  private func runPlain(_ body: (Database) throws -> Void) throws {
    hasBegun = true
    try undoOnError { try runBody([], body) }
    // An error may have left a rollback to do, even if the body didn't throw it.
    if _slowPath(connection.owesRollback) { try connection.check() }
    guard _fastPath(!hasTransaction) else {
      ensureUndone { try execute(.rollback) }
      throw DatabaseError(
        .misuse, "the scope left a transaction open, which was rolled back; use inTransaction")
    }
  }

  private func runRead(_ body: (Database) throws -> Void) throws {
    // If nobody else can write, the scope needs no transaction, which takes a fifth of the time of a scope
    // with one look-up.
    let isAlone = connection.isAlone
    if !isAlone { try executeChecked(engine == nil ? .beginDeferred : .beginReading) }
    hasBegun = true
    try undoOnError {
      try runBody(isAlone ? [.writing, .transactionControl] : [.writing, .transaction], body)
    }
    // Nothing was written, so it doesn't matter how the snapshot ends. An error may have ended it already.
    if hasTransaction { try undoOnError { try execute(.commit) } }
  }

  /// Calls the body and closes the statements that it has left open. Inlined, since as a function it takes
  /// fifty more instructions.
  @inline(__always)
  private func runBody(
    _ restrictions: Restrictions, _ body: (Database) throws -> Void
  ) throws {
    isRollbackOnly = false
    connection.restrictions = restrictions
    // No defer: the compiler would make it a function of its own.
    do {
      try body(self)
    } catch {
      endBody()
      throw error
    }
    endBody()
  }

  @inline(__always)
  private func endBody() {
    connection.restrictions = []
    if _slowPath(hasOpenStatements) { closeOpenStatements() }
  }

  /// Rolls back what is open if the body throws.
  @inline(__always)
  private func undoOnError(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      undo()
      throw error
    }
  }

  @inline(never)
  private func undo() {
    connection.unblock([.cancellation, .rollback, .innerRollback])
    ensureUndone { try execute(.rollback) }
  }

  /// Commits, or rolls back if the body asked for it.
  private func finish() throws {
    if _slowPath(!hasTransaction) { try refuseToCommit() }
    if _slowPath(isRollbackOnly) { return try undoOnError { try execute(.rollback) } }
    guard connection.measuresCommits else { return try undoOnError { try execute(.commit) } }
    connection.commits.begin(at: MonotonicClock.nanoseconds)
    defer {
      connection.commits.end(at: MonotonicClock.nanoseconds)
      connection.onTimedCommit?(connection.commits.lastTime)
    }
    try undoOnError { try execute(.commit) }
  }
  @inline(never)
  private func refuseToCommit() throws {
    try connection.check()
    throw DatabaseError(.abort, Restrictions.endedTransaction)
  }
}
