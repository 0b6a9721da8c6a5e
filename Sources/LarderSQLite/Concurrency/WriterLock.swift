import CSQLite
import Dispatch
import Synchronization

/// The writer lock: a mutex with a FIFO wait queue, bounded barging and hand-off, for threads and tasks.
///
/// Acquiring and releasing cost one atomic exchange each if nobody waits. If somebody does, a release leaves
/// the lock open and wakes the first in the queue. So a running thread can take the lock again before the
/// other is awake (barging): handing it over each time would put a thread to sleep per transaction, which
/// halves the throughput. After a millisecond the lock is handed to the first in the queue, which bounds the
/// unfairness, as parking-lot locks do.
///
/// Tasks run on a thread of the lock's own, which keeps the lock from one task to the next.
///
/// Sendable because it has no state except atomics and what its inner lock guards.
final class WriterLock: @unchecked Sendable {
  let timeout: Duration
  private let state = Atomic<UInt32>(free)
  private let queue = Lock(Queue())
  /// The label and line of the ``ScopeCall`` whose scope holds the lock.
  private let holderLabel = Atomic<UInt>(0)
  private let holderLine = Atomic<UInt>(0)
  /// Incremented with each holder.
  private let holderNumber = Atomic<UInt>(0)
  /// How many scopes have waited too long.
  private let refusals = Atomic<Int>(0)
  private let worker = DispatchQueue(label: "larder.writer")

  private struct Queue {
    var waiting = WaitQueue()
    /// The time at which the lock was last handed over, or taken by a scope that had waited.
    var lastHandOff = Duration.zero
    /// The holder that was last seen, and a time since which it has had the lock at least.
    var seen: (holder: UInt, since: Duration) = (0, .zero)
  }

  private static let free: UInt32 = 0
  private static let held: UInt32 = 1
  /// Held, and the queue isn't empty.
  private static let contended: UInt32 = 2
  /// Free, although the queue isn't empty: the first in it is awake, and any thread may take the lock before
  /// it.
  private static let open: UInt32 = 3

  /// How long others may barge past the first in the queue.
  private static let longestBarging = Duration.milliseconds(1)

  /// - Parameter timeout: how long a scope waits.
  init(timeout: Duration) { self.timeout = timeout.bounded }

  /// Whether somebody holds the lock just now.
  var isHeld: Bool {
    let state = state.load(ordering: .relaxed)
    return state == Self.held || state == Self.contended
  }

  /// Acquires the lock, and returns how long that took. Throws when the time is up.
  func acquire(_ call: ScopeCall, within limit: Duration? = nil) throws -> Duration {
    if acquireAtOnce(call) { return .zero }
    return try acquireLater(call, within: limit)
  }

  @inline(never)
  private func acquireLater(_ call: ScopeCall, within limit: Duration?) throws -> Duration {
    let waiter = WaitingThread()
    if !watch(from: waiter.start), !join(waiter) {
      try wait(waiter, until: waiter.start + (limit ?? timeout))
    }
    note(call)
    return MonotonicClock.now - waiter.start
  }

  /// Spins for a short time while the lock is held and the queue is empty.
  private func watch(from start: Duration) -> Bool {
    guard spins else { return false }
    while state.load(ordering: .relaxed) == Self.held {
      for _ in 0..<20 { larder_pause() }
      if tryAcquire() { return true }
      if MonotonicClock.now - start > .microseconds(20) { return false }
    }
    return tryAcquire()
  }

  var spins = false

  /// Acquires the lock if nobody holds it.
  @inline(__always)
  func acquireAtOnce(_ call: ScopeCall) -> Bool {
    guard tryAcquire() else { return false }
    note(call)
    return true
  }

  @inline(__always)
  private func tryAcquire() -> Bool {
    if exchange(Self.free, Self.held) { return true }
    return state.load(ordering: .relaxed) == Self.open && exchange(Self.open, Self.contended)
  }

  @inline(__always)
  private func exchange(_ expected: UInt32, _ desired: UInt32) -> Bool {
    state.compareExchange(
      expected: expected, desired: desired, successOrdering: .acquiringAndReleasing,
      failureOrdering: .relaxed
    ).exchanged
  }

