import Glibc
import Synchronization

/// Token buckets, one per call, which tell whether the call's scopes have been brief for some time. Then the
/// next scope may run on its task's thread, without a hop to a thread of the queue's own and back.
///
/// A hop costs two context switches, which on idle cores is more than a transaction of one row. It keeps a
/// closure from blocking a thread of the cooperative pool, which a closure of a tenth of a millisecond
/// doesn't. Brief scopes fill the bucket, longer ones take out what they last. A few milliseconds, in which
/// perhaps the system let the thread wait, cost little; after a second it takes a hundred thousand brief
/// scopes to be trusted again. In the whole process, one scope fewer runs in this way at a time than there
/// are processors. So whatever a trusted closure does, one thread is left for other tasks, such as those that
/// cancel it.
///
/// Sendable because it has no state except atomics.
final class ScopeTokenBuckets: @unchecked Sendable {
  /// The longest time of a brief scope, in nanoseconds.
  private static let longest = 100_000
  /// How long the system may let a thread wait if there are more of them than processors, in nanoseconds.
  private static let slice = 10_000_000
  /// The time that one token pays for, in nanoseconds. A brief scope earns one.
  private static let token = 10_000
  private static let enough = 16
  /// The time between two yields to other tasks, in nanoseconds.
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

  /// Runs a task's scope on this thread if the call's scopes are brief and the task runs on the default
  /// executor, not on one of the program's own, such as an event loop. Nil if it didn't run.
  ///
  /// Now and then this lets other tasks run: a task that is never suspended would keep the thread.
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
    // Yields once a tick of the clock has passed.
    if start / Self.tick != stop / Self.tick { await Task.yield() }
    return outcome
  }

  /// Whether a scope of the call may run on its task's current thread; then ``end()`` has to follow.
  func begin(_ call: ScopeCall) -> Bool {
    guard bucket(of: call).pointee.load(ordering: .relaxed) >= Self.enough else { return false }
    if Self.running.wrappingAdd(1, ordering: .relaxed).oldValue < Self.mostRunning { return true }
    end()
    return false
  }

  func end() { Self.running.wrappingSubtract(1, ordering: .relaxed) }

  /// Notes how many nanoseconds a scope has taken. If two threads race, one note is lost, which does no harm.
  func note(_ call: ScopeCall, _ time: Int) {
    let bucket = bucket(of: call)
    let tokens = bucket.pointee.load(ordering: .relaxed)
    let change =
      time <= Self.longest ? 1 : time <= Self.slice ? -Self.enough : -(time / Self.token)
    let sum = min(max(tokens &+ change, Self.bounds.lowerBound), Self.bounds.upperBound)
    // Threads don't write to a full bucket again and again.
    if sum != tokens { bucket.pointee.store(sum, ordering: .relaxed) }
  }
}
