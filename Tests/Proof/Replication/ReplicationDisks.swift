import Foundation
import Larder
import LarderReplication
import ProofSupport
import TestSupport

/// A disk that gets full, where the log is or where the database is: the error is told, what is in the log can be
/// restored, and all goes on once there is space.
final class ReplicationDisks {
  private let scratch: ScratchFolder
  private let disk: SmallDisk
  private let model: ReplicatedModel
  private let digests: ReplicatedDigests
  private var random: SeededGenerator
  private let isOfLog: Bool
  private var restored = 0
  private(set) var details = ReplicationFigures()
  /// Why nothing was tried.
  private(set) var problem: String?

  init(seed: UInt64) throws {
    scratch = try ScratchFolder(inMemory: true)
    isOfLog = seed % 2 == 0
    disk = SmallDisk(folder: scratch.file("disk"), size: 6 << 20)
    model = ReplicatedModel(seed: seed)
    digests = try ReplicatedDigests(model)
    random = SeededGenerator(seed: seed)
  }

  private var path: String { isOfLog ? scratch.file("cities.db") : disk.folder + "/cities.db" }
  private var log: String { isOfLog ? disk.folder + "/log" : scratch.file("log") }

  func run() throws {
    guard disk.isMounted else {
      problem = "full disks, which take a privilege to mount (\(disk.problem))"
      return
    }
    defer { disk.unmount() }
    for session in 0..<2 {
      let access = try open(session)
      // Closing doesn't wait for a sink that is full.
      defer { try? access.close() }
      let log = try access.replicate(
        to: FolderSink(log), as: "cities",
        .small(interval: .milliseconds(3), objectSize: 1 << 16, smallestChain: 8 << 20))
      // Of what an earlier session has left, less may be there to take.
      try? disk.takeSpace()
      try fill(access, log)
      try check(log)
      if session == 0, Bool.random(using: &random) {
        // The next session begins with a full disk, and what wasn't shipped.
        try? access.close()
        let early = try? open(1)
        defer { try? early?.close() }
        try makeSpace()
        let again = try early ?? open(1)
        defer { try? again.close() }
        let log = try again.replicate(
          to: FolderSink(self.log), as: "cities", every: .milliseconds(3))
        try goOn(again, log)
      } else {
        try makeSpace()
        try goOn(access, log)
      }
      if isOfLog { try FileManager.default.removeItem(atPath: self.log) }
    }
  }

  private func open(_ session: Int) throws -> any DatabaseAccess {
    var configuration = Configuration(profile: .durable)
    configuration.journalSizeLimit = 1 << 17
    let access = try DatabasePool(path: path, configuration: configuration)
    if session == 0 { try access.inTransaction { try ReplicatedModel.create(in: $0) } }
    return access
  }

  private func makeSpace() throws { for _ in 0..<3 { try disk.freeSpace() } }

  /// Writes until the disk is full.
  private func fill(_ access: any DatabaseAccess, _ log: ReplicatedDatabase) throws {
    for number in 0..<4000 {
      do {
        try access.inTransaction { db in
          try model.step(in: db)
          if !isOfLog {
            // Rows that the model doesn't look at.
            try db.executeUpdate("CREATE TABLE IF NOT EXISTS larder_ballast (content BLOB)")
            try db.executeUpdate("INSERT INTO larder_ballast VALUES (randomblob(3000))")
          }
        }
      } catch let error as DatabaseError where error.code == .full && !isOfLog {
        details.fills += 1
        return
      }
      guard isOfLog, number % 4 == 0 else { continue }
      if (try? log.ship(within: .milliseconds(300))) == nil,
        let error = log.statistics.error as? DatabaseError
      {
        guard error.code == .full else { throw error }
        guard log.statistics.pendingBytes > 0 else {
          throw WrongAnswer(description: "nothing waits to be shipped, says a full log")
        }
        details.fills += 1
        return
      }
    }
    throw WrongAnswer(description: "the disk doesn't get full")
  }

  /// What is in the log can be restored, and with a full database everything.
  private func check(_ log: ReplicatedDatabase) throws {
    let points = try ReplicatedDatabase.points(in: .folder(self.log))
    if !isOfLog { try log.ship(within: .seconds(20)) }
    for point in points.suffix(1)
      + (0..<4).compactMap({ _ in points.randomElement(using: &random) })
    {
      _ = try restore(.position(point.position))
    }
  }

  private func goOn(_ access: any DatabaseAccess, _ log: ReplicatedDatabase) throws {
    for _ in 0..<10 {
      _ = try access.inTransaction { try model.step(in: $0) }
      if !isOfLog {
        try access.inTransaction { _ = try $0.executeUpdate("DELETE FROM larder_ballast") }
      }
      let count = try access.read { try ReplicatedModel.count(in: $0) }
      try log.ship(within: .seconds(20))
      let found = try restore(.latest)
      try WrongAnswer.check(found, count, "the transactions in the log")
      details.acknowledged += 1
    }
    details.generations += log.statistics.generations
    details.comparisons += log.statistics.comparisons
    try access.close()
  }

  private func restore(_ moment: ReplicatedDatabase.Moment) throws -> Int {
    restored += 1
    let target = scratch.file("restored-\(restored).db")
    try ReplicatedDatabase.restore(from: .folder(log), to: target, at: moment, check: .full)
    defer { unlink(target) }
    let count = try digests.check(target, "\(moment)")
    details.positions += 1
    return count
  }
}
