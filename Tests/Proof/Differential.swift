import Foundation
import Larder
import ProofSupport
import RandomQueries
import TestSupport

/// Random queries have the rows that SQLite's shell finds, and those that Swift computes, or are refused where they
/// have to be.
///
/// The queries are those of the tests, which lie beside them; their seeds are the same there. Behind `--` may
/// stand kinds of queries, of which alone some are run, and numbers of queries that a failure named, to see only
/// these again: `proof differential --seed 7 -- 4711`.
enum Differential: ProofRow {
  static let name = "differential"
  static let number = 13
  static let unit = "queries"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    var refused: [String: Int] = [:]
    var computed = 0
    let kinds = options.rest.compactMap(QueryKind.init(rawValue:))
    let seeds = options.rest.compactMap { UInt64($0) }
    let count = seeds.isEmpty ? options.count ?? 1000 : seeds.count
    // All that could run, so that one which never does is seen.
    var tried = Dictionary(
      uniqueKeysWithValues: (kinds.isEmpty ? QueryKind.allCases : kinds).map { ($0, 0) })
    var seed = options.seed
    while result.tried < count, options.goesOn(after: result.tried) {
      let scratch = try ScratchFolder(inMemory: true)
      defer { scratch.remove() }
      // Other rows for each thousand.
      var comparison = try RandomComparison(seed: seed, folder: scratch.path, kinds: kinds)
      if seeds.isEmpty {
        try comparison.run(count: min(1000, count - result.tried))
      } else {
        try comparison.run(seeds: seeds)
      }
      seed &+= 1
      result.tried += comparison.tried
      result.failures += comparison.failures
      computed += comparison.computed
      refused.merge(comparison.refused, uniquingKeysWith: +)
      tried.merge(comparison.kinds, uniquingKeysWith: +)
    }
    result.details = [
      "computed by Swift too: \(computed)", "of \(tried.count) kinds",
      "refused as they have to be: \(refused.values.reduce(0, +))",
    ]
    complain(counts("tried", tried))
    complain(counts("refused for", refused))
    for (kind, count) in tried where count == 0 && result.tried >= 1000 {
      result.failures.append("no query was of the kind \(kind)")
    }
    return result
  }

  /// How many there are of each, by the greatest number.
  static func counts<Key>(_ title: String, _ counts: [Key: Int]) -> String {
    let list = counts.map { ($1, "\($0)") }.sorted { ($1.0, $0.1) < ($0.0, $1.1) }
    return title + ": " + list.map { "\($1) \($0)" }.joined(separator: ", ")
  }
}
