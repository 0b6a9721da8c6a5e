import CFaultInjection
import Larder

/// Goes through what was seen and told in the order of the writer's turns, and computes what each caller
/// would have seen and been told had it been alone with what was committed before.
struct Verdict {
  private let schedule: Schedule
  private let ledger: ScheduleLedger
  private let final: FinalState
  /// Whether a sync has failed, after which some don't know whether they are on disk.
  private let hasFailedSync: Bool
  private let lastWrite: Int
  private let told: [ScopeName: ScheduleLedger.Told]
  private(set) var problems: [String]

  /// How many rows there were, and how many writes to the log, once each scope that committed had.
  private var commits: [(entries: Int, written: Int)] = [(0, 0)]
  private var names: Set<Int> = []
  private var log: [FinalState.Entry] = []

  /// - Parameter lastWrite: how many writes to the log there were when the last caller had ended.
  init(_ schedule: Schedule, _ ledger: ScheduleLedger, _ final: FinalState, lastWrite: Int) {
    self.schedule = schedule
    self.ledger = ledger
    self.final = final
    self.lastWrite = lastWrite
    hasFailedSync = durability_has_failed() != 0
    told = Dictionary(ledger.told.map { ($0.name, $0) }) { first, _ in first }
    problems = ledger.problems
    replay()
    checkThoseWhoHadNoTurn()
    checkReadings()
    checkEnd()
  }

  // MARK: Those who write

  private mutating func replay() {
    var visited: Set<ScopeName> = []
    for (index, visit) in ledger.visits.enumerated() {
      guard let step = step(visit.name), let told = told[visit.name] else {
        problems.append("\(visit.name) was never told anything")
        continue
      }
      if !visited.insert(visit.name).inserted { problems.append("\(visit.name) ran twice") }
      let entries = log.count
      if visit.seen != entries {
        problems.append("\(visit.name) saw \(visit.seen) rows where \(entries) were committed")
      }
      let expected = expected(of: step.action)
      let isCommitted = isCommitted(visit.name, told.outcome, expected)
      if let difference = difference(told.outcome, expected, step) {
        problems.append("\(visit.name), \(step.action): \(difference)")
      }
      if isCommitted { commit(visit.name, step.action) }
      let end =
        index + 1 < ledger.visits.count ? ledger.visits[index + 1].written : lastWrite
      if isCommitted { commits.append((log.count, end)) }
      checkDurability(told, sawAll: isCommitted ? end : visit.written, of: step)
      if let committed = told.committed, told.outcome != .cancelled, committed < visit.seen {
        problems.append(
          "\(visit.name) was told \(told.outcome), having seen rows that weren't committed")
      }
    }
  }

  private func step(_ name: ScopeName) -> Schedule.Step? {
    guard schedule.callers.indices.contains(name.caller) else { return nil }
    let steps = schedule.callers[name.caller].steps
    return steps.indices.contains(name.step) ? steps[name.step] : nil
  }

  /// What the action would be told alone.
  private func expected(of action: Action) -> Outcome {
    switch action {
    case .succeed, .rollBackOnly, .savepoints, .nestedRead, .leaveBehind, .read, .checkpoint:
      .returned
    case .throwError: .doubt
    case .insertOrRollback(let hides): .failed(hides ? .abort : .constraintUnique)
    case .claim(let name): names.contains(name) ? .failed(.constraintUnique) : .returned
    case .fill: .failed(.full)
    case .exceedDeadline(let writes, let hides):
      hides ? writes ? .failed(.abort) : .returned : .failed(.interrupt)
    case .violateForeignKey(let mends): mends ? .returned : .failed(.constraintForeignKey)
    }
  }

  private func difference(
    _ outcome: Outcome, _ expected: Outcome, _ step: Schedule.Step
  ) -> String? {
    if outcome == expected { return nil }
    if outcome == .cancelled, step.cancelsAfter != nil { return nil }
    if outcome == .failed(.failedSync), hasFailedSync { return nil }
    return "told “\(outcome)” instead of “\(expected)”"
  }

