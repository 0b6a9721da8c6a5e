import Foundation
import LarderMacros
import Synchronization

/// What swift-log's `Logger` would be.
protocol EventLog: Sendable {
  func write(_ level: String, _ message: String, _ fields: [String: String])
}

/// What swift-metrics would be.
protocol MetricsSink: Sendable {
  func count(_ label: String, _ value: Int)
  func gauge(_ label: String, _ value: Double)
  func time(_ label: String, _ value: Duration)
}

/// Both, in memory: figures to look at, lines to print or to check.
final class Notebook: EventLog, MetricsSink {
  private let state = Mutex(State())
  private struct State {
    var lines: [String] = []
    var figures: [String: Double] = [:]
  }

  var lines: [String] { state.withLock { $0.lines } }
  var figures: [String: Double] { state.withLock { $0.figures } }

  func write(_ level: String, _ message: String, _ fields: [String: String]) {
    let line = "\(level): \(message) \(fields.sorted { $0.key < $1.key }.map { "\($0)=\($1)" })"
    state.withLock { if $0.lines.count < 10_000 { $0.lines.append(line) } }
  }
  func count(_ label: String, _ value: Int) {
    state.withLock { $0.figures[label, default: 0] += Double(value) }
  }
  func gauge(_ label: String, _ value: Double) { state.withLock { $0.figures[label] = value } }
  func time(_ label: String, _ value: Duration) {
    state.withLock { $0.figures[label] = value / .milliseconds(1) }
  }
}

/// Hands what the database tells to a log and to metrics.
struct Watch: Sendable {
  static let slow = Duration.milliseconds(100)
  let log: any EventLog
  let metrics: any MetricsSink

  init(_ notebook: Notebook = Notebook()) {
    log = notebook
    metrics = notebook
  }

  @Sendable func error(_ error: DatabaseError) {
    metrics.count("database.errors", 1)
    log.write(
      Watch.level(of: error), error.message,
      [
        "code": "\(error.extendedCode.rawValue)", "sql": error.sql ?? "",
        "state": error.sqlState ?? "",
      ])
  }

  @Sendable func statement(_ event: TraceEvent) {
    metrics.time("database.slow", event.duration)
    log.write(
      "notice", "slow statement",
      ["sql": event.sql, "took": "\(event.duration)", "waited": "\(event.waited)"])
  }

  static func level(of error: DatabaseError) -> String {
    switch error.code {
    case .corrupt, .notADatabase, .full, .ioError, .noMemory, .cannotOpen: "critical"
    case .busy, .locked, .readOnly: "warning"
    case .constraint, .interrupt, .abort: "debug"
    default: "error"
    }
  }

  /// Reports figures until its task is cancelled.
  func sample(_ access: any DatabaseAccess, every interval: Duration) async throws {
    var last = access.statistics
    while true {
      try await Task.sleep(for: interval)
      let now = access.statistics
      metrics.gauge("database.waiting", Double(now.waiting))
      metrics.gauge("database.readers.busy", Double(now.busyReaders))
      metrics.gauge("database.log.frames", Double(now.logFrames))
      metrics.count("database.transactions", now.transactions - last.transactions)
      metrics.count("database.syncs", now.syncs - last.syncs)
      metrics.count("database.retries", now.retries - last.retries)
      if now.waits > last.waits {
        metrics.time("database.wait", (now.waited - last.waited) / (now.waits - last.waits))
      }
      for alarm in Watch.alarms(now) { log.write("warning", alarm, [:]) }
      last = now
    }
  }

  /// What is worth waking somebody for.
  static func alarms(_ now: AccessStatistics) -> [String] {
    var alarms: [String] = []
    if now.waiting > 50 { alarms.append("\(now.waiting) writers wait") }
    if let age = now.oldestReaderAge, age > .seconds(60) { alarms.append("a read lasts \(age)") }
    if now.logFrames > 32_768 { alarms.append("the log has \(now.logFrames) frames") }
    if now.longestWait > .seconds(5) { alarms.append("somebody waited \(now.longestWait)") }
    return alarms
  }
}
