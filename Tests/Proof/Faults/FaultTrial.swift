import CFaultInjection
import Foundation
import Larder
import ProofSupport
import TestSupport

/// One script, run with one call failing.
struct FaultTrial {
  let script: FaultScript
  let configuration: Configuration
  let template: Data
  let kinds: UInt32
  let times: Int
  let writes: Int32
  let isExpected: (DatabaseError) -> Bool
  /// The state before each step, and at the end.
  private var states: [DatabaseState] = []

  struct Outcome {
    var hasFired = false
    var isHarmless = false
    var fault: String?
  }

  init(
    script: FaultScript, configuration: Configuration, template: Data, kinds: UInt32,
    times: Int, writes: Int32, isExpected: @escaping (DatabaseError) -> Bool
  ) {
    self.script = script
    self.configuration = configuration
    self.template = template
    self.kinds = kinds
    self.times = times
    self.writes = writes
    self.isExpected = isExpected
  }

  /// Runs the script with nothing failing, remembers where each step leads, and returns how many
  /// calls could fail.
  mutating func rehearse(in folder: String) throws -> Int {
    let bench = try prepare(folder)
    states = [try DatabaseState(folder: folder)]
    for step in script.steps {
      do {
        try step.run(bench)
      } catch {
        throw WrongAnswer(description: "\(script.name), \(step.name), unharmed: \(error)")
      }
      states.append(try DatabaseState(folder: folder))
    }
    try bench.close()
    // Counted apart, since looking at the state changes what there is to be done.
    let other = try prepare(folder)
    for (index, step) in script.steps.enumerated() {
      if index == script.safeSteps { fault_arm(kinds, 0, 0, 0) }
      try step.run(other)
    }
    fault_disarm()
    try other.close()
    return fault_seen()
  }

  func run(in folder: String, failing point: Int) throws -> Outcome {
    let bench = try prepare(folder)
    var outcome = Outcome()
    var reached = 0
    var failure: (any Error)?
    for (index, step) in script.steps.enumerated() {
      do {
        if index == script.safeSteps { fault_arm(kinds, point, times, writes) }
        try step.run(bench)
        reached += 1
      } catch {
        failure = error
        break
      }
    }
    fault_disarm()
    outcome.hasFired = fault_fired() > 0
    outcome.isHarmless = failure == nil
    let place = reached < script.steps.count ? script.steps[reached].name : "the end"
    bench.isByHand = place == "transaction by hand" || place == "rollback"
    if let partly = failure as? PartlyDone {
      bench.acknowledged += partly.done
      failure = partly.error
    }
    let faults = [
      failure.flatMap { complaint(of: $0, outcome) }, complaint(afterwardsOf: bench),
      complaint(in: folder, reached, hasFailed: failure != nil, bench.acknowledged),
    ].compactMap { $0 }
    if !faults.isEmpty {
      outcome.fault =
        "failing call of kind \(fault_kind()) in “\(place)” "
        + "(\(failure.map { "\($0)" } ?? "no error")): " + faults.joined(separator: "; ")
    }
    return outcome
  }

  private func prepare(_ folder: String) throws -> FaultBench {
    try ScratchFolder.empty(folder)
    let bench = FaultBench(folder: folder, configuration: configuration)
    if script.needsFile { try template.write(to: URL(fileURLWithPath: bench.path)) }
    return bench
  }

  private func complaint(of error: any Error, _ outcome: Outcome) -> String? {
    if !outcome.hasFired { return "an error although nothing failed" }
    return switch error {
    case let error as DatabaseError: isExpected(error) ? nil : "an unexpected error"
    case RecordError.batch(_, _, let error as DatabaseError),
      MigrationError.failed(_, let error as DatabaseError):
      isExpected(error) ? nil : "an unexpected error"
    default: "an error of the wrong type"
    }
  }

  private func complaint(afterwardsOf bench: FaultBench) -> String? {
    do {
      try bench.probe()
      try bench.close()
      return nil
    } catch {
      try? bench.close()
      return "the connection doesn't work again: \(error)"
    }
  }

  private func complaint(
    in folder: String, _ reached: Int, hasFailed: Bool, _ acknowledged: [Int]
  ) -> String? {
    do {
      let state = try DatabaseState(folder: folder)
      return state.fault(
        from: states[reached], to: states[hasFailed ? reached + 1 : reached],
        isTogether: configuration.journalMode != .wal, acknowledged: acknowledged)
    } catch {
      return "the files can't be read: \(error)"
    }
  }
}