  /// Notes whose scope holds the lock.
  @inline(__always)
  func note(_ call: ScopeCall) {
    holderNumber.store(holderNumber.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    holderLabel.store(call.label, ordering: .relaxed)
    holderLine.store(call.line, ordering: .relaxed)
  }

  /// Appends a scope to the queue; true if it has got the lock instead.
  private func join(_ waiter: WaitingScope) -> Bool {
    queue.withLock { queue in
      while true {
        if tryAcquire() { return true }
        let current = state.load(ordering: .relaxed)
        if current == Self.contended || current == Self.held && exchange(current, Self.contended) {
          break
        }
      }
      let holder = holderNumber.load(ordering: .relaxed)
      if queue.seen.holder != holder { queue.seen = (holder, waiter.start) }
      if queue.waiting.append(waiter) { sweepLater() }
      return false
    }
  }

  /// Reserves the lock: the next release hands it to the reservation, before all that wait. Called by the
  /// holder.
  func reserve() -> WaitingThread {
    let reservation = WaitingThread()
    queue.withLock { queue in
      _ = exchange(Self.held, Self.contended)
      // A task that was told to compete isn't the first any more, and has to be woken again.
      queue.waiting.first?.asTask?.isAwake = false
      queue.waiting.prepend(reservation)
      queue.lastHandOff = .zero
    }
    return reservation
  }

  /// Waits for the reserved lock. False once the time is up; then the reservation is void.
  func redeem(_ reservation: WaitingThread, _ call: ScopeCall, within limit: Duration) -> Bool {
    let signal = reservation.sleep(until: MonotonicClock.now + limit)
    // Otherwise the lock was handed over at the last moment.
    if signal != .granted, leave(reservation) { return false }
    note(call)
    return true
  }

  private func wait(_ waiter: WaitingThread, until deadline: Duration) throws {
    var pause = Self.shortestPause
    while true {
      switch waiter.sleep(until: deadline) {
      case .granted: return
      case .awake:
        switch compete(waiter) {
        case .won: return
        case .lost: pause = Self.shortestPause
        case .mayTryAgain:
          waiter.pause(for: pause)
          pause = pause * 2
        }
      case .none:
        // Otherwise the lock was handed over at the last moment, which the next look tells.
        if leave(waiter) { throw timeoutError() }
      }
    }
  }

  /// Takes the lock for the first in the queue, if nobody was faster.
  private func compete(_ waiter: WaitingThread) -> Competition {
    queue.withLock { queue in
      guard waiter.links.isListed else { return .won }
      if exchange(Self.open, Self.contended) {
        queue.waiting.remove(waiter)
        handedOver(to: waiter, &queue)
        return .won
      }
      if MonotonicClock.now - queue.lastHandOff < Self.longestBarging { return .mayTryAgain }
      waiter.isAwake = false
      waiter.tell(.none)
      return .lost
    }
  }

  /// The result of competing for the lock. A thread that was barged past tries again by itself, after pauses
  /// that double: waking it with each release would cost a system call per transaction.
  private enum Competition {
    case won, lost, mayTryAgain
  }

  private static let shortestPause = Duration.microseconds(40)

  /// Notes that a scope which has left the queue holds the lock.
  private func handedOver(to waiter: WaitingScope, _ queue: inout Queue) {
    if queue.waiting.isEmpty { state.store(Self.held, ordering: .relaxed) }
    let now = MonotonicClock.now
    queue.lastHandOff = now
    // The holder increments the number.
    queue.seen = (holderNumber.load(ordering: .relaxed) &+ 1, now)
    queue.waiting.noteSuccess(of: waiter, at: now)
  }

  /// Releases the lock, for the first in the queue or for a faster thread.
  func release() {
    if !exchange(Self.held, Self.free) { go(on: queue.withLock { releaseContended(&$0) }) }
  }

  /// The waiter to wake after a release, outside of the inner lock.
  private enum Successor {
    case nobody
    case thread(WaitingThread)
    /// A task that holds the lock; nil for the first in the queue, which has to compete for it.
    case task(WaitingTask?)
  }

  private func releaseContended(_ queue: inout Queue) -> Successor {
    guard let first = queue.waiting.first else {
      state.store(Self.free, ordering: .releasing)
      return .nobody
    }
    guard MonotonicClock.now - queue.lastHandOff > Self.longestBarging else {
      state.store(Self.open, ordering: .releasing)
      return awake(first)
    }
    queue.waiting.remove(first)
    handedOver(to: first, &queue)
    guard let thread = first as? WaitingThread else { return .task(first.asTask) }
    thread.tell(.granted)
    return .thread(thread)
  }

  /// Makes the first in the queue compete for the lock.
  private func awake(_ first: WaitingScope) -> Successor {
    guard !first.isAwake else { return .nobody }
    first.isAwake = true
    guard let thread = first as? WaitingThread else { return .task(nil) }
    thread.tell(.awake)
    return .thread(thread)
  }

  private func go(on successor: Successor) {
    switch successor {
    case .nobody: break
    case .thread(let thread): thread.wake()
    case .task(let task): worker.async { self.runTasks(task) }
    }
  }

  /// Removes a scope from the queue; false if it isn't in it any more.
  private func leave(_ waiter: WaitingScope) -> Bool {
    let successor: Successor? = queue.withLock { queue in
      guard waiter.links.isListed else { return nil }
      queue.waiting.remove(waiter)
      return removed(&queue)
    }
    guard let successor else { return false }
    go(on: successor)
    return true
  }

  /// Updates the state after a scope has left the queue. The next one may have to be woken in its place.
  private func removed(_ queue: inout Queue) -> Successor {
    guard let first = queue.waiting.first else {
      while !exchange(Self.contended, Self.held), !exchange(Self.open, Self.free) {}
      return .nobody
    }
    return state.load(ordering: .relaxed) == Self.open ? awake(first) : .nobody
  }

  private func timeoutError() -> DatabaseError {
    refusals.wrappingAdd(1, ordering: .relaxed)
    let now = MonotonicClock.now
    let seen = queue.withLock { $0.seen }
    var text = "waited longer than \(timeout) for its turn to write"
    let call = holderCall
    if call.line > 0 {
      text += "; \(call) holds the writer"
      if seen.holder == holderNumber.load(ordering: .relaxed) {
        text += ", for \((now - seen.since).inMilliseconds) ms or longer"
      }
    }
    return DatabaseError(.busyTimeout, text)
  }

  /// The statistics of the waits, and the holder.
  var statistics: AccessStatistics {
    let holder = holderNumber.load(ordering: .relaxed)
    var (statistics, since) = queue.withLock { queue in
      if queue.seen.holder != holder { queue.seen = (holder, MonotonicClock.now) }
      return (queue.waiting.statistics, queue.seen.since)
    }
    statistics.refusals = refusals.load(ordering: .relaxed)
    if isHeld {
      statistics.writer = AccessStatistics.Holder(
        label: holderCall.name ?? holderCall.description, duration: MonotonicClock.now - since)
    }
    return statistics
  }

  /// The call of the scope that holds the lock, or has held it last.
  var holderCall: ScopeCall {
    ScopeCall(
      label: holderLabel.load(ordering: .relaxed), line: holderLine.load(ordering: .relaxed))
  }

  /// How many scopes wait for the lock.
  var waitingCount: Int { queue.withLock { $0.waiting.count } }
}

extension WriterLock: TaskScheduler {
  func submit(_ task: WaitingTask) {
    if join(task) { worker.async { self.runTasks(task) } }
    // The task may have been cancelled before its job was submitted.
    if task.isCancelled { cancel(task) }
  }