  /// Whether what the scope wrote counts as committed for those behind it.
  private func isCommitted(_ name: ScopeName, _ outcome: Outcome, _ expected: Outcome) -> Bool {
    switch outcome {
    case .returned: expected == .returned && entryCount(of: name) > 0
    // Written or not: nobody could tell the caller.
    case .failed(.failedSync): final.entries.contains { $0.scope == name }
    // What was committed in a scope that isn't a transaction stays.
    case .cancelled where step(name)?.form == .plain:
      final.entries.contains { $0.scope == name }
    default: false
    }
  }

  /// How many rows a scope leaves in the log if it commits.
  private func entryCount(of name: ScopeName) -> Int {
    switch step(name)?.action {
    case .rollBackOnly, .read, .checkpoint, nil: 0
    case .savepoints(let ends): 1 + ends.count { $0 == .kept }
    default: 1
    }
  }

  private mutating func commit(_ name: ScopeName, _ action: Action) {
    if case .claim(let taken) = action { names.insert(taken) }
    let tenant = schedule.callers[name.caller].tenant ?? "nobody"
    log += Array(
      repeating: FinalState.Entry(scope: name, tenant: tenant), count: entryCount(of: name))
  }

  /// - Parameter sawAll: the writes to the log that hold what the scope saw and did.
  private mutating func checkDurability(
    _ told: ScheduleLedger.Told, sawAll written: Int, of step: Schedule.Step
  ) {
    guard schedule.isDurable, told.synced < written else { return }
    switch told.outcome {
    // These tell nothing of what is committed.
    case .cancelled, .failed(.failedSync): return
    default:
      problems.append(
        "\(told.name), \(step.action): told “\(told.outcome)” with \(told.synced) of \(written) "
          + "writes on disk")
    }
  }

  // MARK: Others

  private mutating func checkThoseWhoHadNoTurn() {
    let visited = Set(ledger.visits.map(\.name))
    for caller in schedule.callers {
      for (number, step) in caller.steps.enumerated() {
        let name = ScopeName(caller: caller.number, step: number)
        guard let told = told[name] else {
          problems.append("\(name) was never told anything")
          continue
        }
        if step.action.isWriting, visited.contains(name) { continue }
        let expected: Outcome? = step.action.isWriting ? nil : .returned
        if told.outcome == .cancelled && step.cancelsAfter != nil || told.outcome == expected
          || told.outcome == .failed(.failedSync) && hasFailedSync
        {
          continue
        }
        problems.append("\(name), \(step.action), had no turn and was told “\(told.outcome)”")
      }
    }
  }

  /// Each reading is of a moment between two commits, not before what its caller knew, and on disk.
  private mutating func checkReadings() {
    var acknowledged: [Int: Int] = [:]
    var last: [Int: Int] = [:]
    for told in ledger.told {
      let caller = told.name.caller
      if let reading = told.reading {
        guard let commit = commits.first(where: { $0.entries == reading.entries }) else {
          problems.append("\(told.name) read \(reading.entries) rows, which never were committed")
          continue
        }
        // What nobody could be told of may be there, too.
        if reading.own < acknowledged[caller, default: 0]
          || reading.own > acknowledged[caller, default: 0] && !hasFailedSync
        {
          problems.append(
            "\(told.name) read \(reading.own) of its \(acknowledged[caller, default: 0]) rows")
        }
        if reading.entries < last[caller, default: 0] {
          problems.append("\(told.name) read what was before its last reading")
        }
        last[caller] = reading.entries
        if let step = step(told.name) {
          checkDurability(told, sawAll: commit.written, of: step)
        }
      } else if told.outcome == .returned {
        acknowledged[caller, default: 0] += entryCount(of: told.name)
      }
    }
  }

  private mutating func checkEnd() {
    if final.entries.map(\.scope) != log.map(\.scope) {
      problems.append("\(final.entries.count) rows are left instead of \(log.count), or others")
    }
    for (entry, written) in zip(final.entries, log)
    where entry.scope == written.scope && entry.tenant != written.tenant {
      problems.append("\(entry.scope) wrote a row of \(entry.tenant) as \(written.tenant)")
    }
    if final.total != final.entries.count {
      problems.append("\(final.total) rows were counted, \(final.entries.count) are left")
    }
    if let complaint = final.complaint { problems.append(complaint) }
  }
}
