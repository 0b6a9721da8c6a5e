import CSQLite
import Synchronization

/// The connection that writes, and the line of those who want it.
///
/// Whoever has the turn runs its transaction, then those of others that have come meanwhile, each in
/// a savepoint of its own, and commits once for all of them: waiting for the disk is shared. Nobody
/// returns before the commit that holds its work.
///
/// What makes it Sendable: the database is used by the holder of the turn only.
final class Writer: Turn, @unchecked Sendable {
  private let database: Database
  let interruptHandle: InterruptHandle
  let path: String?
  /// Which file it has open, for the connections that read the same.
  let location: FileLocation?
  private let sharesCommits: Bool
  private let busyTimeout: Duration
  let retryLimit: Duration?
  private let isClosed = Atomic<Bool>(false)
  private let runner = JobRunner()

  /// A group takes no more members than this, and none once it has lasted this long.
  private static let largestGroup = 512
  private static let longestGroup = Duration.milliseconds(2)

  init(path: String?, configuration: Configuration) throws {
    database = try Database(path: path, configuration: configuration)
    interruptHandle = database.interruptHandle
    self.path = path
    location = try database.fileLocation()
    sharesCommits = configuration.groupCommit
    busyTimeout = configuration.busyTimeout
    retryLimit = configuration.retryLimit
    database.connection.leave()
    super.init(timeout: configuration.scopeTimeout)
  }

  /// Runs a body in its turn, and waits for it.
  func perform<T>(
    _ kind: ScopeKind, _ scope: Scope, _ body: (Database) throws -> T
  ) throws -> T {
    if take() {
      defer { giveBack() }
      return try run(kind, scope, body)
    }
    return try withoutActuallyEscaping(body) { body in
      var result: T?
      let job = Job(kind, scope) { result = try body($0) }
      wait(for: job)
      try job.outcome.get()
      guard let result else { throw DatabaseError(.internal, "the scope has no result") }
      return result
    }
  }

  override func lead(_ job: Job) {
    let outcome = Result { try run(job.kind, job.scope) { try runner.call(job, $0) } }
    giveBack()
    job.finish(outcome)
  }

  /// Takes an asynchronous job out of the line, or interrupts it and has it rolled back.
  func cancel(_ job: Job) {
    job.isCancelled.store(true, ordering: .relaxed)
    if remove(job) {
      job.finish(.failure(CancellationError()))
      return
    }
    runner.interrupt(job, database.connection)
  }

  /// Waits for its turn and closes the connection; then, and before, closing again does nothing.
  func close() throws {
    let scope = try Scope.enter(self)
    if isClosed.load(ordering: .relaxed) { return }
    do {
      try perform(.plain, scope) { database in
        isClosed.store(true, ordering: .relaxed)
        database.closeEverything()
      }
    } catch let error as DatabaseError
      where error.code == .misuse && isClosed.load(ordering: .relaxed)
    {
      // Somebody else was first.
    }
  }

  // MARK: Transactions

  private func run<T>(
    _ kind: ScopeKind, _ scope: Scope, _ body: (Database) throws -> T
  ) throws -> T {
    guard sharesCommits, case .transaction(let transaction) = kind, transaction != .deferred else {
      return try database.runScope(scope, kind, body)
    }
    return try runGroup(transaction, scope, body)
  }

  /// The first body needs no savepoint: if it throws, the transaction is rolled back before
  /// anybody has joined.
  private func runGroup<T>(
    _ kind: TransactionKind, _ scope: Scope, _ body: (Database) throws -> T
  ) throws -> T {
    database.connection.takeOver()
    defer { database.connection.leave() }
    _ = try database.connection.check()
    try database.prepareToEnd()
    do {
      try database.execute(kind.control)
    } catch let error as DatabaseError where error.isBusy {
      // Those who have waited as long don't wait as long again, one after the other.
      let since = MonotonicClock.now - busyTimeout
      for job in popAll(waitingSince: since) { job.finish(.failure(error)) }
      throw error
    }
    let result = try database.undoOnError {
      try database.runBody(scope, .transaction, body)
    }
    try database.checkTransactionIsOpen()
    if database.isRollbackOnly {
      try database.undoOnError { try database.execute(.rollback) }
      return result
    }
    let members = try runMembers()
    let outcome = Result { try database.undoOnError { try database.execute(.commit) } }
    for member in members { member.finish(outcome) }
    try outcome.get()
    return result
  }

  /// Runs the transactions of those who wait, and returns those whose work is to be committed. On
  /// an error that has undone the work of all, all of them have got it.
  private func runMembers() throws -> [Job] {
    // A commit that can't succeed would take the others along.
    guard isWanted, !database.hasDeferredViolations else { return [] }
    var members: [Job] = []
    var end: Duration?
    while members.count < Self.largestGroup, let job = popFirst(where: mayJoin) {
      do {
        if try runMember(job) { members.append(job) }
      } catch {
        for member in members { member.finish(.failure(error)) }
        throw error
      }
      if let end, MonotonicClock.now > end { break }
      end = end ?? MonotonicClock.now + Self.longestGroup
    }
    return members
  }

  private func mayJoin(_ job: Job) -> Bool {
    if case .transaction(let kind) = job.kind { kind != .deferred } else { false }
  }

  /// Runs a job in a savepoint: true if its work is to be committed, false if it was undone and the
  /// job is finished. Throws if the whole transaction was undone.
  private func runMember(_ job: Job) throws -> Bool {
    do {
      try database.execute(.savepoint)
      try database.runBody(job.scope, .transaction) {
        try runner.call(job, $0, sharesTransaction: true)
      }
      try database.checkTransactionIsOpen()
      if database.isRollbackOnly {
        try undoMember()
        job.finish(.success(()))
        return false
      }
      try database.checkDeferredViolations()
      try database.execute(.release)
      return true
    } catch {
      database.ensureUndone(undoMember)
      if database.connection.owesRollback {
        // The work of a member that failed would be committed with that of the others.
        database.ensureUndone { try database.execute(.rollback) }
      }
      let isLost = !database.hasTransaction || database.connection.owesRollback
      job.finish(.failure(error))
      guard isLost else { return false }
      throw DatabaseError(
        (error as? DatabaseError)?.extendedCode ?? .abort,
        "a transaction that shared the commit made SQLite roll back all: \(error)")
    }
  }

  private func undoMember() throws {
    try database.execute(.rollbackTo)
    try database.execute(.release)
  }
}

extension Database {
  /// Whether deferred foreign keys are violated, so that a commit would fail.
  fileprivate var hasDeferredViolations: Bool {
    guard let handle = connection.usableHandle else { return false }
    var current: Int32 = 0
    var highest: Int32 = 0
    sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0)
    return current != 0
  }

  fileprivate func checkDeferredViolations() throws {
    guard hasDeferredViolations else { return }
    let message = "FOREIGN KEY constraint failed"
    throw DatabaseError(
      .constraintForeignKey, message,
      constraint: ConstraintViolation(code: .constraintForeignKey, message: message) { _, _ in
        false
      })
  }
}
