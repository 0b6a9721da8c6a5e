import Foundation
import Larder
import LarderReplication
import ProofSupport
import TestSupport

// What happens to the sink, to the database's file and to the log's objects in a trial.

extension ReplicationTrial {
  /// The sink is gone while much is written: nothing is acknowledged, the error is told, and later all is there.
  func beGone(
    _ sink: FaultySink, _ access: any DatabaseAccess, _ log: ReplicatedDatabase
  ) throws {
    sink.beGone(true)
    defer { sink.beGone(false) }
    for _ in 0..<Int.random(in: 2...5, using: &random) {
      try burst(access)
      try event(access)
    }
    let count = try access.inTransaction { try self.model.step(in: $0) }
    guard (try? log.ship(within: .milliseconds(100))) == nil else {
      throw WrongAnswer(description: "a commit was acknowledged while the sink was gone")
    }
    let statistics = log.statistics
    guard statistics.error != nil, statistics.pendingBytes > 0, statistics.lag > .zero else {
      throw WrongAnswer(description: "nobody is told that the sink is gone: \(statistics)")
    }
    details.outages += 1
    sink.beGone(false)
    guard (try? log.ship(within: .seconds(20))) != nil else { return }
    try expectLatest(atLeast: count)
  }

  /// Gives the database the content of a copy with another size of pages.
  func changePageSize(_ access: any DatabaseAccess) throws {
    let target = scratch.file("other-pages.db")
    defer { unlink(target) }
    try access.inDatabase { try $0.backup(to: target) }
    var configuration = Configuration()
    configuration.journalMode = .delete
    let other = try Database(path: target, configuration: configuration)
    let size = [1024, 4096, 8192].randomElement(using: &random) ?? 4096
    try other.executeUpdate(SQL(raw: "PRAGMA page_size = \(size)"))
    try other.executeUpdate("VACUUM")
    try other.close()
    try access.inDatabase { try $0.restore(from: target) }
    details.journals += 1
  }

  /// Tries to leave the write-ahead log, by the writer or by another connection, and goes back to it.
  func leaveLog(_ access: any DatabaseAccess) throws {
    let model = model
    func leave(_ db: Database) throws {
      let mode = try? db.value("PRAGMA journal_mode = delete", as: String.self)
      if mode == "delete" { details.journals += 1 }
      try db.inTransaction(.immediate) { try model.step(in: $0) }
      _ = try? db.value("PRAGMA journal_mode = wal", as: String.self)
    }
    if chance(2) {
      try access.inDatabase { try leave($0) }
    } else {
      let other = try Database(path: path)
      other.busyTimeout = .milliseconds(20)
      defer { try? other.close() }
      try leave(other)
    }
  }

  /// Somebody puts an earlier copy in the file's place: nothing of it comes into the log before it is opened anew.
  func replaceFile(_ access: any DatabaseAccess, _ log: ReplicatedDatabase) throws {
    let earlier = scratch.file("earlier.db")
    try access.inDatabase { try $0.backup(to: earlier) }
    let count = try access.inTransaction { try self.model.step(in: $0) }
    guard (try? log.ship(within: .seconds(20))) != nil else { return }
    for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
    guard rename(earlier, path) == 0 else { return }
    let other = try Database(path: path)
    try other.inTransaction { try model.step(in: $0) }
    try other.inTransaction { try model.step(in: $0) }
    try other.close()
    if (try? log.ship(within: .milliseconds(200))) != nil {
      throw WrongAnswer(description: "something is acknowledged after the file was replaced")
    }
    guard log.statistics.error != nil else {
      throw WrongAnswer(description: "nobody is told that the file was replaced")
    }
    let (found, restored) = try restore(.latest)
    unlink(restored)
    try WrongAnswer.check(found, count, "the log of a file that was replaced")
    details.replaced += 1
    details.contents += 1
  }

  // MARK: Objects

  private func path(of object: LogObject) -> String { scratch.file("log/" + object.name) }

  /// Damages or removes objects of the log. Each restore is right, or throws; and a log with a gap begins anew.
  func damageLog() throws {
    let points = try ReplicatedDatabase.points(in: folder, name: "cities")
    guard let last = points.last else { return }
    let some = (0..<4).compactMap { _ in points.randomElement(using: &random) } + [last]
    let known = try some.map { point in
      let (count, restored) = try restore(.position(point.position))
      unlink(restored)
      return (position: point.position, count: count)
    }
    let objects = try folder.list("cities/").filter { object in
      ["log", "part", "base", "whole", "end"].contains { object.name.contains("/\($0)-") }
    }
    // Most are segments. Those that end whole copies have to be tried, too, and the newest one last.
    let ends = objects.filter { !$0.name.contains("/log-") }
    for number in 0..<9 {
      let newest = objects.filter { $0.name.contains("/base-") }.max { $0.name < $1.name }
      let object =
        number == 8 && chance(2)
        ? newest : (number % 2 == 0 ? objects : ends).randomElement(using: &random)
      guard let object else { return }
      let bytes = try [UInt8](ScratchFolder.contents(of: path(of: object)))
      let isRemoved = number == 8 || chance(3)
      if isRemoved {
        unlink(path(of: object))
      } else {
        let other = objects.randomElement(using: &random) ?? object
        let damaged = try damage(bytes, other)
        try Data(damaged).write(to: URL(fileURLWithPath: path(of: object)))
      }
      details.damages += 1
      for (position, count) in known {
        try expect(count, at: .position(position), orErrorAfter: object)
      }
      // Without the last segment the log ends before it, as if that had never been put.
      let isEnd =
        object.name.contains("/log-")
        && object.name.contains("-" + padded(last.position.segment) + "-")
      if !isRemoved || !isEnd {
        try expect(known.last?.count ?? 0, at: .latest, orErrorAfter: object)
      }
      if number < 8 { try Data(bytes).write(to: URL(fileURLWithPath: path(of: object))) }
    }
    try heal()
  }

  private func padded(_ number: Int) -> String {
    String(repeating: "0", count: max(0, 12 - String(number).count)) + String(number)
  }

  private func damage(_ bytes: [UInt8], _ other: LogObject) throws -> [UInt8] {
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return Array(bytes.prefix(bytes.count / 2))
    case 1: return try [UInt8](ScratchFolder.contents(of: path(of: other)))
    default:
      var bytes = bytes
      if let index = bytes.indices.randomElement(using: &random) {
        bytes[index] ^= UInt8.random(in: 1...255, using: &random)
      }
      return bytes
    }
  }

  private func expect(
    _ count: Int, at moment: ReplicatedDatabase.Moment, orErrorAfter object: LogObject
  ) throws {
    do {
      let (found, restored) = try restore(moment)
      unlink(restored)
      guard found == count else {
        throw WrongAnswer(
          description: "\(moment) is \(found) instead of \(count) after damage to \(object.name)")
      }
    } catch let error as DatabaseError where [.notFound, .corrupt].contains(error.code) {
      details.noticed += 1
    }
  }

  /// The next process that replicates goes on, or begins anew if the last object that was removed is missing.
  private func heal() throws {
    let access = try DatabasePool(path: path)
    let log = try access.replicate(to: folder, as: "cities", every: .milliseconds(5))
    let count = try access.inTransaction { try self.model.step(in: $0) }
    try log.ship(within: .seconds(20))
    let generations = log.statistics.generations
    details.generations += generations
    do {
      try expectLatest(atLeast: count)
    } catch let error as DatabaseError where error.code == .notFound && generations == 0 {
      // A part of the whole copy is missing. Later there is another one.
      details.noticed += 1
    }
    try access.close()
  }
}
