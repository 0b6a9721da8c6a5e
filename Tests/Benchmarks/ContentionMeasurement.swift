/// How long transactions or reads took, in milliseconds.
struct Waits {
  let count: Int
  let perSecond: Double
  let median: Double
  let percentile99: Double
  let percentile999: Double
  let longest: Double
  /// The slowest thread's share over the fastest's.
  let fairness: Double

  init(_ threads: [[Double]], seconds: Double) {
    let all = threads.joined().sorted()
    func at(_ share: Double) -> Double {
      all.isEmpty ? .nan : all[min(all.count - 1, Int(Double(all.count) * share))]
    }
    count = all.count
    perSecond = Double(all.count) / seconds
    (median, percentile99, percentile999, longest) = (at(0.5), at(0.99), at(0.999), at(1))
    let shares = threads.map(\.count)
    fairness = Double(shares.min() ?? 0) / Double(max(1, shares.max() ?? 0))
  }

  /// Runs several sides in turn, each for a part of its time, so that whatever else the machine and
  /// its disk do meets all of them. Each is given its seconds, and returns the times of its threads.
  static func alternate(
    seconds: Double, _ sides: [(Double) throws -> [[Double]]]
  ) throws -> [Waits] {
    let rounds = 4
    var times = [[[Double]]](repeating: [], count: sides.count)
    for _ in 0..<rounds {
      for (index, side) in sides.enumerated() {
        let threads = try side(seconds / Double(rounds))
        if times[index].isEmpty { times[index] = Array(repeating: [], count: threads.count) }
        for (thread, more) in threads.enumerated() { times[index][thread] += more }
      }
    }
    return times.map { Waits($0, seconds: seconds) }
  }
}

/// One row of the table that is about several threads.
struct ContentionMeasurement: Encodable {
  let name: String
  /// Who is compared: what Larder does, and what it is measured by.
  var sides = (reference: "C", larder: "Larder")
  let reference: Waits
  let larder: Waits
  /// Transactions a second of one thread, where that is wanted too.
  var oneThread: Double?
  /// What is printed behind the numbers.
  var note: String?
  var ratio: Double { larder.perSecond / reference.perSecond }

  enum CodingKeys: String, CodingKey {
    case name, storage, ratio
    case referenceRate = "reference_tps"
    case larderRate = "larder_tps"
    case referenceLongest = "reference_longest_ms"
    case larderLongest = "larder_longest_ms"
    case referenceFairness = "reference_fairness"
    case larderFairness = "larder_fairness"
    case oneThread = "one_thread_tps"
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(Storage.wal, forKey: .storage)
    try container.encode(reference.perSecond, forKey: .referenceRate)
    try container.encode(larder.perSecond, forKey: .larderRate)
    try container.encode(reference.longest, forKey: .referenceLongest)
    try container.encode(larder.longest, forKey: .larderLongest)
    try container.encode(reference.fairness, forKey: .referenceFairness)
    try container.encode(larder.fairness, forKey: .larderFairness)
    try container.encodeIfPresent(oneThread, forKey: .oneThread)
    try container.encode(ratio, forKey: .ratio)
  }

  static let header =
    "contention                             tx/s   median     99 %   99.9 %  longest  fairness  (ms)"

  var lines: [String] {
    [
      line("\(name), \(sides.reference)", reference),
      line("\(name), \(sides.larder)", larder) + "  × \(Table.number(ratio, 2))"
        + (oneThread.map { ", × \(Table.number(larder.perSecond / $0, 2)) of one thread" } ?? "")
        + (note.map { "  \($0)" } ?? ""),
    ]
  }

  private func line(_ name: String, _ waits: Waits) -> String {
    Table.left(name, 35) + Table.right(waits.perSecond, 9, 0) + Table.right(waits.median, 9, 3)
      + Table.right(waits.percentile99, 9, 3) + Table.right(waits.percentile999, 9, 3)
      + Table.right(waits.longest, 9, 1) + Table.right(waits.fairness, 9, 2)
  }
}
