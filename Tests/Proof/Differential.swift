import Foundation
import Larder
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
    var tried: [QueryKind: Int] = [:]
    var computed = 0
    let kinds = options.rest.compactMap(QueryKind.init(rawValue:))
    let seeds = options.rest.compactMap { UInt64($0) }
    let count = seeds.isEmpty ? options.count ?? 1000 : seeds.count
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
    result.details =
      ["computed by Swift too: \(computed)"]
      + refused.sorted { $0.key < $1.key }.map { "refused for \($0): \($1)" }
      + QueryKind.allCases.map { "\($0): \(tried[$0, default: 0])" }
    return result
  }
}
