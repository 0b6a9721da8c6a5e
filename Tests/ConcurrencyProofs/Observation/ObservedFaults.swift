import CFaultInjection
import Larder
import ProofSupport
import TestSupport

/// Calls of the file system and allocations that fail while a value and a feed follow a database: what was
/// committed is in the feed once and in order, what was undone isn't, each value is that of a commit, nothing
/// hangs, and what is committed later arrives.
enum ObservedFaults: ProofRow {
  static let name = "observed-faults"
  static let number = 17
  static let unit = "points of failure"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    for code in [fault_memory_install(), fault_vfs_install(0)].map(ResultCode.init(rawValue:)) {
      guard code == .ok else { throw DatabaseError(code: code, message: "nothing to fail") }
    }
    let result = try Elsewhere.inTask {
      options.rest.count == 3 ? try await again(options) : try await sweep(options)
    }
    fault_watch("", 0)
    return result
  }

  /// The circumstances of a trial.
  struct Variant: Sendable, CustomStringConvertible {
    var isPool = false
    var journal = Configuration.JournalMode.wal
    var isDurable = false
    var sharesSyncs = true
    /// How many calls in a row fail.
    var times = 1
    var isOfMemory = false
    var writesHalf = false

    var description: String {
      "\(isPool ? "pool" : "queue"), \(journal), "
        + (isDurable ? "durable\(sharesSyncs ? " together" : "")" : "not durable")
        + ", \(isOfMemory ? "memory" : "files"), \(times == .max ? "from then on" : "\(times) in a row")"
        + (writesHalf ? ", half writes" : "")
    }

    static let all: [Variant] = [
      Variant(), Variant(journal: .delete, isDurable: true), Variant(isDurable: true),
      Variant(isPool: true), Variant(isPool: true, isDurable: true),
      Variant(isPool: true, isDurable: true, sharesSyncs: false),
    ].flatMap { variant in
      [1, 3, .max].flatMap { times in
        [false, true].map { isOfMemory in
          var variant = variant
          (variant.times, variant.isOfMemory) = (times, isOfMemory)
          variant.writesHalf = times == 3
          return variant
        }
      }
    }
  }

  /// Runs one point again, as often as the count says: `-- VARIANT POINT SEED`, as failures name them.
  private static func again(_ options: ProofOptions) async throws -> ProofResult {
    var result = ProofResult()
    guard let variant = Variant.all.first(where: { $0.description == options.rest[0] }),
      let point = Int(options.rest[1]), let seed = UInt64(options.rest[2])
    else { throw ProofOptions.Failure(description: "no such point") }
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    let trial = try ObservedFaultTrial(variant: variant, folder: scratch.path, seed: seed)
    for _ in 0..<(options.count ?? 1) {
      fault_watch("\(variant), point \(point)", 60)
      result.tried += 1
      if let fault = await trial.run(failing: point).fault { result.failures.append(fault) }
    }
    return result
  }

  private static func sweep(_ options: ProofOptions) async throws -> ProofResult {
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    var result = ProofResult()
    var random = SeededGenerator(seed: options.seed)
    var figures: [ObservedFaultTrial.Outcome] = []
    while options.goesOn(after: result.tried), result.tried == 0 || options.count != nil {
      let variants = Variant.all.shuffled(using: &random)
      for (index, variant) in variants.enumerated() where options.goesOn(after: result.tried) {
        let trial = try ObservedFaultTrial(
          variant: variant, folder: scratch.path, seed: random.next() >> 8)
        fault_watch("\(variant), unharmed", 60)
        let total = try await trial.rehearse()
        let most = options.count.map { max(1, ($0 - result.tried) / (variants.count - index)) }
        let step = max(1, total / (most ?? total))
        var point = Int.random(in: 1...step, using: &random)
        while options.goesOn(after: result.tried) {
          let label = "'\(variant)' \(point) \(trial.seed)"
          fault_watch(label, 60)
          let outcome = await trial.run(failing: point)
          // Those who follow don't run in step: another run may have fewer calls.
          guard outcome.hasFired else { break }
          result.tried += 1
          figures.append(outcome)
          if let fault = outcome.fault { result.failures.append("\(label): \(fault)") }
          point += step
        }
      }
    }
    result.details = [
      "the feed was exact in \(figures.count { $0.isExact })",
      "told that it doesn't know in \(figures.count { $0.isUnknown && !$0.isExact })",
      "ended where the disk failed in \(figures.count { $0.isDead })",
      "values ended with the error in \(figures.count { $0.hasEndedValues })",
    ]
    return result
  }
}
