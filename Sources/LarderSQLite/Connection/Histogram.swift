import Synchronization

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
  func add(_ nanoseconds: Int) {
    counts[Self.bucket(of: nanoseconds)].add(1, ordering: .relaxed)
  }

  /// Adds a duration where one thread at a time does.
  @inline(__always)
  func addAlone(_ nanoseconds: Int) {
    let bucket = Self.bucket(of: nanoseconds)
    counts[bucket].store(counts[bucket].load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }

  /// Takes over the counts of another histogram, which then begins anew.
  func take(_ other: borrowing Histogram) {
    for bucket in counts.indices where other.counts[bucket].load(ordering: .relaxed) > 0 {
      counts[bucket].add(
        other.counts[bucket].exchange(0, ordering: .relaxed), ordering: .relaxed)
    }
  }

  var values: [Int] { counts.indices.map { counts[$0].load(ordering: .relaxed) } }
}
