import CFaultInjection
import Foundation
import Larder
import ProofSupport
import TestSupport

/// Runs scripts again and again, each time with another call failing, and looks at what is left.
struct FaultSweep {
  /// What is made to fail.
  let kinds: UInt32
  /// Whether an error is one that such a failure may surface as.
  let isExpected: (DatabaseError) -> Bool
  private(set) var result = ProofResult()
  /// How many failures were followed by success all the same.
  private var harmless = 0
  private var scripts: Set<String> = []
  private var folder = ""

  private static let scripts: [FaultScript] = [
    .statement, .undoing, .connection, .capabilities, .files, .opening, .large, .records,
    .documents, .migration, .queue, .pool, .durableQueue, .durablePool,
  ]

  /// A script and the circumstances that it runs in.
  private struct Variant {
    let script: FaultScript
    let journal: Configuration.JournalMode
    /// How many calls in a row fail.
    let times: Int
    let pageSize: Int
    let writes: Int
    let synchronous: Configuration.Synchronous

    var name: String {
      "\(script.name), journal \(journal), synchronous \(synchronous), pages of \(pageSize), "
        + "\(times == .max ? "from then on" : "\(times) in a row")\(writes == 0 ? "" : ", half writes")"
    }
  }

  init(kinds: UInt32, isExpected: @escaping (DatabaseError) -> Bool) {
    self.kinds = kinds
    self.isExpected = isExpected
  }

  /// Without a count, every point of every script in two journal modes; with one, points spread
  /// evenly, or further rounds in other circumstances until there are as many.
  mutating func run(_ options: ProofOptions) throws -> ProofResult {
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    folder = scratch.path
    var random = SeededGenerator(seed: options.seed)
    var round = 0
    while round == 0 || options.count != nil, options.goesOn(after: result.tried) {
      let variants = Self.variants(round, &random)
      for (index, variant) in variants.enumerated() where options.goesOn(after: result.tried) {
        let others = variants.count - index
        let left = options.count.map { ($0 - result.tried + others - 1) / others }
        try sweep(variant, atMost: left, options, &random)
      }
      round += 1
    }
    fault_watch("", 0)
    result.details = [
      "\(harmless) of them did no harm", "\(scripts.count) of \(Self.scripts.count) scripts",
    ]
    return result
  }

  private static func variants(_ round: Int, _ random: inout SeededGenerator) -> [Variant] {
    let sizes = [4096, 512, 65536, 1024, 16384]
    var variants: [Variant] = []
    for script in scripts {
      let modes: [Configuration.JournalMode] =
        round % 2 == 0 ? [.wal, .delete] : [.truncate, .persist]
      for mode in script.needsLog ? [.wal] : modes {
        for times in [1, 3, Int.max] {
          variants.append(
            Variant(
              script: script, journal: mode, times: times,
              pageSize: sizes[round % sizes.count],
              writes: round == 0 ? (times == 3 ? 1 : 0) : Int.random(in: 0...1, using: &random),
              synchronous: script.synchronous
                ?? (mode == .wal && round % 2 == 0 ? .normal : .full)))
        }
      }
    }
    return variants
  }

  private mutating func sweep(
    _ variant: Variant, atMost most: Int?, _ options: ProofOptions, _ random: inout SeededGenerator
  ) throws {
    var configuration = Configuration()
    configuration.journalMode = variant.journal
    configuration.synchronous = variant.synchronous
    configuration.busyTimeout = .milliseconds(50)
    let template = try FaultTemplate.make(
      in: folder, pageSize: variant.pageSize, configuration, fill: FaultTemplate.fill)
    var trial = FaultTrial(
      script: variant.script, configuration: configuration, template: template, kinds: kinds,
      times: variant.times, writes: Int32(variant.writes), isExpected: isExpected)
    let total = try trial.rehearse(in: folder)
    let step =
      variant.script.isAlwaysWhole ? 1 : max(1, most.map { total / max(1, $0) } ?? 1)
    var point = step > 1 ? Int.random(in: 1...step, using: &random) : 1
    // Beyond the last one that was counted there may be more: threads don't run in step.
    while options.goesOn(after: result.tried) {
      let label = "\(variant.name), point \(point), seed \(options.seed)"
      fault_watch(label, 60)
      let outcome = try trial.run(in: folder, failing: point)
      guard outcome.hasFired else { break }
      result.tried += 1
      scripts.insert(variant.script.name)
      if let fault = outcome.fault {
        result.failures.append("\(label): \(fault)")
      } else if outcome.isHarmless {
        harmless += 1
      }
      point += step
    }
  }
}
