import CFaultInjection
import Foundation
import Larder
import ProofSupport
import TestSupport

/// Power that fails at any moment: what was synced is there, of the rest anything.
enum PowerLoss: ProofRow {
  static let name = "power-loss"
  static let number = 4
  static let unit = "states of the disk"

  private static let all: [any PowerLossStory] = SequentialStory.all + ConcurrentStory.all

  static func run(_ options: ProofOptions) throws -> ProofResult {
    let code = ResultCode(rawValue: fault_vfs_install(1))
    guard code == .ok else { throw DatabaseError(code: code, message: "no VFS to record with") }
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    let folder = scratch.path
    let count = options.count ?? 1000
    // Those whose names hold what is asked for behind `--`.
    let stories = all.filter { story in
      options.rest.isEmpty || options.rest.contains { story.name.contains($0) }
    }
    var random = SeededGenerator(seed: options.seed)
    var result = ProofResult()
    var tried = [Int](repeating: 0, count: stories.count)
    while options.goesOn(after: result.tried), result.tried < count {
      for index in stories.indices where options.goesOn(after: result.tried) {
        let before = result.tried
        // A small count still meets every story; a large one has each told again and again.
        let share = min(300, max(1, (count + 5) / stories.count))
        try lose(stories[index], in: folder, share, options, &random, &result)
        tried[index] += result.tried - before
      }
    }
    fault_watch("", 0)
    result.details = zip(stories, tried).map { "\($0.name): \($1)" }
    return result
  }

  /// Records one story, and lets the power fail at moments all along it.
  private static func lose(
    _ story: any PowerLossStory, in folder: String, _ share: Int, _ options: ProofOptions,
    _ random: inout SeededGenerator, _ result: inout ProofResult
  ) throws {
    var story = story
    let path = folder + "/main.db"
    try ScratchFolder.empty(folder)
    let start = SeededGenerator(seed: random.next())
    random = start
    fault_watch("\(story.name), seed \(options.seed)", 60)
    for problem in try story.tell(path: path, &random) {
      result.failures.append("\(story.name), seed \(options.seed), with the power on: \(problem)")
    }
    let count = fault_event_count()
    let total = (0..<count).reduce(0) { $0 + weight(of: fault_event_at($1)) }
    let chance = Double(share) / Double(max(1, total))
    var disk = Disk(keepsOrder: story.needsOrder)
    var marks = Marks()
    for moment in 0..<count where options.goesOn(after: result.tried) {
      let event = fault_event_at(moment)
      disk.take(event, &random)
      if event.type == FAULT_EVENT_MARK { marks.take(event.offset) }
      // At most two states a moment, where somebody was told of something some more.
      for _ in 0..<2 * weight(of: event)
      where Double.random(in: 0..<2, using: &random) < min(2, chance) {
        let label = "\(story.name), moment \(moment) of \(count), state \(result.tried)"
        fault_watch(label, 60)
        if let fault = try check(disk.afterPowerLoss(&random), story, folder, marks) {
          result.failures.append("\(label), seed \(options.seed): \(fault)")
        }
        result.tried += 1
      }
    }
  }

  /// What somebody has just been told of is the first that must not be lost.
  private static func weight(of event: fault_event) -> Int {
    guard event.type == FAULT_EVENT_MARK else { return 1 }
    // Few collide.
    return Marks.kind(of: event.offset) == .collided ? 20 : 4
  }

  private static func check(
    _ files: [String: [UInt8]], _ story: any PowerLossStory, _ folder: String, _ marks: Marks
  ) throws -> String? {
    try ScratchFolder.empty(folder)
    for (path, bytes) in files { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
    do {
      return try story.fault(
        path: folder + "/main.db", marks)
    } catch {
      return "it can't be read: \(error)"
    }
  }
}
