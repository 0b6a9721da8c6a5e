import CSQLite
import Glibc
import Synchronization

/// The count and times of work that is done so often that reading the clock each time would show: all of it is
/// counted, and some of it is timed, and stands for what came before it.
///
/// The first ones are timed, then one of about fifty, at intervals that vary, so that no rhythm of the program's
/// meets them. What takes longer than two ticks of the system's coarse clock, which is read each time, is noted by
/// itself.
struct SampledWork: ~Copyable, Sendable {
  /// How many were short, and have no timed one yet that stands for them.
  private let pending = Atomic<Int>(0)
  /// The number of ``pending`` ones from which the next one is timed.
  private let interval = Atomic<Int>(0)
  private let samples = Atomic<Int>(0)
  /// The time of the last one that stood for others.
  private let typical = Atomic<Int>(0)
  private let total = Atomic<Int>(0)
  private let longest = Atomic<Int>(0)
  private let last = Atomic<Int>(0)
  private let ended = Atomic<Int>(0)
  private let histogram = Histogram()
  /// The coarse clock's time from which work is long.
  private let long = MonotonicClock.longCoarse

  /// How many of the first ones are all timed.
  private static let first = 16

  /// The times at which work has begun, or how long it has taken. (Not an Optional: that took ten instructions more.)
  struct Reading {
    /// By the coarse clock.
    var coarse: Int
    /// By the clock, if the work is timed.
    var exact = 0
    var isTimed: Bool
  }

  /// Whether the next one is to be timed.
  @inline(__always)
  var isDue: Bool { pending.load(ordering: .relaxed) >= interval.load(ordering: .relaxed) }

  /// Whether no work waits for a timed one.
  var hasNoPending: Bool { pending.load(ordering: .relaxed) == 0 }

  @inline(__always)
  func begin() -> Reading {
    guard isDue else { return Reading(coarse: MonotonicClock.coarseNanoseconds, isTimed: false) }
    return beginTimed()
  }

  @inline(never)
  private func beginTimed() -> Reading {
    Reading(
      coarse: MonotonicClock.coarseNanoseconds, exact: MonotonicClock.nanoseconds, isTimed: true)
  }

  /// Notes the end of work that has begun. Any number of threads may do this work at a time.
  @inline(__always)
  func end(_ start: Reading) {
    let spent = MonotonicClock.coarseNanoseconds &- start.coarse
    if !start.isTimed, spent < long {
      // Wrapping: `add` traps on overflow, for which it compares and exchanges in a loop.
      pending.wrappingAdd(1, ordering: .relaxed)
    } else {
      endTimed(start, spent)
    }
  }

  @inline(never)
  private func endTimed(_ start: Reading, _ coarse: Int) {
    let exact = start.isTimed ? MonotonicClock.nanoseconds &- start.exact : 0
    add(Reading(coarse: coarse, exact: exact, isTimed: start.isTimed))
  }

  /// Notes work that has ended now, where one thread at a time does it. (An atomic addition takes as long as reading
  /// the coarse clock twice. Without one, whoever reads at the same moment may count a few twice.)
  @inline(__always)
  func addAlone(_ spent: Reading) {
    if !spent.isTimed, spent.coarse < long {
      pending.store(pending.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    } else {
      add(spent)
    }
  }

  /// Notes work that was timed, or was long.
  @inline(never)
  func add(_ spent: Reading) {
    let time = max(0, spent.isTimed ? spent.exact : spent.coarse)
    let now = MonotonicClock.nanoseconds
    last.store(time, ordering: .relaxed)
    ended.store(now, ordering: .relaxed)
    // Whether it is long is asked of the same clock for all, or those that it takes for long would count twice.
    guard spent.coarse < long else { return add(time, 1) }
    typical.store(time, ordering: .relaxed)
    let count = samples.wrappingAdd(1, ordering: .relaxed).newValue
    interval.store(count < Self.first ? 0 : 32 + now & 31, ordering: .relaxed)
    add(time, pending.exchange(0, ordering: .relaxed) &+ 1)
  }

  private func add(_ time: Int, _ count: Int) {
    histogram.add(time, count)
    total.wrappingAdd(time &* count, ordering: .relaxed)
    // Threads that write to the same place wait for one another.
    if time > longest.load(ordering: .relaxed) { longest.max(time, ordering: .relaxed) }
  }

  /// Counts the work that waits for a timed one as the last such one, so that it is told too.
  private func settle() {
    let count = pending.exchange(0, ordering: .relaxed)
    if count > 0 { add(typical.load(ordering: .relaxed), count) }
  }

  /// Takes over the figures of other work, which then begin anew.
  func take(_ other: borrowing SampledWork) {
    other.settle()
    guard histogram.take(other.histogram) else { return }
    total.wrappingAdd(other.total.exchange(0, ordering: .relaxed), ordering: .relaxed)
    longest.max(other.longest.exchange(0, ordering: .relaxed), ordering: .relaxed)
    last.store(other.last.load(ordering: .relaxed), ordering: .relaxed)
    ended.store(other.ended.load(ordering: .relaxed), ordering: .relaxed)
  }

  var figures: TimedWork.Figures {
    settle()
    let (now, ended) = (MonotonicClock.nanoseconds, ended.load(ordering: .relaxed))
    let histogram = histogram.values
    return TimedWork.Figures(
      count: histogram.reduce(0, +), total: total.load(ordering: .relaxed),
      longest: longest.load(ordering: .relaxed), last: last.load(ordering: .relaxed),
      age: ended == 0 ? nil : max(0, now &- ended), running: nil, histogram: histogram)
  }
}

/// The times of a connection's statements.
final class StatementTimes: Sendable {
  let work = SampledWork()
}

extension MonotonicClock {
  /// The time by the system's coarse clock, which goes in ticks of 1 to 10 ms and takes an eighth as long to read.
  @inline(__always)
  static var coarseNanoseconds: Int { Int(larder_coarse_nanoseconds()) }

  /// Two ticks of the coarse clock. By it only what takes this long is sure to have taken a tick at least.
  static let longCoarse: Int = {
    var tick = timespec()
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick)
    return 2 * max(1_000_000, tick.tv_sec &* 1_000_000_000 &+ tick.tv_nsec)
  }()
}
