import Foundation
import Larder
import ProofSupport
import TestSupport

/// A process that pays, from several threads or tasks, and the check that no payment is lost or half
/// there.
struct PaymentStory: KillStory {
  let path: String
  let role: String

  mutating func kill(_ number: Int, _ random: inout SeededGenerator) throws -> Int {
    let first = number * 1_000_000
    let process = try ChildProcess.again(Kills.name, "--", role, path, String(first))
    let lines = try Self.lines(of: process, &random)
    let ids = lines.compactMap { Int($0) }
    let read = lines.filter { $0.hasPrefix("read ") }.compactMap { Int($0.dropFirst(5)) }
    try WrongAnswer.check(ids.count + read.count, lines.count, "the number of lines understood")
    try Self.check(path, from: first, acknowledged: ids, read: read.max() ?? 0)
    return ids.count
  }

  static func check(
    _ path: String, from first: Int, acknowledged: [Int], read: Int = 0
  ) throws {
    var configuration = Configuration()
    configuration.journalMode = nil
    let db = try Database(path: path, configuration: configuration)
    let found = try db.value("PRAGMA integrity_check", as: String.self)
    try WrongAnswer.check(found, "ok", "the integrity check")
    guard try db.tableExists("receipt") else {
      try WrongAnswer.check(acknowledged.count, 0, "what was acknowledged without tables")
      return
    }
    let kept = try Payments.kept(db, from: first)
    try WrongAnswer.check(acknowledged.filter { !kept.contains($0) }, [], "what was lost")
    guard kept.count >= read else {
      throw WrongAnswer(description: "\(kept.count) payments are left of \(read) that were read")
    }
    let half = try Payments.halfCount(db)
    try WrongAnswer.check(half, 0, "the number of half transactions")
    try db.close()
  }
}

/// Payments while another thread copies the file into another one, again and again.
struct BackupStory: KillStory {
  private var payments: PaymentStory
  private let copy: String

  init(path: String) {
    payments = PaymentStory(path: path, role: "backups")
    copy = path + ".copy"
  }

  mutating func kill(_ number: Int, _ random: inout SeededGenerator) throws -> Int {
    let acknowledged = try payments.kill(number, &random)
    // The copy is of one moment, or not begun.
    if access(copy, F_OK) == 0 { try PaymentStory.check(copy, from: 0, acknowledged: []) }
    return acknowledged
  }
}

/// Migrations of some hundred statements each.
struct MigrationStory: KillStory {
  private let path: String
  private var applied = 0

  init(path: String) { self.path = path }

  mutating func kill(_ number: Int, _ random: inout SeededGenerator) throws -> Int {
    let process = try ChildProcess.again(
      Kills.name, "--", "migrations", path, String(applied + 20))
    let ended = try Self.lines(of: process, &random).filter { $0.hasPrefix("ended") }.count
    let found = try check()
    // One may have been committed without having been reported.
    guard (applied + ended...applied + ended + 1).contains(found) else {
      throw WrongAnswer(
        description: "\(found) migrations are there, after \(applied) before and \(ended) reported")
    }
    applied = found
    return ended
  }

  /// How many migrations are wholly there; throws where one is in part.
  private func check() throws -> Int {
    guard access(path, F_OK) == 0 else { return 0 }
    let db = try Database(path: path)
    let (applied, problems) = try NumberedMigrations.check(db)
    try WrongAnswer.check(problems, [], "what is wrong with the migrations")
    try db.close()
    return applied
  }
}
