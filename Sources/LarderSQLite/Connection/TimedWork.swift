import Synchronization

/// The count and times of work of one kind, such as syncs. Reading it waits for nothing, also while a disk
/// doesn't answer.
final class TimedWork: Sendable {
  private let count = Atomic<Int>(0)
  private let total = Atomic<Int>(0)
  private let longest = Atomic<Int>(0)
  private let last = Atomic<Int>(0)
  /// The time at which the last one ended.
  private let ended = Atomic<Int>(0)
  /// The time at which the running one began; 0 if none runs.
  private let began = Atomic<Int>(0)
  /// What the last one has left to do, for checkpoints: frames.
  let left = Atomic<Int>(0)
  private let histogram = Histogram()

  /// The figures at one moment, in nanoseconds.
  struct Figures {
    let count: Int
    let total: Int
    let longest: Int
    let last: Int
    /// The time since the last one has ended; nil if there was none.
    let age: Int?
    /// The time since the running one has begun; nil if none runs.
    let running: Int?
    /// How many there were in each bucket of ``Histogram``.
    let histogram: [Int]
  }

  @inline(__always)
  func begin(at time: Int) { began.store(time, ordering: .relaxed) }

  /// Notes the end of what ``begin(at:)`` has begun. One thread at a time does this work.
  @inline(__always)
  func end(at time: Int) {
    let spent = max(0, time &- began.load(ordering: .relaxed))
    began.store(0, ordering: .relaxed)
    count.store(count.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    total.store(total.load(ordering: .relaxed) &+ spent, ordering: .relaxed)
    if spent > longest.load(ordering: .relaxed) { longest.store(spent, ordering: .relaxed) }
    last.store(spent, ordering: .relaxed)
    ended.store(time, ordering: .relaxed)
    histogram.addAlone(spent)
  }

  /// Notes work that has ended now. Any number of threads may do this work at a time.
  func add(since start: Int) {
    let now = MonotonicClock.nanoseconds
    add(now &- start, at: now)
  }

  /// Notes work of a duration that has ended at a time.
  func add(_ spent: Int, at time: Int) {
    let spent = max(0, spent)
    add(count: 1, total: spent, longest: spent, at: time)
    histogram.add(spent)
  }

  private func add(count more: Int, total spent: Int, longest single: Int, at time: Int) {
    count.add(more, ordering: .relaxed)
    total.add(spent, ordering: .relaxed)
    longest.max(single, ordering: .relaxed)
    last.store(single, ordering: .relaxed)
    ended.store(time, ordering: .relaxed)
  }

  /// Takes over the figures of a connection's work, which then begin anew.
  func take(_ other: TimedWork) {
    let more = other.count.exchange(0, ordering: .relaxed)
    guard more > 0 else { return }
    add(
      count: more, total: other.total.exchange(0, ordering: .relaxed),
      longest: other.longest.exchange(0, ordering: .relaxed),
      at: other.ended.load(ordering: .relaxed))
    histogram.take(other.histogram)
  }

  /// The time that the last one took, in nanoseconds.
  var lastTime: Int { last.load(ordering: .relaxed) }

  var figures: Figures {
    let now = MonotonicClock.nanoseconds
    let (ended, began) = (ended.load(ordering: .relaxed), began.load(ordering: .relaxed))
    return Figures(
      count: count.load(ordering: .relaxed), total: total.load(ordering: .relaxed),
      longest: longest.load(ordering: .relaxed), last: lastTime,
      age: ended == 0 ? nil : max(0, now &- ended),
      running: began == 0 ? nil : max(0, now &- began), histogram: histogram.values)
  }
}
