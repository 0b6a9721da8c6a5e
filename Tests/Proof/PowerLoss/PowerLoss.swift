import CFaultInjection
import Foundation
import Larder

/// Power that fails at any moment: what was synced is there, of the rest anything.
enum PowerLoss: ProofRow {
  static let name = "power-loss"
  static let number = 4
  static let unit = "states of the disk"

  private static let transactions = 40

  static func run(_ options: ProofOptions) throws -> ProofResult {
    let code = ResultCode(rawValue: fault_vfs_install(1))
    guard code == .ok else { throw DatabaseError(code: code, message: "no VFS to record with") }
    let folder = try ProofFolder.make()
    defer { ProofFolder.remove(folder) }
    let count = options.count ?? 1000
    var random = RandomNumbers(seed: options.seed)
    var result = ProofResult()
    var tried = [Int](repeating: 0, count: PowerLossStory.all.count)
    while options.goesOn(after: result.tried), result.tried < count {
      for index in PowerLossStory.all.indices where options.goesOn(after: result.tried) {
        let before = result.tried
        // A small count still meets every story.
        let share = max(1, (count + 5) / PowerLossStory.all.count)
        try lose(PowerLossStory.all[index], in: folder, share, options, &random, &result)
        tried[index] += result.tried - before
      }
    }
    fault_watch("", 0)
    result.details = zip(PowerLossStory.all, tried).map { "\($0.name): \($1)" }
    return result
  }

  /// Records one story, and lets the power fail at moments all along it.
  private static func lose(
    _ story: PowerLossStory, in folder: String, _ share: Int, _ options: ProofOptions,
    _ random: inout RandomNumbers, _ result: inout ProofResult
  ) throws {
    var story = story
    let path = folder + "/main.db"
    try ProofFolder.empty(folder)
    let start = RandomNumbers(seed: random.next())
    random = start
    try story.tell(path: path, transactions: transactions, &random)
    let count = fault_event_count()
    let chance = Double(share) / Double(max(1, count))
    var disk = Disk(keepsOrder: story.needsOrder)
    var marks = Marks()
    for moment in 0..<count where options.goesOn(after: result.tried) {
      let event = fault_event_at(moment)
      disk.take(event)
      if event.type == FAULT_EVENT_MARK { marks.take(event.offset) }
      // In the long form two states a moment, in a short one some here and there.
      for _ in 0..<2 where Double.random(in: 0..<2, using: &random) < min(2, chance) {
        let label = "\(story.name), moment \(moment) of \(count), state \(result.tried)"
        fault_watch(label, 60)
        if let fault = try check(disk.afterPowerLoss(&random), story, folder, marks) {
          result.failures.append("\(label), seed \(options.seed): \(fault)")
        }
        result.tried += 1
      }
    }
  }

  private static func check(
    _ files: [String: [UInt8]], _ story: PowerLossStory, _ folder: String, _ marks: Marks
  ) throws -> String? {
    try ProofFolder.empty(folder)
    for (path, bytes) in files { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
    do {
      return try story.fault(
        path: folder + "/main.db", marks)
    } catch {
      return "it can't be read: \(error)"
    }
  }
}
