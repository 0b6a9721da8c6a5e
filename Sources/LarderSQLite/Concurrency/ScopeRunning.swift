import CSQLite
import Synchronization

/// The kind of a scope: what its body runs in.
@usableFromInline
enum ScopeKind: Sendable {
  /// No transaction but those that the body makes.
  case plain
  /// The same, with a body that is a savepoint as a whole.
  case savepoint
  /// A transaction.
  case transaction(TransactionKind)
  /// A snapshot that isn't written.
  case read

  var isRead: Bool { if case .read = self { true } else { false } }

  /// Whether it can run again as a whole: all that it did is undone when it fails.
  var isTransaction: Bool {
    switch self {
    case .transaction, .savepoint: true
    case .plain, .read: false
    }
  }
}

/// What comes of the scope of a task.
struct ScopeOutcome<Value: Sendable>: Sendable {
  var result: Result<Value, any Error>
  /// The position in the log of what it has made or seen, which its caller waits for.
  var position = 0
}

extension ScopeOutcome<Void> {
  /// The same with what the body has returned.
  func giving<T: Sendable>(_ value: T?) -> ScopeOutcome<T> {
    let given = Result {
      try result.get()
      guard let value else { throw DatabaseError(.internal, "the scope has no result") }
      return value
    }
    return ScopeOutcome<T>(result: given, position: position)
  }
}

/// Who runs the scopes of tasks: the writer, or the readers of a pool.
protocol ScopeRunner: AnyObject, Sendable {
  var scheduler: any TaskScheduler { get }
  /// Runs the scope of a task whose job the scheduler runs.
  func perform(
    _ task: WaitingTask, _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) -> ScopeOutcome<Void>
  /// Runs the scope of a task on the thread that the task is on, if it waits for nothing. Nil where it
  /// would: then nothing was done.
  func performAtOnce(
    _ task: WaitingTask, _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) -> ScopeOutcome<Void>?
  /// Takes a task that was cancelled out of the queue, or interrupts it.
  func cancel(_ task: WaitingTask)
}

extension Database {
  /// Runs a body as a scope on this thread, which then owns the connection, and leaves the
  /// connection clean: without open statements, transactions and restrictions.
  func runScope(_ kind: ScopeKind, _ body: (Database) throws -> Void) throws {
    connection.takeOver()
    hasBegun = false
    defer {
      if connection.changedSettings != nil { restoreSettings() }
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
    // What an error has left to be undone, of which the body may not have thrown.
    if connection.owesRollback { try connection.check() }
    guard !hasTransaction else {
      ensureUndone { try execute(.rollback) }
      throw DatabaseError(
        .misuse, "the scope left its transaction open, which was rolled back; use inTransaction")
    }
  }

  private func runRead(_ body: (Database) throws -> Void) throws {
    // Where nobody else can write there is no need for a transaction, which takes a fifth of the
    // time of a scope with one look-up.
    let isAlone = connection.isAlone
    if !isAlone { try executeChecked(engine == nil ? .beginDeferred : .beginReading) }
    hasBegun = true
    try undoOnError {
      try runBody(isAlone ? [.writing, .transactionControl] : [.writing, .transaction], body)
    }
    // Nothing was written: it doesn't matter how the snapshot ends, if it hasn't by an error.
    if hasTransaction { try undoOnError { try execute(.commit) } }
  }

  /// Calls the body and closes what it has left open. Written into its callers: as a function it is fifty instructions more.
  @inline(__always)
  private func runBody(
    _ restrictions: Restrictions, _ body: (Database) throws -> Void
  ) throws {
    isRollbackOnly = false
    connection.restrictions = restrictions
    // No defer, which the compiler makes a function of its own.
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
    if hasOpenStatements { closeOpenStatements() }
  }

  /// Rolls back what a body that throws has begun, or has left to SQLite to roll back.
  @inline(__always)
  private func undoOnError(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      undo()
      throw error
    }
  }

  private func undo() {
    connection.unblock([.cancellation, .rollback, .innerRollback])
    ensureUndone { try execute(.rollback) }
  }

  /// Commits, or rolls back where the body asked for it.
  private func finish() throws {
    guard hasTransaction else {
      try connection.check()
      throw DatabaseError(.abort, Restrictions.endedTransaction)
    }
    guard !isRollbackOnly, connection.measuresCommits else {
      return try undoOnError { try execute(isRollbackOnly ? .rollback : .commit) }
    }
    let start = MonotonicClock.nanoseconds
    defer { connection.addTimeInCommit(MonotonicClock.nanoseconds &- start) }
    try undoOnError { try execute(.commit) }
  }
}
