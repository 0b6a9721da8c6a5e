import Foundation
import Larder
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

/// What a process does that is killed, and what is checked then.
protocol KillStory {
  /// Starts a process, kills it, and looks at what it leaves: how much it had acknowledged.
  mutating func kill(_ number: Int, _ random: inout SeededGenerator) throws -> Int
}

extension KillStory {
  /// The lines that a process writes until it is killed, 2 to 12 ms after its first one; or, one
  /// time in five, at any moment after its start.
  static func lines(
    of process: ChildProcess, _ random: inout SeededGenerator
  ) throws -> [String] {
    var lines: [String] = []
    let isEarly = Int.random(in: 0..<5, using: &random) == 0
    let delay = Duration.microseconds(
      Int.random(in: isEarly ? 0...20_000 : 2000...12_000, using: &random))
    if !isEarly {
      guard let first = process.line() else {
        throw WrongAnswer(description: "the process says nothing")
      }
      lines.append(first)
    }
    let end = ContinuousClock.now + delay
    while ContinuousClock.now < end, let line = process.line(before: end) { lines.append(line) }
    process.kill()
    // What it wrote before it died still arrives.
    lines += process.remainingLines()
    if let error = lines.first(where: { $0.hasPrefix("error") }) {
      throw WrongAnswer(description: error)
    }
    return lines
  }
}
