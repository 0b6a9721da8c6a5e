import CFaultInjection
import Foundation
import Larder
import ProofSupport
import TestSupport

/// Random schedules of threads and tasks that share a queue or a pool, and fail in every way, run with
/// shared syncs and without: every caller sees, and is told, what it would have been alone with the
/// database, on its own thread or in its own task, once it is on disk; and the database holds exactly
/// what was acknowledged.
enum AsIfAlone: ProofRow {
  static let name = "as-if-alone"
  static let number = 14
  static let unit = "schedules"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    let code = ResultCode(rawValue: durability_vfs_install())
    guard code == .ok else { throw DatabaseError(code: code, message: "no VFS") }
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    let folder = scratch.path
    var result = ProofResult()
    var scopes = 0
    var atOnce = 0
    let count = options.count ?? 200
    // As many as are reported: where callers hang, each takes its time.
    let most = 20
    while result.tried < count, result.failures.count < most, options.goesOn(after: result.tried) {
      let schedule = Schedule(seed: options.seed + UInt64(result.tried))
      for sharesSyncs in [true, false] {
        let label = "seed \(schedule.seed), syncs \(sharesSyncs ? "shared" : "not shared")"
        fault_watch("as-if-alone, \(label)", 60)
        do {
          let (problems, count) = try run(schedule, sharesSyncs: sharesSyncs, folder)
          atOnce += count
          if !problems.isEmpty {
            result.failures.append(
              "\(label): \(distinct(problems).prefix(6).joined(separator: "; "))")
          }
        } catch {
          result.failures.append("\(label): \(error)")
        }
        try ScratchFolder.empty(folder)
      }
      scopes += schedule.callers.reduce(0) { $0 + $1.steps.count }
      result.tried += 1
    }
    fault_watch("", 0)
    result.details = ["scopes: \(2 * scopes)", "of tasks, on the task's own thread: \(atOnce)"]
    return result
  }

  private static func run(
    _ schedule: Schedule, sharesSyncs: Bool, _ folder: String
  ) throws -> (problems: [String], atOnce: Int) {
    let stage = try Stage(schedule, sharesSyncs: sharesSyncs, folder: folder)
    stage.run()
    let written = durability_written()
    stage.cancelInLine()
    stage.commitDuringSync()
    let final = try stage.end()
    let ledger = stage.ledger.withLock { $0 }
    return (Verdict(schedule, ledger, final, lastWrite: written).problems, ledger.atOnceCount)
  }

  /// The first problem of each kind.
  private static func distinct(_ problems: [String]) -> [String] {
    var kinds: Set<String> = []
    return problems.filter { kinds.insert($0.filter { !$0.isNumber }).inserted }
  }
}
