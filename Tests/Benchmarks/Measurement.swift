import FoundationEssentials
import Glibc

/// Where a benchmark's database is.
enum Storage: String, CaseIterable, Encodable {
  case memory, wal
}

/// The times of one benchmark in nanoseconds per row or call.
struct Measurement: Encodable {
  let name: String
  let storage: Storage
  let reference: Times
  let larder: Times

  struct Times {
    let minimum: Double
    let median: Double

    init(_ nanoseconds: [Double]) {
      let sorted = nanoseconds.sorted()
      minimum = sorted.first ?? .nan
      median = sorted.isEmpty ? .nan : sorted[sorted.count / 2]
    }
  }

  var ratio: Double { larder.median / reference.median }

  enum CodingKeys: String, CodingKey {
    case name, storage, ratio
    case reference = "reference_ns"
    case larder = "larder_ns"
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(storage, forKey: .storage)
    try container.encode(reference.median, forKey: .reference)
    try container.encode(larder.median, forKey: .larder)
    try container.encode(ratio, forKey: .ratio)
  }
}

/// The same work done by both sides, each with a database of its own.
struct Benchmark: Sendable {
  /// What is measured of a side's work.
  enum Cost {
    case time
    /// The time that all of the process's threads spend on it together.
    case processorTime

    /// Nanoseconds since some moment.
    var now: Double {
      var time = timespec()
      clock_gettime(self == .time ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time)
      return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
  }

  /// One side: what is timed, and what has to happen before each time.
  struct Side {
    var prepare: () throws -> Void = {}
    var work: () throws -> Void
  }

  let name: String
  /// How many rows or calls the work of a side stands for.
  var count: @Sendable (Options) -> Int = { $0.rows }
  /// What it can be run on.
  var storages = Storage.allCases
  var cost = Cost.time
  /// Whether all of the work is done by the thread that calls it, so that its instructions can be counted.
  var isOnOneThread = true
  /// The numbers of rows between which instructions are counted: fewer for work that takes long.
  var countedRows = (few: 200, many: 600)
  let makeReference: @Sendable (Reference, [Player]) throws -> Side
  let makeLarder: @Sendable (LarderSide, [Player]) throws -> Side

  static var ofOneCaller: [Benchmark] {
    [
      WrapperBenchmarks.all, ScopeBenchmarks.all, PoolBenchmarks.all, MeasuredBenchmarks.all,
      ObservationBenchmarks.all, RecordBenchmarks.all, QueryBenchmarks.all, SchemaBenchmarks.all,
      GazetteerBenchmarks.all,
      SearchBenchmarks.all, JSONBenchmarks.all, BlobBenchmarks.all, TableBenchmarks.all,
    ].flatMap(\.self)
  }

  /// Times both sides in turn, so that whatever else the machine does meets both.
  func measure(_ storage: Storage, path: String, _ options: Options) throws -> Measurement {
    let players = Player.many(options.rows)
    let reference = try makeReference(
      Reference(path: storage == .wal ? path + "-c" : nil), players)
    let larder = try makeLarder(LarderSide(path: storage == .wal ? path : nil), players)
    var times: (reference: [Double], larder: [Double]) = ([], [])
    for run in 0...options.runs {
      let first = try time(reference)
      let second = try time(larder)
      if run > 0 {
        times.reference.append(first / Double(count(options)))
        times.larder.append(second / Double(count(options)))
      }
    }
    return Measurement(
      name: name, storage: storage, reference: .init(times.reference), larder: .init(times.larder))
  }

  /// The nanoseconds that a side's work takes once.
  func time(_ side: Side) throws -> Double {
    try side.prepare()
    let start = cost.now
    try side.work()
    return cost.now - start
  }
}

/// The table that is printed.
enum Table {
  static let header =
    "benchmark                storage      C min   C median    Larder min     median    ratio"

  static func line(_ measurement: Measurement) -> String {
    left(measurement.name, 25) + left(measurement.storage.rawValue, 7)
      + right(measurement.reference.minimum, 11, 1) + right(measurement.reference.median, 11, 1)
      + right(measurement.larder.minimum, 14, 1) + right(measurement.larder.median, 11, 1)
      + right(measurement.ratio, 9, 2)
  }

  static func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  static func right(_ value: Double, _ width: Int, _ digits: Int) -> String {
    let text = number(value, digits)
    return String(repeating: " ", count: max(1, width - text.count)) + text
  }

  static func number(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite else { return "–" }
    let factor = [1, 10, 100, 1000][digits]
    let rounded = Int64((value * Double(factor)).rounded())
    guard digits > 0 else { return "\(rounded)" }
    let fraction = String(rounded % Int64(factor))
    return "\(rounded / Int64(factor))." + String(repeating: "0", count: digits - fraction.count)
      + fraction
  }
}
