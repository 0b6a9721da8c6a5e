import CSQLite
import Dispatch
import Glibc
import Synchronization

/// The connections of a pool that read, up to a number of them, and the FIFO wait queue of those who want
/// one.
///
/// Taking a reader and giving it back cost two atomic exchanges, on memory that differs by thread: with
/// one lock for all, four threads that read were three times slower than without.
///
/// What makes it Sendable: it has no state but the readers' and what its lock guards.
final class Readers: ScopeRunner, @unchecked Sendable {
  let timeout: Duration
  private let opening: @Sendable () throws -> Database
  /// Whether each reads and writes, as with another engine than SQLite.
  let areWriters: Bool
  let readers: [Reader]
  /// The same, not retained: ``readers`` keeps them as long as this object lives. An array would itself
  /// be retained by each read.
  private let references: UnsafeMutableBufferPointer<Unmanaged<Reader>>
  let queue = Lock(Queue())
  /// What keeps scopes from taking an idle reader at once: bits of the following.
  private let barriers = Atomic<UInt32>(0)
  /// The connection that writes, which is closed after those that read.
  private weak var writer: Writer?
  /// The database's; empty where there is none.
  let path: String
  /// What is the same for all scopes of the pool.
  let owner: ObjectIdentifier
  let transactions = Atomic<Int>(0)
  /// In nanoseconds, where they write.
  let timeInCommit = Atomic<Int>(0)
  /// When the pool was opened, by both clocks: from then to now tells how long a tick is.
  let start = (time: MonotonicClock.nanoseconds, ticks: larder_ticks())

  /// Others wait already.
  private static let waiting: UInt32 = 1
  /// The log is about to begin anew, for which nobody may read.
  static let gated: UInt32 = 2
  static let closed: UInt32 = 4
  /// Another file has taken the place of the database's.
  static let replaced: UInt32 = 8

  struct Queue {
    var waiting = WaitQueue()
    /// What is told of those who had to wait.
    var figures = AccessStatistics()
    /// Who waits until nobody reads.
    var idling: [DispatchSemaphore] = []
  }

  init(beside writer: Writer, configuration: Configuration) {
    self.writer = writer
    owner = ObjectIdentifier(writer)
    let location = writer.location
    path = location?.path ?? ""
    var configuration = configuration
    configuration.readOnly = true
    opening = { [configuration] in
      guard let location else { throw DatabaseError(.cannotOpen, "only files have readers") }
      return try Database(at: location, configuration: configuration)
    }
    areWriters = false
    timeout = configuration.scopeTimeout.bounded
    readers = (0..<max(1, configuration.maximumReaders)).map { _ in Reader() }
    references = .allocate(capacity: readers.count)
    _ = references.initialize(from: readers.map(Unmanaged.passUnretained))
  }

  /// For a pool of connections that each read and write.
  init(maximum: Int, timeout: Duration, open: @escaping @Sendable () throws -> Database) {
    opening = open
    path = ""
    areWriters = true
    self.timeout = timeout.bounded
    readers = (0..<max(1, maximum)).map { _ in Reader() }
    owner = ObjectIdentifier(readers[0])
    references = .allocate(capacity: readers.count)
    _ = references.initialize(from: readers.map(Unmanaged.passUnretained))
  }

  deinit { references.deallocate() }

  /// How many there can be.
  var maximum: Int { readers.count }

  /// Stops what runs on any of them.
  func interrupt() {
    for reader in readers { reader.interrupts.withLock { $0 }?.interrupt() }
  }

  // MARK: Scopes

  /// Runs a body on a reader, and waits for one if all are busy.
  func perform(_ kind: ScopeKind, _ body: (Database) throws -> Void) throws {
    guard let reader = takeIdle() else { return try performAfterWait(kind, body) }
    // Counting references takes a third of an empty read's time.
    defer { reader._withUnsafeGuaranteedRef { giveBack($0) } }
    if areWriters { try replaceIfLost(reader.takeUnretainedValue()) }
    try run(reader._withUnsafeGuaranteedRef { $0.reference }, kind, body)
  }

