import Foundation
import Larder
import LarderFleet
import ProofSupport
import TestSupport

/// A queue, a pool or a fleet's tenant with writers, readers, observers and copies, when something happens to its file.
struct MovedFileTrial: CustomStringConvertible {
  private let files: MovedFiles
  private let mishap: Mishap
  private let access: Access
  private let isDurable: Bool
  private let sharesSyncs: Bool
  private let hasCopies: Bool
  private let isObserved: Bool
  /// In microseconds.
  private let delay: UInt32
  private let interval: Int

  enum Access: CaseIterable { case queue, pool, fleet }

  init(folder: String, mishap: Mishap, random: inout SeededGenerator) {
    files = MovedFiles(folder: folder)
    self.mishap = mishap
    // A fleet opens by its own paths.
    let kinds = mishap == .linkTurned ? [.queue, .pool] : Access.allCases
    access = kinds.randomElement(using: &random) ?? .pool
    isDurable = Bool.random(using: &random)
    sharesSyncs = Bool.random(using: &random)
    hasCopies = Bool.random(using: &random)
    isObserved = Bool.random(using: &random)
    delay = .random(in: 0...20_000, using: &random)
    interval = [1, 20, 1000].randomElement(using: &random) ?? 1000
  }

  var description: String {
    "\(mishap), \(access), \(isDurable ? "durable" : "not durable"), \(sharesSyncs ? "shared" : "own") syncs, "
      + "\(hasCopies ? "copies" : "no copies"), \(isObserved ? "observed" : "not observed"), "
      + "after \(delay) µs, checkpoints after \(interval) frames"
  }

  func run() throws -> Int {
    try FileManager.default.createDirectory(atPath: files.home, withIntermediateDirectories: true)
    var configuration = Configuration(profile: isDurable ? .durable : .service)
    configuration.groupCommit = sharesSyncs
    let interval = interval
    configuration.prepareDatabase = { db in
      try db.executeUpdate(SQL(raw: "PRAGMA wal_autocheckpoint = \(interval)"))
    }
    let opened = try open(configuration)
    defer { try? opened.close() }
    try opened.write { db in
      try db.executeUpdate("CREATE TABLE payment (id INTEGER PRIMARY KEY, body BLOB NOT NULL)")
    }
    guard Glibc.link(files.file, files.kept) == 0 else {
      throw WrongAnswer(description: "no second name: \(String(cString: strerror(errno)))")
    }
    try makeForeign(from: opened)
    let foreignBytes = try Data(contentsOf: URL(fileURLWithPath: files.foreign))
    let outcome = try work(opened)
    try opened.close()
    // A fleet opens what is there then, and writes to it.
    if mishap == .linkTurned || mishap == .replaced && access != .fleet
      || mishap == .replacedByOlderCopy && access != .fleet
    {
      let path = mishap == .linkTurned ? files.foreign : files.file
      guard try Data(contentsOf: URL(fileURLWithPath: path)) == foreignBytes else {
        throw WrongAnswer(description: "the other file has changed")
      }
    }
    try check(outcome)
    return outcome.count
  }

  private func open(_ configuration: Configuration) throws -> OpenedAccess {
    if mishap == .linkTurned { symlink(files.file, files.link) }
    let path = mishap == .linkTurned ? files.link : files.file
    switch access {
    case .queue: return .access(try DatabaseQueue(path: path, configuration: configuration))
    case .pool: return .access(try DatabasePool(path: path, configuration: configuration))
    case .fleet:
      var fleet = FleetConfiguration()
      fleet.database = configuration
      fleet.database.flags.insert(.create)
      return .fleet(try DatabaseFleet(in: files.home, configuration: fleet))
    }
  }

  private func makeForeign(from opened: OpenedAccess) throws {
    if mishap == .replacedByOlderCopy {
      try opened.read { try $0.backup(to: files.foreign) }
    } else {
      let other = try Database(path: files.foreign)
      try other.executeStatements(
        "CREATE TABLE other (text); INSERT INTO other VALUES ('elsewhere')")
      try other.close()
    }
  }

  /// Has all work until each writer has been refused, or has gone on after what passes. Returns what was acknowledged.
  private func work(_ opened: OpenedAccess) throws -> Set<Int> {
    let ledger = MovedLedger()
    let group = DispatchGroup()
    let backup = hasCopies ? try opened.copies(into: files.folder + "/copies") : nil
    let observation = isObserved ? opened.observe() : nil
    for writer in 0..<3 {
      group.enter()
      let step: @Sendable (Int) throws -> Void = { number in
        let (id, refused) = (number * 3 + writer, ledger.refused)
        try opened.write {
          try $0.executeUpdate("INSERT INTO payment VALUES (?, zeroblob(300))", id)
        }
        ledger.acknowledge(id, refused: refused)
      }
      if writer == 2 {
        Task.detached {
          await ledger.writeInTask(opened, writer)
          group.leave()
        }
      } else {
        Thread.detachNewThread {
          ledger.write(step)
          group.leave()
        }
      }
    }
    group.enter()
    Thread.detachNewThread {
      while !ledger.isOver {
        _ = try? opened.read { try $0.value("SELECT count(*) FROM payment", as: Int.self) }
      }
      group.leave()
    }
    usleep(delay)
    if case .fleet = opened { ledger.freeze() }
    try files.happen(mishap)
    ledger.hasHappened(stays: !mishap.passes)
    if mishap.passes {
      usleep(delay / 4 + 500)
      files.undo(mishap)
      ledger.hasPassed()
    }
    if case .fleet = opened { ledger.end(after: 20) }
    guard group.wait(timeout: .now() + 60) == .success else {
      throw WrongAnswer(description: "a writer hangs")
    }
    if let failure = ledger.failure { throw failure }
    backup?.cancel()
    observation?.cancel()
    return ledger.acknowledged
  }

  /// The file that was open, by its second name and without a log, has all that was acknowledged.
  private func check(_ acknowledged: Set<Int>) throws {
    let alone = files.folder + "/alone"
    try FileManager.default.createDirectory(atPath: alone, withIntermediateDirectories: true)
    // Where the file is in its place, the log that closing has left, if any, belongs to it.
    guard rename(files.kept, alone + "/main.db") == 0 else {
      throw WrongAnswer(description: "the file that was open is gone")
    }
    let db = try Database(path: alone + "/main.db")
    let found = try db.value("PRAGMA integrity_check", as: String.self)
    try WrongAnswer.check(found, "ok", "the integrity check")
    let rows = Set(try db.fetch(Int.self, "SELECT id FROM payment"))
    let missing = acknowledged.subtracting(rows)
    guard missing.isEmpty else {
      throw WrongAnswer(
        description: "\(missing.count) of \(acknowledged.count) acknowledged rows are missing")
    }
    try db.close()
  }
}
