import Foundation
import Larder
import LarderReplication
import TestSupport

/// A database is replicated while threads, another connection and processes write, with checkpoints of all kinds,
/// VACUUMs, other journals and page sizes, kills, and a sink that fails: at each random position the restored database
/// is what it was, row by row.
enum Replication: ProofRow {
  static let name = "replication"
  static let number = 27
  static let unit = "positions"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    if options.rest.count == 3 {
      try ReplicationKills.replicate(options.rest)
      exit(0)
    }
    var result = ProofResult()
    let count = options.count ?? 300
    var figures = ReplicationFigures()
    var seed = options.seed
    while figures.positions < count, options.goesOn(after: figures.positions) {
      do {
        if seed % 4 == 0 {
          let trial = try ReplicationKills(seed: seed)
          defer { figures += trial.details }
          try trial.run()
        } else {
          let trial = try ReplicationTrial(seed: seed)
          defer { figures += trial.details }
          try trial.run(positions: min(60, count))
        }
      } catch {
        result.failures.append("seed \(seed): \(error)")
        if result.failures.count >= 20 { break }
      }
      seed += 1
    }
    result.tried = figures.positions
    result.details = figures.details
    return result
  }
}
