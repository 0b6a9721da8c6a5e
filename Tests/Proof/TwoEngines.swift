import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import ProofSupport
import RandomQueries

/// Random queries find the same on SQLite and on PostgreSQL, or PostgreSQL refuses them by an error that says what
/// it hasn't.
///
/// Each thousand has rows of its own, and a server of one of three locales in turn, unless `LARDER_TEST_LOCALE` names one.
/// In every other thousand a third of the real numbers are infinite or very large. Behind `--` stands the same as for
/// ``Differential``, and `hostile` or `plain` for all of them to be so, or none.
enum TwoEngines: ProofRow {
  static let name = "two-engines"
  static let number = 18
  static let unit = "queries"

  /// The names that `Tests/postgres` takes.
  private static let locales = ["C", "icu", "libc"]

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    guard PostgresServer.isInstalled else {
      result.skipped = PostgresServer.whySkipped
      return result
    }
    var servers: [String: PostgresServer] = [:]
    var refused: [String: Int] = [:]
    var hostile = 0
    let kinds = options.rest.compactMap(QueryKind.init(rawValue:))
    var equal = Dictionary(
      uniqueKeysWithValues: (kinds.isEmpty ? QueryKind.allCases : kinds).map { ($0, 0) })
    let seeds = options.rest.compactMap { UInt64($0) }
    let count = seeds.isEmpty ? options.count ?? 1000 : seeds.count
    var seed = options.seed
    while result.tried < count, options.goesOn(after: result.tried) {
      let locale =
        ProcessInfo.processInfo.environment["LARDER_TEST_LOCALE"]
        ?? locales[Int(seed % UInt64(locales.count))]
      let server =
        try servers[locale] ?? PostgresServer(["--locale", locale, "-c", "jit=off"])
      servers[locale] = server
      let isHostile =
        options.rest.contains("hostile")
        || seed.isMultiple(of: 2) && !options.rest.contains("plain")
      let db = try Database.postgres(server.database())
      var comparison = try EngineComparison(seed: seed, db, kinds: kinds, isHostile: isHostile)
      if seeds.isEmpty {
        try comparison.run(count: min(1000, count - result.tried))
      } else {
        try comparison.run(seeds: seeds)
      }
      try db.close()
      seed &+= 1
      result.tried += comparison.tried
      if isHostile { hostile += comparison.tried }
      result.failures += comparison.failures.map { "\($0) (\(locale))" }
      refused.merge(comparison.refused, uniquingKeysWith: +)
      equal.merge(comparison.kinds, uniquingKeysWith: +)
    }
    result.details = [
      "equal: \(equal.values.reduce(0, +))", "refused: \(refused.values.reduce(0, +))",
      "on rows with infinities: \(hostile)",
      "locales: \(servers.keys.sorted().joined(separator: " "))",
    ]
    complain(Differential.counts("equal", equal))
    complain(Differential.counts("refused for", refused))
    return result
  }
}
