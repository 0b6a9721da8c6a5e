import CFaultInjection
import Foundation
import Larder
import ProofSupport
import TestSupport

/// Callers of one queue or pool, while the disk doesn't do what it should.
struct SlowDiskTrial: CustomStringConvertible {
  let path: String
  let isPool: Bool
  let isDurable: Bool
  let fault: Fault
  let timeout: Duration
  private let delay: UInt32

  enum Fault: CaseIterable {
    case slow, verySlow, hanging, failsOnce, fails
  }

  struct Outcome {
    var calls = 0
    /// How much longer than its deadline a call has lasted at most, in seconds.
    var longestBeyond = 0.0
    var failures: [String] = []
  }

  init(path: String, random: inout SeededGenerator) {
    self.path = path
    isPool = Bool.random(using: &random)
    isDurable = Int.random(in: 0..<4, using: &random) > 0
    fault = Fault.allCases.randomElement(using: &random) ?? .hanging
    timeout = .milliseconds(Int.random(in: 300...900, using: &random))
    delay = .random(in: 1000...60_000, using: &random)
  }

  var description: String {
    "\(isPool ? "pool" : "queue"), \(isDurable ? "durable" : "not durable"), \(fault), "
      + "timeout \(timeout)"
  }

  func run() throws -> Outcome {
    var configuration = Configuration(profile: isDurable ? .durable : .service)
    configuration.scopeTimeout = timeout
    configuration.busyTimeout = timeout
    let access: any DatabaseAccess =
      isPool
      ? try DatabasePool(path: path, configuration: configuration)
      : try DatabaseQueue(path: path, configuration: configuration)
    try access.inTransaction {
      try $0.executeUpdate("CREATE TABLE payment (id INTEGER PRIMARY KEY, body BLOB)")
    }
    let calls = TimedCalls(limit: timeout)
    let isOver = Lock(false)
    let group = DispatchGroup()
    start(access, calls, isOver, group)
    usleep(delay)
    begin()
    // Long enough for each kind of call to have run into its deadline.
    usleep(UInt32((timeout + .milliseconds(1300)) / .microseconds(1)))
    calls.time("close") { try access.close() }
    end()
    isOver.withLock { $0 = true }
    var outcome = calls.outcome
    if group.wait(timeout: .now() + 60) != .success { outcome.failures.append("a caller hangs") }
    // Closing goes on where the disk hadn't answered.
    for _ in 0..<100 where (try? access.close()) == nil { usleep(10_000) }
    let db = try Database(path: path)
    let check = try db.value("PRAGMA integrity_check", as: String.self)
    try WrongAnswer.check(check, "ok", "the integrity check")
    let rows = Set(try db.fetch(Int.self, "SELECT id FROM payment"))
    let missing = calls.acknowledged.subtracting(rows)
    if !missing.isEmpty {
      outcome.failures.append("\(missing.count) acknowledged rows are missing")
    }
    try db.close()
    return outcome
  }

  private func begin() {
    switch fault {
    case .slow: slow_disk_delay(300_000)
    case .verySlow: slow_disk_delay(3_000_000)
    case .hanging: slow_disk_hold(1)
    case .failsOnce: slow_disk_fail(1)
    case .fails: slow_disk_fail(-1)
    }
  }

  private func end() {
    slow_disk_delay(0)
    slow_disk_hold(0)
    slow_disk_fail(0)
  }

  private func start(
    _ access: any DatabaseAccess, _ calls: TimedCalls, _ isOver: Lock<Bool>, _ group: DispatchGroup
  ) {
    let next = Lock(0)
    @Sendable func number() -> Int {
      next.withLock { number in
        number += 1
        return number
      }
    }
    @Sendable func insert(_ id: Int, _ db: Database) throws {
      try db.executeUpdate("INSERT INTO payment VALUES (?, zeroblob(500))", id)
    }
    @Sendable func again(_ body: @escaping @Sendable () -> Void) {
      group.enter()
      Thread.detachNewThread {
        while !isOver.withLock({ $0 }) { body() }
        group.leave()
      }
    }
    @Sendable func againInTask(_ body: @escaping @Sendable () async -> Void) {
      group.enter()
      Task.detached(priority: .high) {
        while !isOver.withLock({ $0 }) { await body() }
        group.leave()
      }
    }
    for _ in 0..<3 {
      again {
        let id = number()
        if calls.time("write", { try access.inTransaction { try insert(id, $0) } }) {
          calls.acknowledge(id)
        }
      }
      againInTask {
        let id = number()
        let isDone = await calls.time("write in a task") {
          try await access.inTransaction { try insert(id, $0) }
        }
        if isDone { calls.acknowledge(id) }
      }
    }
    again { calls.time("read") { _ = try access.read { try count($0) } } }
    againInTask {
      await calls.time("read in a task") { _ = try await access.read { try count($0) } }
    }
    againInTask {
      // As a probe that gives up soon.
      await calls.time("probe", within: .milliseconds(100)) {
        let probe = Task { try await access.read { try count($0) } }
        let limit = Task {
          try await Task.sleep(for: .milliseconds(100))
          probe.cancel()
        }
        defer { limit.cancel() }
        _ = try await probe.value
      }
    }
    again { calls.time("checkpoint") { _ = try access.checkpoint(.full) } }
  }
}

private func count(_ db: Database) throws -> Int? {
  try db.value("SELECT count(*) FROM payment", as: Int.self)
}

/// How long calls take beyond their deadlines, without the time that their own threads were in a sync.
final class TimedCalls: Sendable {
  private let limit: Duration
  private let state = Lock((outcome: SlowDiskTrial.Outcome(), acknowledged: Set<Int>()))

  /// What a call may take beyond its deadline: a second, and what a busy machine takes.
  private static let grace = 1.8

  init(limit: Duration) { self.limit = limit }

  var outcome: SlowDiskTrial.Outcome { state.withLock { $0.outcome } }
  var acknowledged: Set<Int> { state.withLock { $0.acknowledged } }

  func acknowledge(_ id: Int) { state.withLock { _ = $0.acknowledged.insert(id) } }

  @discardableResult
  func time(_ name: String, _ body: () throws -> Void) -> Bool {
    let (start, own) = (ContinuousClock.now, slow_disk_own_nanoseconds())
    let isDone = (try? body()) != nil
    note(
      name, ContinuousClock.now - start - .nanoseconds(slow_disk_own_nanoseconds() - own), limit)
    return isDone
  }

  @discardableResult
  func time(
    _ name: String, within limit: Duration? = nil, _ body: () async throws -> Void
  ) async -> Bool {
    let start = ContinuousClock.now
    var isDone = true
    do { try await body() } catch { isDone = false }
    note(name, ContinuousClock.now - start, limit ?? self.limit)
    return isDone
  }

  private func note(_ name: String, _ time: Duration, _ limit: Duration) {
    let beyond = (time - limit) / .seconds(1)
    state.withLock { state in
      state.outcome.calls += 1
      state.outcome.longestBeyond = max(state.outcome.longestBeyond, beyond)
      if beyond > Self.grace { state.outcome.failures.append("a \(name) lasted \(time)") }
    }
  }
}
