import CSQLite
import Dispatch
import Glibc
import Synchronization

/// Connections, up to a maximum, with a FIFO wait queue of the scopes that want one: SQLite's readers beside a
/// writer, or another engine's connections, each of which reads and writes.
///
/// Taking a connection and giving it back cost two atomic exchanges, on memory that differs by thread. With
/// one lock for all, four reading threads were three times slower than without.
///
/// Sendable because it has no state except that of its slots and what its lock guards.
final class ConnectionPool: ScopeRunner, @unchecked Sendable {
  let timeout: Duration
  private let opening: @Sendable () throws -> Database
  /// Whether each connection reads and writes, as on an engine other than SQLite.
  let canWrite: Bool
  let slots: [PooledConnection]
  /// Unretained references to ``slots``, which keeps them alive as long as this object. An array would
  /// itself be retained by each read.
  private let references: UnsafeMutableBufferPointer<Unmanaged<PooledConnection>>
  let queue = Lock(Queue())
  /// The barriers that keep scopes from taking an idle reader at once, as bits (see below).
  private let barriers = Atomic<UInt32>(0)
  /// The writing connection, which is closed after the readers.
  private weak var writer: Writer?
  /// The database's path; empty if it has none.
  let path: String
  /// The identity of the pool that these readers belong to.
  let owner: ObjectIdentifier
  let transactions = Atomic<Int>(0)
  /// The COMMITs, if the connections write.
  let commits = TimedWork()
  /// The number of scopes that have waited too long.
  let refusals = Atomic<Int>(0)
  /// The times of the connections' statements; nil if nobody asks for them. Set before the first is opened.
  var times: CallTimes?
  /// The time of opening by both clocks, from which the length of a tick is computed.
  let start = (time: MonotonicClock.nanoseconds, ticks: larder_ticks())

  /// The wait queue isn't empty.
  private static let waiting: UInt32 = 1
  /// The log is about to begin anew, during which nobody may read.
  static let gated: UInt32 = 2
  static let closed: UInt32 = 4
  /// Another file has taken the place of the database's.
  static let replaced: UInt32 = 8

  struct Queue {
    var waiting = WaitQueue()
    /// The semaphores of threads that wait until nobody reads.
    var idling: [DispatchSemaphore] = []
  }

  convenience init(beside writer: Writer, configuration: Configuration) {
    let location = writer.location
    var configuration = configuration
    configuration.readOnly = true
    self.init(
      beside: writer, maximum: configuration.maximumReaders, timeout: configuration.scopeTimeout
    ) { [configuration] in
      guard let location else {
        throw DatabaseError(.cannotOpen, "only a database in a file can have readers")
      }
      return try Database(at: location, configuration: configuration)
    }
  }

  /// - Parameter writer: nil if each connection reads and writes.
  init(
    beside writer: Writer? = nil, maximum: Int, timeout: Duration,
    open: @escaping @Sendable () throws -> Database
  ) {
    self.writer = writer
    path = writer?.location?.path ?? ""
    canWrite = writer == nil
    opening = open
    self.timeout = timeout.bounded
    slots = (0..<max(1, maximum)).map { _ in PooledConnection() }
    owner = writer.map { ObjectIdentifier($0) } ?? ObjectIdentifier(slots[0])
    references = .allocate(capacity: slots.count)
    _ = references.initialize(from: slots.map(Unmanaged.passUnretained))
  }

  deinit { references.deallocate() }

  var maximum: Int { slots.count }

  // MARK: Scopes

