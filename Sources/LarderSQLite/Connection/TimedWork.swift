import Synchronization

/// The count and times of work of one kind, such as syncs. Reading it waits for nothing, also while a disk
/// doesn't answer.
final class TimedWork: Sendable {
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
    let spent = time &- began.load(ordering: .relaxed)
    began.store(0, ordering: .relaxed)
    addAlone(spent, at: time)
  }

  /// Notes work of a duration that has ended at a time, where one thread at a time does it.
  @inline(__always)
  func addAlone(_ spent: Int, at time: Int) {
    let spent = max(0, spent)
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
    histogram.add(spent)
    add(total: spent, longest: spent, at: time)
  }

  private func add(total spent: Int, longest single: Int, at time: Int) {
    total.wrappingAdd(spent, ordering: .relaxed)
    // Threads that write to the same place wait for one another.
    if single > longest.load(ordering: .relaxed) { longest.max(single, ordering: .relaxed) }
    last.store(single, ordering: .relaxed)
    ended.store(time, ordering: .relaxed)
  }

  /// Takes over the figures of a connection's work, which then begin anew.
  func take(_ other: TimedWork) {
    guard histogram.take(other.histogram) else { return }
    add(
      total: other.total.exchange(0, ordering: .relaxed),
      longest: other.longest.exchange(0, ordering: .relaxed),
      at: other.ended.load(ordering: .relaxed))
  }

  /// The time that the last one took, in nanoseconds.
  var lastTime: Int { last.load(ordering: .relaxed) }

  var figures: Figures {
    let now = MonotonicClock.nanoseconds
    let (ended, began) = (ended.load(ordering: .relaxed), began.load(ordering: .relaxed))
    let histogram = histogram.values
    return Figures(
      count: histogram.reduce(0, +), total: total.load(ordering: .relaxed),
      longest: longest.load(ordering: .relaxed), last: lastTime,
      age: ended == 0 ? nil : max(0, now &- ended),
      running: began == 0 ? nil : max(0, now &- began), histogram: histogram)
  }
}

/// Counts of durations in fixed buckets. Adding one takes no lock, and some ten instructions.
struct Histogram: ~Copyable, Sendable {
  /// The upper bounds of the buckets in nanoseconds, each included. A last bucket has all that is longer.
  static let limits = [
    10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000,
    25_000_000, 50_000_000, 100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000,
    5_000_000_000, 10_000_000_000,
  ]

  private let counts = InlineArray<20, Atomic<Int>> { _ in Atomic(0) }

  /// The bucket of a duration. Constants, since an array would be looked up in memory.
  @inline(__always)
  static func bucket(of nanoseconds: Int) -> Int {
    switch nanoseconds {
    case ...10_000: 0
    case ...25_000: 1
    case ...50_000: 2
    case ...100_000: 3
    case ...250_000: 4
    case ...500_000: 5
    case ...1_000_000: 6
    case ...2_500_000: 7
    case ...5_000_000: 8
    case ...10_000_000: 9
    case ...25_000_000: 10
    case ...50_000_000: 11
    case ...100_000_000: 12
    case ...250_000_000: 13
    case ...500_000_000: 14
    case ...1_000_000_000: 15
    case ...2_500_000_000: 16
    case ...5_000_000_000: 17
    case ...10_000_000_000: 18
    default: 19
    }
  }

  @inline(__always)
  func add(_ nanoseconds: Int, _ count: Int = 1) {
    counts[Self.bucket(of: nanoseconds)].wrappingAdd(count, ordering: .relaxed)
  }

  /// Adds a duration where one thread at a time does.
  @inline(__always)
  func addAlone(_ nanoseconds: Int) {
    let bucket = Self.bucket(of: nanoseconds)
    counts[bucket].store(counts[bucket].load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }

  /// Takes over the counts of another histogram, which then begins anew; false if it has none.
  @discardableResult
  func take(_ other: borrowing Histogram) -> Bool {
    var hasAny = false
    for bucket in counts.indices where other.counts[bucket].load(ordering: .relaxed) > 0 {
      counts[bucket].add(
        other.counts[bucket].exchange(0, ordering: .relaxed), ordering: .relaxed)
      hasAny = true
    }
    return hasAny
  }

  var values: [Int] { counts.indices.map { counts[$0].load(ordering: .relaxed) } }
}
