import LarderTerminal

/// What `serve-load` has measured.
struct LoadReport: Encodable {
  let tasks: Int
  let seconds: Double
  let reads: Latencies
  let writes: Latencies
  /// The lines in the table of visits, and how many there have to be.
  let visits: Int
  let visitsExpected: Int

  var table: TextTable {
    var table = TextTable(
      "", "COUNT", "PER SECOND", "MEDIAN", "95 %", "99 %", "LONGEST", numbers: [1, 2, 3, 4, 5, 6])
    for (name, latencies) in [("reads", reads), ("writes", writes)] {
      table.add(
        name, latencies.count.grouped,
        (seconds > 0 ? Int(Double(latencies.count) / seconds) : 0).grouped,
        "\(latencies.median.fixed(3)) ms", "\(latencies.percentile95.fixed(3)) ms",
        "\(latencies.percentile99.fixed(3)) ms", "\(latencies.longest.fixed(3)) ms")
    }
    table.add(
      "visits", visits.grouped, visits == visitsExpected ? "exact" : "WRONG", "", "", "", "")
    return table
  }
}

/// How long requests took, in milliseconds.
struct Latencies: Encodable {
  let count: Int
  let median: Double
  let percentile95: Double
  let percentile99: Double
  let longest: Double

  init(_ durations: [Duration]) {
    let sorted = durations.sorted()
    func percentile(_ percent: Int) -> Double {
      guard !sorted.isEmpty else { return 0 }
      // The smallest that so many are not above.
      let rank = (sorted.count * percent + 99) / 100
      return sorted[max(0, rank - 1)] / .milliseconds(1)
    }
    count = sorted.count
    median = percentile(50)
    percentile95 = percentile(95)
    percentile99 = percentile(99)
    longest = percentile(100)
  }
}