  private func performAfterWait(_ kind: ScopeKind, _ body: (Database) throws -> Void) throws {
    let start = MonotonicClock.now
    let reader = try wait()
    defer { giveBack(reader) }
    if areWriters { try replaceIfLost(reader) }
    let connection = reader.database?.connection
    connection?.waited = MonotonicClock.now - start
    defer { connection?.waited = .zero }
    try run(reader.reference, kind, body)
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
    guard areWriters else { return try EnteredScope.run(owner, .reader, body) }
    if kind.isRead { return try EnteredScope.run(owner, .reader, body) }
    transactions.add(1, ordering: .relaxed)
    try EnteredScope.run(owner, .readerThatWrites, body)
  }

  var scheduler: any TaskScheduler { self }

  /// Runs the body of a task that was given a reader.
  func perform(
    _ task: WaitingTask, _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) -> ScopeOutcome<Void> {
    let result: Result<Void, any Error> = Result {
      guard let reader = task.reader else {
        throw DatabaseError(.internal, "the task was given no reader")
      }
      defer { giveBack(reader) }
      if areWriters { try replaceIfLost(reader) }
      guard let database = reader.database else { throw Self.unopenedError }
      database.connection.waited = MonotonicClock.now - task.start
      defer { database.connection.waited = .zero }
      try reader.cancellation.run(task, on: database) {
        try enter(kind) {
          try database.runScope(kind) { database in
            try body(database)
            // In other scopes what the body has done stays.
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
    // A server is waited for, which a thread of the cooperative pool mustn't do.
    guard !areWriters, let reader = takeIdle() else { return nil }
    task.reader = reader.takeUnretainedValue()
    return perform(task, kind, call, body)
  }

  func cancel(_ task: WaitingTask) {
    if leave(task) { return task.refuse(CancellationError()) }
    // Only the one that it was given, if any, runs it.
    for reader in readers { reader.cancellation.cancel(task) }
  }

  /// An idle reader, if anybody may take one.
  @inline(__always)
  private func takeIdle() -> Unmanaged<Reader>? {
    // Each thread begins at a place of its own, where its pages are in the cache.
    let count = references.count
    // Threads that were made one after the other are a stack and its guard page apart. A division takes a
    // tenth of an empty read's time.
    let number = UInt(pthread_self()) >> 12
    var index = Int(
      count & (count - 1) == 0 ? number & UInt(count - 1) : number % UInt(count))
    for _ in 0..<count {
      let reference = references[index]
      let isTaken = reference._withUnsafeGuaranteedRef {
        $0.change(from: Reader.idle, to: Reader.busy)
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
  private func wait() throws -> Reader {
    let waiter = WaitingThread()
    if let reader = try join(waiter, taking: Reader.empty) {
      do {
        try open(reader)
      } catch {
        giveBack(reader)
        throw error
      }
      reader.begin()
      return reader
    }
    while true {
      switch waiter.sleep(until: waiter.start + timeout) {
      case .granted, .awake:
        guard let reader = waiter.reader else { return try wait() }
        reader.begin()
        return reader
      case .none:
        if leave(waiter) { throw timeoutError() }
      }
    }
  }

  /// Puts a scope into the queue; returns a reader that it has got instead, idle or with nothing open.
  private func join(_ waiter: WaitingScope, taking state: UInt32) throws -> Reader? {
    try queue.withLock { queue in
      let isGated = isBarred(by: Self.gated)
      guard !isBarred(by: Self.closed | Self.replaced) else { throw refusal }
      // First says that it waits, then looks: who gives one back does it the other way round.
      raise(Self.waiting)
      if !isGated, queue.waiting.isEmpty, let reader = take(Reader.idle) ?? take(state) {
        lower(Self.waiting)
        return reader
      }
      if queue.waiting.append(waiter) { sweepLater() }
      queue.figures.mostWaiting = max(queue.figures.mostWaiting, queue.waiting.count)
      return nil
    }
  }

  private func take(_ state: UInt32, as new: UInt32 = Reader.busy) -> Reader? {
    readers.first { $0.change(from: state, to: new) }
  }

  private func leave(_ waiter: WaitingScope) -> Bool {
    queue.withLock { queue in
      guard waiter.isQueued else { return false }
      queue.waiting.remove(waiter)
      removed(queue)
      return true
    }
  }

  func removed(_ queue: Queue) {
    if queue.waiting.isEmpty { lower(Self.waiting) }
  }

  /// A reader whose place is taken, with a connection.
  private func open(_ reader: Reader) throws {
    guard reader.database == nil else { return }
    let database = try opening()
    database.connection.leave()
    reader.database = database
    if areWriters { reader.interrupts.withLock { $0 = database.interruptHandle } }
  }

  /// Replaces a connection that was lost while nobody used it, before anybody does.
  private func replaceIfLost(_ reader: Reader) throws {
    if reader.database?.engine?.isAlive() == true { return }
    reader.database = nil
    try open(reader)
  }

  /// Gives a reader to the first in the queue, or keeps it.
  func giveBack(_ reader: Reader) {
    // One that was lost is opened anew by whoever is next, and one that isn't as it was.
    if areWriters, let connection = reader.database?.connection {
      timeInCommit.add(connection.takeTimeInCommit(), ordering: .relaxed)
      connection.engine?.endScope()
      if reader.database?.isOpen == false { reader.database = nil }
    }
    let state = reader.database == nil ? Reader.empty : Reader.idle
    reader.state.store(state, ordering: .sequentiallyConsistent)
    if isBarred(by: ~0) { serve() }
  }

  /// Gives idle readers to those who wait, unless nobody may read. Who had called before the pool was closed may.
  func serve() {
    var served: [WaitingScope] = []
    queue.withLock { queue in
      if !isBarred(by: Self.gated) {
        while let first = queue.waiting.first, let reader = take(Reader.idle) {
          queue.waiting.remove(first)
          queue.figures.noteWait(MonotonicClock.now - first.start)
          first.reader = reader
          (first as? WaitingThread)?.tell(.granted)
          served.append(first)
        }
        removed(queue)
        // Where a connection couldn't be opened, the next may try.
        if let first = queue.waiting.first, let reader = take(Reader.empty, as: Reader.opening) {
          let writer = writer
          reader.worker.async {
            self.open(reader, for: first)
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
    if let task = scope.asTask, let reader = task.reader {
      reader.worker.async {
        reader.begin()
        task.run()
      }
    } else {
      (scope as? WaitingThread)?.wake()
    }
  }

  /// Opens a reader on this thread, for the first in the queue. What it throws, the scope gets for which
  /// it was opened, if that waits still.
  private func open(_ reader: Reader, for waiter: WaitingScope) {
    var failure: (any Error)?
    do { try open(reader) } catch { if leave(waiter) { failure = error } }
    giveBack(reader)
    // The pool may have been let go of meanwhile.
    if isBarred(by: Self.closed) { releaseIdle() }
    guard let failure else { return }
    if let task = waiter.asTask {
      task.refuse(failure)
    } else if let thread = waiter as? WaitingThread {
      // It tries by itself, and gets the error.
      thread.tell(.awake)
      thread.wake()
    }
  }

  // MARK: Barriers

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

extension Readers: TaskScheduler {
  func submit(_ task: WaitingTask) {
    do {
      if let reader = try takeIdle()?.takeUnretainedValue() ?? join(task, taking: Reader.idle) {
        task.reader = reader
        wake(task)
      } else {
        // One is opened beside those in use, on a thread that may wait, and goes to the first in the queue.
        serve()
      }
    } catch {
      task.refuse(error)
    }
    // A task may be cancelled before its job is there.
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
