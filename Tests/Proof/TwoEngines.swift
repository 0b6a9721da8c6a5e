import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import RandomQueries

/// Random queries find the same on SQLite and on PostgreSQL, or PostgreSQL refuses them by an error that says what
/// it hasn't. Behind `--` stands the same as for ``Differential``, and `hostile` for numbers that are infinite or very
/// large.
enum TwoEngines: ProofRow {
  static let name = "two-engines"
  static let number = 18
  static let unit = "queries"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    guard PostgresServer.isInstalled else {
      result.skipped = PostgresServer.whySkipped
      return result
    }
    let server = try PostgresServer(["-c", "jit=off"])
    var refused: [String: Int] = [:]
    let kinds = options.rest.compactMap(QueryKind.init(rawValue:))
    var equal = Dictionary(
      uniqueKeysWithValues: (kinds.isEmpty ? QueryKind.allCases : kinds).map { ($0, 0) })
    let seeds = options.rest.compactMap { UInt64($0) }
    let count = seeds.isEmpty ? options.count ?? 1000 : seeds.count
    var seed = options.seed
    while result.tried < count, options.goesOn(after: result.tried) {
      let db = try Database.postgres(server.database())
      // Other rows for each thousand.
      var comparison = try EngineComparison(
        seed: seed, db, kinds: kinds, isHostile: options.rest.contains("hostile"))
      if seeds.isEmpty {
        try comparison.run(count: min(1000, count - result.tried))
      } else {
        try comparison.run(seeds: seeds)
      }
      try db.close()
      seed &+= 1
      result.tried += comparison.tried
      result.failures += comparison.failures
      refused.merge(comparison.refused, uniquingKeysWith: +)
      equal.merge(comparison.kinds, uniquingKeysWith: +)
    }
    result.details = [
      "equal: \(equal.values.reduce(0, +))", "refused: \(refused.values.reduce(0, +))",
    ]
    complain(Differential.counts("equal", equal))
    complain(Differential.counts("refused for", refused))
    return result
  }
}
