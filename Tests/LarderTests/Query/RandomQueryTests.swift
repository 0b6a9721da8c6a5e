import Foundation
import RandomQueries
import TestSupport
import Testing

/// Queries that nobody thought of. LARDER_RANDOM_QUERIES tells how many, LARDER_RANDOM_SEED which, and
/// LARDER_RANDOM_QUERY the one that a failure named.
@Suite("Random queries")
struct RandomQueryTests {
  static let environment = ProcessInfo.processInfo.environment
  static let count = environment["LARDER_RANDOM_QUERIES"].flatMap(Int.init) ?? 1000
  static let seed = environment["LARDER_RANDOM_SEED"].flatMap(UInt64.init) ?? 1

  static let only = environment["LARDER_RANDOM_QUERY"].flatMap(UInt64.init)

  @Test(
    "Each has the rows that SQLite's shell finds with the values in its text, and that Swift does")
  func randomQueries() throws {
    // Other rows for each thousand.
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
      // Nearly all can be computed: else this would prove little.
      #expect(comparison.computed * 10 > comparison.tried * 9)
      #expect(Set(comparison.kinds.keys) == Set(QueryKind.allCases))
    }
  }
}
