import Foundation
import Larder
import ProofSupport
import TestSupport

/// A process that is killed at any moment: what it has acknowledged is there, whole, and the file
/// is good.
enum Kills: ProofRow {
  static let name = "kills"
  static let number = 3
  static let unit = "kills"

  private static let stories: [(name: String, make: @Sendable (String) -> any KillStory)] = [
    ("group commit", { PaymentStory(path: $0, role: "payments") }),
    ("checkpoint", { PaymentStory(path: $0, role: "checkpoints") }),
    ("backup", { BackupStory(path: $0) }),
    ("rollback journal", { PaymentStory(path: $0, role: "journal") }),
    ("migration", { MigrationStory(path: $0) }),
    // From threads and tasks, which share syncs.
    ("durable queue", { PaymentStory(path: $0, role: "durable-queue") }),
    ("durable pool", { PaymentStory(path: $0, role: "durable-pool") }),
  ]

  /// The most processes that are killed on one file, one after the other.
  private static let killsPerFile = 20

  static func run(_ options: ProofOptions) throws -> ProofResult {
    if let story = options.rest.first {
      try KilledProcess.work(story, Array(options.rest.dropFirst()))
      exit(0)
    }
    var result = ProofResult()
    var random = SeededGenerator(seed: options.seed)
    let count = options.count ?? 100
    var killed: [String: Int] = [:]
    var acknowledged = 0
    // A small count still meets every story.
    let each = min(killsPerFile, max(1, (count + stories.count - 1) / stories.count))
    while result.tried < count, options.goesOn(after: result.tried) {
      for (name, make) in stories where result.tried < count {
        let scratch = try ScratchFolder(inMemory: true)
        defer { scratch.remove() }
        let folder = scratch.path
        var story = make(folder + "/main.db")
        for kill in 0..<min(each, count - result.tried) {
          do {
            acknowledged += try story.kill(kill, &random)
          } catch {
            result.failures.append("\(name), seed \(options.seed): \(error)")
          }
          result.tried += 1
          killed[name, default: 0] += 1
        }
      }
    }
    result.details =
      killed.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
      + ["acknowledged: \(acknowledged)"]
    return result
  }
}
