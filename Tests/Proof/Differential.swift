import Foundation
import Larder
import RandomQueries
import TestSupport

/// Random queries have the rows that SQLite's shell finds, and those that Swift computes.
///
/// The queries are those of the tests, which lie beside them; their seeds are the same there.
enum Differential: ProofRow {
  static let name = "differential"
  static let number = 13
  static let unit = "queries"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    let folder = scratch.path
    var comparison = try RandomComparison(seed: options.seed, folder: folder)
    let count = options.count ?? 1000
    while comparison.tried < count, options.goesOn(after: comparison.tried) {
      try comparison.run(count: min(1000, count - comparison.tried))
    }
    result.tried = comparison.tried
    result.failures = comparison.failures
    result.details = ["computed by Swift too: \(comparison.computed)"]
    return result
  }
}