  /// Runs a body on a reader, and waits for one if all are busy.
  func perform(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws {
    guard let slot = claimIdle() else { return try performAfterWait(kind, call, body) }
    slot._withUnsafeGuaranteedRef { $0.note(call) }
    // Unretained: reference counting takes a third of an empty read's time.
    defer { slot._withUnsafeGuaranteedRef { giveBack($0) } }
    if canWrite { try replaceIfLost(slot.takeUnretainedValue()) }
    try run(slot._withUnsafeGuaranteedRef { $0.reference }, kind, body)
  }

  private func performAfterWait(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws {
    let start = MonotonicClock.now
    let slot = try wait()
    slot.note(call)
    defer { giveBack(slot) }
    if canWrite { try replaceIfLost(slot) }
    slot.database?.connection.waited = MonotonicClock.now - start
    defer { slot.database?.connection.waited = .zero }
    try run(slot.reference, kind, body)
  }

  @inline(__always)
  private func run(
    _ database: Unmanaged<Database>?, _ kind: ScopeKind, _ body: (Database) throws -> Void
  ) throws {
    guard let database else { throw Self.unopenedError }
    try database._withUnsafeGuaranteedRef { database in
      try enter(kind) { try database.runScope(kind, body) }
    }
  }

  /// Notes what this thread holds while a body runs.
  @inline(__always)
  private func enter(_ kind: ScopeKind, _ body: () throws -> Void) throws {
    guard canWrite, !kind.isRead else { return try EnteredScope.run(owner, .reader, body) }
    transactions.wrappingAdd(1, ordering: .relaxed)
    try EnteredScope.run(owner, .serverConnection, body)
  }

  var scheduler: any TaskScheduler { self }

  func perform(
    _ task: WaitingTask, _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) -> ScopeOutcome<Void> {
    let result: Result<Void, any Error> = Result {
      guard let slot = task.slot else {
        throw DatabaseError(.internal, "the task was given no reader")
      }
      slot.note(call)
      defer { giveBack(slot) }
      if canWrite { try replaceIfLost(slot) }
      guard let database = slot.database else { throw Self.unopenedError }
      database.connection.waited = MonotonicClock.now - task.start
      defer { database.connection.waited = .zero }
      try slot.cancellation.run(task, on: database) {
        try enter(kind) {
          try database.runScope(kind) { database in
            try body(database)
            // In other kinds of scope, the body's changes stay.
            switch kind {
            case .read, .transaction: try task.checkCancellation()
            case .plain, .savepoint: break
            }
          }
        }
      }
    }
    return ScopeOutcome(result: result)
  }

  func performAtOnce(
    _ task: WaitingTask, _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) -> ScopeOutcome<Void>? {
    // A call to a server blocks, which mustn't happen on a thread of the cooperative pool.
    guard !canWrite, let slot = claimIdle() else { return nil }
    task.slot = slot.takeUnretainedValue()
    return perform(task, kind, call, body)
  }

  func cancel(_ task: WaitingTask) {
    if leave(task) { return task.refuse(CancellationError()) }
    // Only the reader that the task was given, if any, runs it.
    for slot in slots { slot.cancellation.cancel(task) }
  }

  /// Claims an idle slot, unless a barrier forbids it.
  @inline(__always)
  private func claimIdle() -> Unmanaged<PooledConnection>? {
    // Each thread begins at a reader of its own, whose cache has the pages that the thread needs.
    let count = references.count
    // Threads created in sequence lie a stack and its guard page apart, which spreads these numbers. The mask
    // avoids a division, which takes a tenth of an empty read's time.
    let number = Int(UInt(pthread_self()) >> 12)
    var index = count & (count - 1) == 0 ? number & (count - 1) : number % count
    for _ in 0..<count {
      let reference = references[index]
      let isTaken = reference._withUnsafeGuaranteedRef {
        $0.change(from: PooledConnection.idle, to: PooledConnection.busy)
      }
      if isTaken {
        guard !isBarred(by: ~Self.waiting) else {
          reference._withUnsafeGuaranteedRef { giveBack($0) }
          return nil
        }
        reference._withUnsafeGuaranteedRef { $0.begin() }
        return reference
      }
      index = index + 1 == count ? 0 : index + 1
    }
    return nil
  }

  /// Opens another reader, or waits for one on this thread.
  private func wait() throws -> PooledConnection {
    let waiter = WaitingThread()
    if let slot = try join(waiter, taking: PooledConnection.empty) {
      do {
        try open(slot)
      } catch {
        giveBack(slot)
        throw error
      }
      slot.begin()
      return slot
    }
    while true {
      switch waiter.sleep(until: waiter.start + timeout) {
      case .granted, .awake:
        guard let slot = waiter.slot else { return try wait() }
        slot.begin()
        return slot
      case .none:
        if leave(waiter) { throw timeoutError() }
      }
    }
  }

  /// Appends a scope to the queue, or returns a reader that it has got instead, idle or not opened yet.
  private func join(_ waiter: WaitingScope, taking state: UInt32) throws -> PooledConnection? {
    try queue.withLock { queue in
      let isGated = isBarred(by: Self.gated)
      guard !isBarred(by: Self.closed | Self.replaced) else { throw refusal }
      // Raises the flag first, then looks for a reader; giving one back does it in the reverse order.
      raise(Self.waiting)
      if !isGated, queue.waiting.isEmpty, let slot = claim(PooledConnection.idle) ?? claim(state) {
        lower(Self.waiting)
        return slot
      }
      if queue.waiting.append(waiter) { sweepLater() }
      return nil
    }
  }

  private func claim(_ state: UInt32, as new: UInt32 = PooledConnection.busy) -> PooledConnection? {
    slots.first { $0.change(from: state, to: new) }
  }

  private func leave(_ waiter: WaitingScope) -> Bool {
    queue.withLock { queue in
      guard waiter.links.isListed else { return false }
      queue.waiting.remove(waiter)
      removed(queue)
      return true
    }
  }

  func removed(_ queue: Queue) {
    if queue.waiting.isEmpty { lower(Self.waiting) }
  }

  /// Opens the connection of a reader that the caller has taken, unless it is open.
  private func open(_ slot: PooledConnection) throws {
    guard slot.database == nil else { return }
    let database = try opening()
    database.connection.leave()
    times?.timeStatements(of: database.connection)
    database.connection.currentLabel = { [unowned slot] in slot.call.name }
    slot.database = database
    if canWrite { slot.interrupts.withLock { $0 = database.interruptHandle } }
  }

  /// Replaces a connection that was lost while idle, before it is used.
  private func replaceIfLost(_ slot: PooledConnection) throws {
    if slot.database?.engine?.isAlive() == true { return }
    slot.database = nil
    try open(slot)
  }

  /// Gives a reader back: to the first scope in the queue, or to the idle ones.
  func giveBack(_ slot: PooledConnection) {
    // A connection that was lost, or couldn't be reset, is opened anew for its next user.
    if canWrite, let connection = slot.database?.connection {
      commits.take(connection.commits)
      connection.engine?.endScope()
      if slot.database?.isOpen == false { slot.database = nil }
    }
    let state = slot.database == nil ? PooledConnection.empty : PooledConnection.idle
    slot.state.store(state, ordering: .sequentiallyConsistent)
    if isBarred(by: ~0) { serve() }
  }

  /// Gives idle readers to waiting scopes, unless the gate is down. Scopes that were called before the pool
  /// was closed still get one.
  func serve() {
    var served: [WaitingScope] = []
    queue.withLock { queue in
      if !isBarred(by: Self.gated) {
        while let first = queue.waiting.first, let slot = claim(PooledConnection.idle) {
          queue.waiting.remove(first)
          queue.waiting.noteSuccess(of: first, at: MonotonicClock.now)
          first.slot = slot
          (first as? WaitingThread)?.tell(.granted)
          served.append(first)
        }
        removed(queue)
        // Opens another one for the first in the queue, for instance after the last one couldn't be opened.
        typealias State = PooledConnection
        if let first = queue.waiting.first, let slot = claim(State.empty, as: State.opening) {
          let writer = writer
          slot.worker.async {
            self.open(slot, for: first)
            withExtendedLifetime(writer) {}
          }
        }
      }
      if isBarred(by: Self.gated | Self.closed), !isInUse(queue) {
        for semaphore in queue.idling { semaphore.signal() }
        queue.idling = []
      }
    }
    for scope in served { wake(scope) }
  }

  private func wake(_ scope: WaitingScope) {
    if let task = scope.asTask, let slot = task.slot {
      slot.worker.async {
        slot.begin()
        task.run()
      }
    } else {
      (scope as? WaitingThread)?.wake()
    }
  }

  /// Opens a reader on this thread for the first scope in the queue. If that fails, the scope gets the error,
  /// unless it has left the queue.
  private func open(_ slot: PooledConnection, for waiter: WaitingScope) {
    var failure: (any Error)?
    do { try open(slot) } catch { if leave(waiter) { failure = error } }
    giveBack(slot)
    // The pool may have been released meanwhile.
    if isBarred(by: Self.closed) { releaseIdle() }
    guard let failure else { return }
    if let task = waiter.asTask {
      task.refuse(failure)
    } else if let thread = waiter as? WaitingThread {
      // The thread tries to open one by itself, and gets the error.
      thread.tell(.awake)
      thread.wake()
    }
  }

  func raise(_ barrier: UInt32) {
    barriers.bitwiseOr(barrier, ordering: .sequentiallyConsistent)
  }

  func lower(_ barrier: UInt32) {
    barriers.bitwiseAnd(~barrier, ordering: .sequentiallyConsistent)
  }

  @inline(__always)
  func isBarred(by mask: UInt32) -> Bool {
    barriers.load(ordering: .sequentiallyConsistent) & mask != 0
  }
}

extension ConnectionPool: TaskScheduler {
  func submit(_ task: WaitingTask) {
    do {
      if let slot = try claimIdle()?.takeUnretainedValue()
        ?? join(task, taking: PooledConnection.idle)
      {
        task.slot = slot
        wake(task)
      } else {
        // Opens another reader for the first in the queue, on a thread that may block.
        serve()
      }
    } catch {
      task.refuse(error)
    }
    // The task may have been cancelled before its job was submitted.
    if task.isCancelled { cancel(task) }
  }

  func refuseLate() -> Bool {
    let (late, goesOn) = queue.withLock { queue in
      let late = queue.waiting.removeTasks(waitingSince: MonotonicClock.now - timeout)
      removed(queue)
      return (late, queue.waiting.isSwept)
    }
    for task in late { task.refuse(timeoutError()) }
    return goesOn
  }
}