  func cancel(_ task: WaitingTask) {
    if leave(task) { task.refuse(CancellationError()) }
  }

  /// Runs a task that holds the lock (nil: the first in the queue, if it is faster than others). Then runs
  /// the tasks behind it in the queue, without releasing the lock between them.
  private func runTasks(_ task: WaitingTask?) {
    var next = task ?? queue.withLock { takeTask(&$0) }
    while let task = next {
      task.run()
      next = releaseToTask()
    }
  }

  private func takeTask(_ queue: inout Queue) -> WaitingTask? {
    guard let task = queue.waiting.first?.asTask else { return nil }
    guard exchange(Self.open, Self.contended) else {
      task.isAwake = false
      return nil
    }
    queue.waiting.remove(task)
    handedOver(to: task, &queue)
    return task
  }

  private func releaseToTask() -> WaitingTask? {
    if exchange(Self.held, Self.free) { return nil }
    let (task, successor): (WaitingTask?, Successor) = queue.withLock { queue in
      guard let task = queue.waiting.first?.asTask else { return (nil, releaseContended(&queue)) }
      queue.waiting.remove(task)
      handedOver(to: task, &queue)
      return (task, .nobody)
    }
    go(on: successor)
    return task
  }

  func refuseLate() -> Bool {
    let (late, successor, goesOn) = queue.withLock { queue in
      let late = queue.waiting.removeTasks(waitingSince: MonotonicClock.now - timeout)
      return (late, late.isEmpty ? .nobody : removed(&queue), queue.waiting.isSwept)
    }
    go(on: successor)
    for task in late { task.refuse(timeoutError()) }
    return goesOn
  }
}
