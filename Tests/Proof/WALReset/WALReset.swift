import Foundation
import Larder
import ProofSupport
import TestSupport

/// SQLite's WAL-reset bug, on a library that pauses in its window (`Tests/wal-reset` makes it): large imports and
/// single rows, with checkpoints, copies and closings beside them, by one process or two. The log never begins anew
/// under a checkpoint of Larder's, nothing is damaged, and what was committed is there.
enum WALReset: ProofRow {
  static let name = "wal-reset"
  static let number = 22
  static let unit = "rounds"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    guard let window = ResetWindow() else {
      return ProofResult(skipped: "all of it: SQLite has no pause, see Tests/wal-reset")
    }
    if options.rest.count == 3, let seed = UInt64(options.rest[2]) {
      window.pause(microseconds: Int32(options.rest[1]) ?? 0)
      try ResetWork.runBeside(path: options.rest[0], seed: seed)
      exit(0)
    }
    var result = ProofResult()
    var random = SeededGenerator(seed: options.seed)
    var scratch = try ScratchFolder(inMemory: true)
    var rows = 0
    while options.goesOn(after: result.tried) {
      // Up to 50 ms, mostly short: where a pause is long, little is committed.
      let pause = Int32(200 << Int.random(in: 0...8, using: &random))
      window.pause(microseconds: pause)
      let shape = ResetWork.Shape.random(using: &random)
      let work = ResetWork(
        path: scratch.file("main.db"), shape, pause, seed: random.next(), isShort: true)
      do {
        rows += try work.run()
      } catch {
        result.failures.append(
          "seed \(options.seed), round \(result.tried), \(shape), pause \(pause) µs: \(error)")
        scratch = try ScratchFolder(inMemory: true)
      }
      result.tried += 1
      if result.tried % 10 == 0 { scratch = try ScratchFolder(inMemory: true) }
      if result.failures.count >= 20 { break }
    }
    if window.resets > 0 {
      result.failures.append(
        "\(window.resets) checkpoints noted frames of a log that had begun anew")
    }
    if window.pauses == 0, result.tried > 0 { result.failures.append("no checkpoint has paused") }
    result.details = ["\(window.pauses) checkpoints that paused", "\(rows) rows"]
    return result
  }
}

/// The window of the bug, in a library that was made for this.
struct ResetWindow {
  private let length: UnsafeMutablePointer<Int32>
  private let pausesSoFar: UnsafeMutablePointer<Int32>
  private let resetsSoFar: UnsafeMutablePointer<Int32>

  init?() {
    guard let length = Self.variable("larder_pause_microseconds"),
      let pauses = Self.variable("larder_pauses"), let resets = Self.variable("larder_resets")
    else { return nil }
    (self.length, pausesSoFar, resetsSoFar) = (length, pauses, resets)
  }

  private static func variable(_ name: String) -> UnsafeMutablePointer<Int32>? {
    dlsym(nil, name)?.assumingMemoryBound(to: Int32.self)
  }

  /// How long each passive checkpoint pauses.
  func pause(microseconds: Int32) { length.pointee = microseconds }

  /// How many have paused.
  var pauses: Int { Int(pausesSoFar.pointee) }

  /// How many noted frames as moved of a log that had begun anew since they read its header.
  var resets: Int { Int(resetsSoFar.pointee) }
}
