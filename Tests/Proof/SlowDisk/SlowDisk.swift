import CFaultInjection
import Foundation
import Larder
import ProofSupport
import TestSupport

/// A disk whose syncs are slow, hang or fail, under every kind of call: none lasts longer than its deadline and a
/// second, and what was acknowledged as durable is there.
///
/// The C library's `fsync` and `fdatasync` are this program's own. A call whose own thread is in a sync can't be given
/// up: SQLite syncs the head of a log that begins anew, and what closing moves. Such time is told apart, and counted.
enum SlowDisk: ProofRow {
  static let name = "slow-disk"
  static let number = 24
  static let unit = "faults"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    var random = SeededGenerator(seed: options.seed)
    var calls = 0
    var longest = 0.0
    let count = options.count ?? 20
    while result.tried < count, options.goesOn(after: result.tried) {
      let scratch = try ScratchFolder()
      let trial = SlowDiskTrial(path: scratch.file("main.db"), random: &random)
      do {
        let outcome = try trial.run()
        calls += outcome.calls
        longest = max(longest, outcome.longestBeyond)
        result.failures += outcome.failures.map {
          "seed \(options.seed), fault \(result.tried), \(trial): \($0)"
        }
      } catch {
        result.failures.append("seed \(options.seed), fault \(result.tried), \(trial): \(error)")
      }
      result.tried += 1
    }
    result.details = [
      "\(calls) calls",
      "the longest ended \(Int(longest * 1000)) ms after its deadline",
    ]
    return result
  }
}
