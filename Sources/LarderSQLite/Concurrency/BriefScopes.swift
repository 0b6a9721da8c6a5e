import Glibc
import Synchronization

/// A token bucket for each call, which tells whether its scopes have been brief for some time: then the next
/// one may run on the thread that its task is on, without a hop to a thread of the queue's own and back.
///
/// A hop costs two context switches, which on idle cores is more than a transaction of one row. What
/// it is for is that no closure keeps a thread of the cooperative pool from other tasks, which one that
/// takes a tenth of a millisecond doesn't. Each call has a token bucket: brief scopes fill it, longer ones
/// take out what they last. A few milliseconds, in which perhaps the system let the thread wait, cost
/// little; after a second it takes a hundred thousand brief scopes to be trusted again. And of all queues
/// and pools of the process, one scope fewer runs so at a time than there are processors: whatever a
/// trusted closure then does, one thread is left for other tasks, such as those that cancel it.
///
/// What makes it Sendable: it has no state but atomics.
final class BriefScopes: @unchecked Sendable {
  /// In nanoseconds.
  private static let longest = 100_000
  /// For how long the system may let a thread wait when it has more of them than processors.
  private static let slice = 10_000_000
  /// What a brief scope is worth, in nanoseconds.
  private static let token = 10_000
  private static let enough = 16
  /// In nanoseconds.
  private static let tick = 250_000
  private static let bounds = -1_000_000...1_000

  /// The buckets of all calls; two calls may share one.
  private let buckets = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: count)
  private static let count = 256
  /// How many scopes run on threads of the cooperative pool, which has one for each processor.
  private static let running = Atomic<Int>(0)
  private static let mostRunning = sysconf(CInt(_SC_NPROCESSORS_ONLN)) - 1

  init() {
    for index in 0..<Self.count { (buckets + index).initialize(to: Atomic(0)) }
  }

  deinit {
    buckets.deinitialize(count: Self.count)
    buckets.deallocate()
  }

  private func bucket(of call: ScopeCall) -> UnsafeMutablePointer<Atomic<Int>> {
    let mixed = (call.label &* 31 &+ call.line) &* 0x9E37_79B9_7F4A_7C15
    return buckets + Int(mixed >> 56)
  }

  /// Runs a task's scope on this thread where the call's are brief, and tasks run where they do by
  /// default, not on an executor of the program's own, such as an event loop. Nil where it didn't run.
  ///
  /// Now and then this lets other tasks run: one that is never suspended would keep the thread.
  func runAtOnce<T>(
    _ call: ScopeCall, _ scope: () -> ScopeOutcome<T>?
  ) async -> ScopeOutcome<T>? {
    if call.isOnOwnThread { return scope() }
    guard withUnsafeCurrentTask(body: { $0?.unownedTaskExecutor == nil }), begin(call) else {
      return nil
    }
    let start = MonotonicClock.nanoseconds
    let outcome = scope()
    let stop = MonotonicClock.nanoseconds
    end()
    if outcome != nil { note(call, stop &- start) }
    // A tick of the clock has passed.
    if start / Self.tick != stop / Self.tick { await Task.yield() }
    return outcome
  }

  /// Whether a scope of the call may run on the thread that its task is on; then ``end()`` follows.
  func begin(_ call: ScopeCall) -> Bool {
    guard bucket(of: call).pointee.load(ordering: .relaxed) >= Self.enough else { return false }
    if Self.running.add(1, ordering: .relaxed).oldValue < Self.mostRunning { return true }
    end()
    return false
  }

  func end() { Self.running.subtract(1, ordering: .relaxed) }

  /// Notes how many nanoseconds a scope has taken. A race of two notes loses one, which does no harm.
  func note(_ call: ScopeCall, _ time: Int) {
    let bucket = bucket(of: call)
    let tokens = bucket.pointee.load(ordering: .relaxed)
    let change =
      time <= Self.longest ? 1 : time <= Self.slice ? -Self.enough : -(time / Self.token)
    let sum = min(max(tokens &+ change, Self.bounds.lowerBound), Self.bounds.upperBound)
    // One that is full isn't written to by each thread again and again.
    if sum != tokens { bucket.pointee.store(sum, ordering: .relaxed) }
  }
}
