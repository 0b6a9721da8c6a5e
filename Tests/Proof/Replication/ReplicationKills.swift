import Foundation
import Larder
import LarderReplication
import ProofSupport
import TestSupport

/// A process that writes and replicates is killed again and again, while this one writes, too, and makes checkpoints.
final class ReplicationKills {
  private let scratch: ScratchFolder
  private let model: ReplicatedModel
  private let digests: ReplicatedDigests
  private let folder: FolderSink
  private var random: SeededGenerator
  private let seed: UInt64
  private var restored = 0
  private(set) var details = ReplicationFigures()

  init(seed: UInt64) throws {
    self.seed = seed
    scratch = try ScratchFolder(inMemory: true)
    model = ReplicatedModel(seed: seed)
    digests = try ReplicatedDigests(model)
    folder = try FolderSink(scratch.file("log"))
    random = SeededGenerator(seed: seed)
  }

  private var path: String { scratch.file("cities.db") }

  /// The process: writes, replicates, and tells which transactions are acknowledged, until it is killed.
  static func replicate(_ arguments: [String]) throws {
    let (path, folder) = (arguments[0], arguments[1])
    let model = ReplicatedModel(seed: UInt64(arguments[2]) ?? 0)
    var configuration = Configuration(profile: .durable)
    configuration.busyTimeout = .seconds(30)
    configuration.journalSizeLimit = 1 << 18
    let pool = try DatabasePool(path: path, configuration: configuration)
    try pool.inTransaction { try ReplicatedModel.create(in: $0) }
    let log = try pool.replicate(
      to: FolderSink(folder), as: "cities", every: .milliseconds(2))
    Parent.tell("ready")
    for _ in 0..<2 {
      Thread.detachNewThread {
        while true {
          _ = try? pool.inTransaction { try model.step(in: $0) }
          usleep(200)
        }
      }
    }
    while true {
      let count = try pool.inTransaction { try model.step(in: $0) }
      try log.ship()
      Parent.tell(String(count))
    }
  }

  func run() throws {
    var left: [Database] = []
    defer { for other in left { try? other.close() } }
    for _ in 0..<5 {
      let child = try ChildProcess.again(
        Replication.name, "--", path, scratch.file("log"), String(seed))
      guard child.line() == "ready" else {
        throw WrongAnswer(description: "the process doesn't begin")
      }
      let other = try Database(path: path)
      other.busyTimeout = .seconds(20)
      for _ in 0..<Int.random(in: 0...8, using: &random) {
        try other.inTransaction(.immediate) { try model.step(in: $0) }
        if Int.random(in: 0..<3, using: &random) == 0 {
          other.busyTimeout = .milliseconds(3)
          _ = try? other.checkpoint(
            [.passive, .full, .restart, .truncate].randomElement(using: &random) ?? .full)
          other.busyTimeout = .seconds(20)
        }
        usleep(UInt32.random(in: 0...4000, using: &random))
      }
      child.kill()
      details.kills += 1
      let acknowledged = child.remainingLines().compactMap { Int($0) }.max() ?? 0
      try restoreSome(atLeast: acknowledged)
      // Closing the last connection removes the log. If it is left open, the next process finds it.
      if Bool.random(using: &random) { try other.close() } else { left.append(other) }
    }
  }

  private func restoreSome(atLeast acknowledged: Int) throws {
    let points = try ReplicatedDatabase.points(in: folder)
    // It may be killed before it has made a whole copy.
    if points.isEmpty, acknowledged == 0 { return }
    let latest = try restore(.latest)
    guard latest >= acknowledged else {
      throw WrongAnswer(
        description: "\(acknowledged) was acknowledged, but the log has only \(latest)")
    }
    details.acknowledged += 1
    for _ in 0..<8 {
      guard let point = points.randomElement(using: &random) else { return }
      _ = try restore(.position(point.position))
    }
  }

  private func restore(_ moment: ReplicatedDatabase.Moment) throws -> Int {
    restored += 1
    let target = scratch.file("restored-\(restored).db")
    do {
      try ReplicatedDatabase.restore(from: folder, to: target, at: moment, check: .full)
    } catch {
      throw WrongAnswer(description: "\(moment) after \(details.kills) kills: \(error)")
    }
    defer { unlink(target) }
    let count = try digests.check(target, "\(moment)")
    details.positions += 1
    return count
  }
}
