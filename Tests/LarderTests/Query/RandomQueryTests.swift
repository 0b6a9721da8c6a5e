import Foundation
import RandomQueries
import TestSupport
import Testing

/// Random queries. LARDER_RANDOM_QUERIES is their number, LARDER_RANDOM_SEED their seed, and
/// LARDER_RANDOM_QUERY the single one to repeat after a failure.
@Suite("Random queries")
struct RandomQueryTests {
  static let environment = ProcessInfo.processInfo.environment
  static let count = environment["LARDER_RANDOM_QUERIES"].flatMap(Int.init) ?? 1000
  static let seed = environment["LARDER_RANDOM_SEED"].flatMap(UInt64.init) ?? 1

  static let only = environment["LARDER_RANDOM_QUERY"].flatMap(UInt64.init)

  @Test(
    "Random queries have the same rows as in the sqlite3 shell and in Swift")
  func randomQueries() throws {
    try #require(Self.count > 0, "LARDER_RANDOM_QUERIES has to be at least 1")
    // Each thousand queries has other rows.
    for (index, start) in stride(from: 0, to: Self.count, by: 1000).enumerated() {
      let folder = try ScratchFolder()
      defer { folder.remove() }
      var comparison = try RandomComparison(
        seed: Self.seed &+ UInt64(index), folder: folder.path)
      if let only = Self.only {
        try comparison.run(seeds: [only])
      } else {
        try comparison.run(count: min(1000, Self.count - start))
      }
      for failure in comparison.failures { Issue.record(Comment(rawValue: failure)) }
      guard comparison.tried >= 1000 else { continue }
      // Swift must be able to compute nearly all, or the comparison would prove little.
      #expect(comparison.computed * 10 > comparison.tried * 9)
      #expect(Set(comparison.kinds.keys) == Set(QueryKind.allCases))
    }
  }
}
