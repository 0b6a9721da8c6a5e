import ProofSupport
import TestSupport

/// What is opened, made and thrown in a loop: file descriptors, SQLite's memory and the memory of
/// the process return to where they were.
enum Leaks: ProofRow {
  static let name = "leaks"
  static let number = 10
  static let unit = "rounds"

  /// How much the process may grow over a loop: its allocator keeps pages of its own.
  private static let tolerance = 4 << 20

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    let folder = scratch.path
    let loops = try LeakLoop.all(folder)
    let each = max(1, (options.count ?? 10_000) / loops.count)
    // Dispatch begins further threads when it likes, each with some kilobytes of its own.
    let heapTolerance = max(each * 16, 128 << 10)
    var growth = 0
    for loop in loops where options.goesOn(after: result.tried) {
      // What is kept once and for all is made in the first rounds: caches fill up, however few
      // rounds are asked for.
      for _ in 0..<300 { try loop.round() }
      var before = ProcessUsage()
      var after = before
      // A leak grows by the same in each attempt. A thread of Dispatch's or an arena of malloc's comes once, in an
      // attempt that other programs slow down.
      for _ in 0..<3 {
        before = ProcessUsage()
        for _ in 0..<each { try loop.round() }
        after = ProcessUsage()
        result.tried += each
        if after.heap <= before.heap + heapTolerance { break }
      }
      growth = max(growth, after.resident - before.resident)
      // The queues that loops keep are watched from a second after they were opened, by one inotify instance.
      let watches = after.watches - before.watches
      if after.files.count - after.watches != before.files.count - before.watches
        || watches > (before.watches == 0 ? 1 : 0)
      {
        result.failures.append(
          "\(loop.name): \(before.files.count) files become \(after.files.count)")
      }
      // Less than a byte a round is no leak: pages come and go.
      if after.sqlite > before.sqlite + max(each / 2, 4096) {
        result.failures.append(
          "\(loop.name): SQLite's \(before.sqlite) bytes become \(after.sqlite)")
      }
      if after.heap > before.heap + heapTolerance {
        result.failures.append("\(loop.name): \(before.heap) bytes in use become \(after.heap)")
      }
      if !ProcessUsage.isSanitized, after.resident > before.resident + tolerance {
        result.failures.append(
          "\(loop.name): the process grows from \(before.resident) to \(after.resident) bytes")
      }
    }
    result.details = [
      "\(loops.count) loops", "the process grew by \(growth >> 10) KiB at most in one",
    ]
    return result
  }
}
