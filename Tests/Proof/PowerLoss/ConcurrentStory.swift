import CFaultInjection
import Foundation
import Larder
import TestSupport

/// Many threads and tasks that write, read, collide and checkpoint at the same time, so that commits
/// meet syncs that run, and syncs that fail.
///
/// How they meet is another matter each time, so that a seed makes the same callers but not the same
/// story. What a failure says is what was seen.
struct ConcurrentStory: PowerLossStory {
  let name: String
  let needsOrder = false
  private var configuration: Configuration
  private let isPool: Bool
  /// Whether a sync of the log fails in the end.
  private let failsSync: Bool
  private var seed: UInt64 = 0

  /// `SQLITE_IOERR_FSYNC`.
  private static let failedSync: ResultCode = 1034

  static let all = [
    ConcurrentStory(
      name: "many callers, queue, synchronous full", configuration(.service, .wal, .full)),
    ConcurrentStory(
      name: "many callers, pool, durable profile", configuration(.durable), isPool: true),
    ConcurrentStory(
      name: "many callers, queue, nothing shared", configuration(.durable), sharesSyncs: false),
    ConcurrentStory(
      name: "many callers, queue, journal cut", configuration(.service, .truncate, .full)),
    ConcurrentStory(
      name: "many callers, queue, a sync fails", configuration(.durable), failsSync: true),
    ConcurrentStory(
      name: "many callers, pool, a sync fails", configuration(.durable), isPool: true,
      failsSync: true),
  ]

  private init(
    name: String, _ configuration: Configuration, isPool: Bool = false, failsSync: Bool = false,
    sharesSyncs: Bool = true
  ) {
    self.name = name
    self.configuration = configuration
    self.configuration.groupCommit = sharesSyncs
    self.isPool = isPool
    self.failsSync = failsSync
  }

  /// What callers leave behind.
  private struct Findings {
    var problems: [String] = []
    /// How many were told of a failed sync, and how many got another error for it.
    var failedSyncs = 0
    var consequences = 0
  }

  mutating func tell(path: String, _ random: inout SeededGenerator) throws -> [String] {
    seed = random.next()
    fault_record_begin()
    fault_let_sleep(1)
    defer {
      fault_let_sleep(0)
      fault_record_end()
      fault_disarm()
      fault_delay_log_syncs(0)
    }
    fault_delay_log_syncs([0, 50, 150, 400].randomElement(using: &random) ?? 0)
    let sittings = Int.random(in: 1...3, using: &random)
    for sitting in 1...sittings {
      let access = try open(path)
      if sitting == 1 {
        let position = try access.inTransaction { [seed] in try Ledger.found($0, seed: seed) }
        Marks.set(.acknowledged, position)
      }
      let fails = failsSync && sitting == sittings
      if fails {
        fault_arm(UInt32(FAULT_LOG_SYNC), Int.random(in: 1...30, using: &random), 1, 0)
      }
      let findings = work(access, sitting, &random)
      var problems = findings.problems
      if fails, fault_fired() > 0 {
        fault_disarm()
        if findings.failedSyncs == 0, findings.consequences > 0 {
          problems.append("callers get errors, and none says that a sync has failed")
        }
        problems += refusal(access)
        // What comes now is no longer the program's to answer for: it has to look at the file.
        fault_record_end()
        try? access.close()
        problems += try reopening(path)
      } else {
        try access.close()
      }
      if !problems.isEmpty { return problems }
    }
    return []
  }

  private func open(_ path: String) throws -> any DatabaseAccess {
    isPool
      ? try DatabasePool(path: path, configuration: configuration)
      : try DatabaseQueue(path: path, configuration: configuration)
  }

  // MARK: Callers

  /// Runs 2 to 16 callers, some threads and some tasks, to their end.
  private func work(
    _ access: any DatabaseAccess, _ sitting: Int, _ random: inout SeededGenerator
  ) -> Findings {
    let findings = Lock(Findings())
    let callers = Int.random(in: 2...16, using: &random)
    let tasks = Int.random(in: 0...callers, using: &random)
    let working = DispatchGroup()
    let each = max(4, 64 / callers)
    for index in 0..<callers {
      let actions = (0..<each).map {
        CallerAction(seed: seed, caller: sitting * 100 + index, number: $0)
      }
      working.enter()
      if index < tasks {
        Task.detached {
          for action in actions {
            do { try await action.perform(access).mark() } catch { take(error, findings) }
          }
          working.leave()
        }
      } else {
        Thread.detachNewThread {
          for action in actions {
            do { try action.perform(access).mark() } catch { take(error, findings) }
          }
          working.leave()
        }
      }
    }
    working.wait()
    return findings.withLock { $0 }
  }

  /// After a failed sync any error of the library is right; before it, none.
  private func take(_ error: any Error, _ findings: Lock<Findings>) {
    findings.withLock { findings in
      guard failsSync, fault_fired() > 0, let error = error as? DatabaseError else {
        findings.problems.append("a caller gets \(error)")
        return
      }
      if error.extendedCode == Self.failedSync {
        findings.failedSyncs += 1
      } else {
        findings.consequences += 1
      }
    }
  }

  // MARK: After a failed sync

  /// Nobody knows what is on the disk: to go on writing would build on it.
  private func refusal(_ access: any DatabaseAccess) -> [String] {
    for attempt in 1...2 {
      do {
        try access.inTransaction { try $0.executeUpdate("CREATE TABLE unwanted (id INTEGER)") }
        return ["transaction \(attempt) after a failed sync is acknowledged"]
      } catch is DatabaseError {
      } catch {
        return ["transaction \(attempt) after a failed sync gets \(error)"]
      }
    }
    return []
  }

  /// With the power on, nothing is lost, and the file can be written again.
  private func reopening(_ path: String) throws -> [String] {
    let access = try open(path)
    defer { try? access.close() }
    do {
      try access.inTransaction { db in
        try db.executeUpdate(
          "INSERT INTO journal SELECT max(position) + 1, ?, 0 FROM journal", CallerAction.founder)
      }
    } catch {
      return ["opened anew after a failed sync, it can't be written: \(error)"]
    }
    return []
  }

  func fault(path: String, _ marks: Marks) throws -> String? {
    let db = try Self.openAndCheck(path, configuration)
    if let fault = try Ledger.fault(db, seed: seed, marks) { return fault }
    try db.executeUpdate("CREATE TABLE probe AS SELECT 1 AS id")
    try db.close()
    return nil
  }
}
