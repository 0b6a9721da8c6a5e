import Foundation
import Larder
import LarderReplication
import ProofSupport
import TestSupport

/// A database is replicated while threads, another connection and processes write, with checkpoints of all kinds,
/// VACUUMs, other journals, page sizes, contents and files, kills, takeovers by other processes, full disks at both ends,
/// and a sink that fails or has lost objects: at each random position the restored database is what it was, row by row,
/// or an error tells what is missing.
enum Replication: ProofRow {
  static let name = "replication"
  static let number = 27
  static let unit = "positions"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    switch options.rest.count {
    case 3:
      try ReplicationKills.replicate(options.rest)
      exit(0)
    case 4:
      try ReplicationTakeover.own(options.rest)
      exit(0)
    default: break
    }
    var result = ProofResult()
    let count = options.count ?? 300
    var figures = ReplicationFigures()
    var seed = options.seed
    while figures.positions < count, options.goesOn(after: figures.positions) {
      do {
        switch seed % 12 {
        case 0, 4, 8:
          let trial = try ReplicationKills(seed: seed)
          defer { figures += trial.details }
          try trial.run()
        case 2, 6:
          let trial = try ReplicationTakeover(seed: seed)
          defer { figures += trial.details }
          try trial.run()
        case 3, 10:
          let trial = try ReplicationDisks(seed: seed)
          defer { figures += trial.details }
          try trial.run()
          if let problem = trial.problem { result.skipped = problem }
        default:
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
