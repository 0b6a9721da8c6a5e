import Larder
import LarderChangeset
import ProofSupport

/// Changesets do what SQLite's session extension does with them: random ones are read, inverted, combined, applied to
/// databases that have diverged, with the same random decisions about the same conflicts, and rebased.
enum Changesets: ProofRow {
  static let name = "changesets"
  static let number = 26
  static let unit = "pairs"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    guard SessionLibrary.exists else {
      result.skipped = "SQLite was built without its session extension"
      return result
    }
    var refused = 0
    var mistaken = 0
    var trials: UInt64 = 0
    var kinds: [Int32: Int] = [:]
    let count = options.count ?? 2000
    while result.tried < count, options.goesOn(after: result.tried) {
      let seed = options.seed &+ trials
      var trial = ChangesetTrial(seed: seed)
      do {
        try trial.run()
      } catch {
        result.failures.append("seed \(seed): \(error)")
      }
      trials += 1
      result.tried += max(1, trial.pairs)
      mistaken += trial.mistaken
      refused += trial.isRefused ? 1 : 0
      kinds.merge(trial.kinds, uniquingKeysWith: +)
    }
    let names = ["changed", "gone", "there already", "constraints", "foreign keys"]
    let counts = names.indices.map { "\(names[$0]) \(kinds[Int32($0 + 1)] ?? 0)" }
    if result.tried >= 1000, kinds.count < names.count {
      result.failures.append("not all conflicts came up: \(counts.joined(separator: ", "))")
    }
    result.details =
      ["of \(trials) databases"] + counts + [
        "not told, as they were no UTF-8: \(refused)",
        "not compared, as SQLite mistakes their updates: \(mistaken)",
      ]
    return result
  }
}
