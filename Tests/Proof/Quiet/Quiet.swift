import Foundation
import LarderBackup
import LarderSQLite
import ProofSupport
import TestSupport

/// A healthy service with writers, readers and copies, for as long as is asked: its log gets nothing, and none of the
/// documentation's alarms fires.
///
/// The metrics are scraped every five seconds. Prometheus's own `promtool` evaluates the alarms over them.
enum Quiet: ProofRow {
  static let name = "quiet"
  static let number = 28
  static let unit = "scrapes"

  private static let interval = 5.0

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    let scratch = try ScratchFolder()
    defer { scratch.remove() }
    let lines = Recorder<DatabaseError>()
    var configuration = Configuration(profile: .durable)
    configuration.log = { lines.add($0) }
    configuration.measuresCalls = true
    let pool = try DatabasePool(path: scratch.file("app.db"), configuration: configuration)
    try pool.inTransaction {
      try $0.executeStatements("CREATE TABLE visit (id INTEGER PRIMARY KEY, page TEXT NOT NULL)")
    }
    let backup = try pool.backup(every: .seconds(10), to: scratch.file("copies"), keeping: 2)
    let service = Service(pool)
    defer {
      service.end()
      backup.cancel()
      try? pool.close()
    }
    var seconds = options
    seconds.seconds = options.seconds ?? 600
    var series = Series()
    while seconds.goesOn(after: result.tried) {
      usleep(UInt32(interval * 1e6))
      series.add(pool.statistics.prometheusText(labels: ["database": "app"]))
      result.tried += 1
    }
    service.end()
    result.failures += service.failures.elements.map { "a caller got \($0)" }
    result.failures += lines.elements.map { "the log got \($0)" }
    let statistics = pool.statistics
    if let error = statistics.error { result.failures.append("the statistics have \(error)") }
    result.details = [
      "\(statistics.transactions) transactions", "\(service.reads.elements.count) reads",
      "\(try FileManager.default.contentsOfDirectory(atPath: scratch.file("copies")).count) files of copies",
    ]
    guard let alarms = try series.alarms(every: interval, in: scratch) else {
      result.skipped = "no promtool, so that alarms aren't evaluated"
      return result
    }
    result.failures += alarms.map { "the alarm \($0) has fired" }
    return result
  }

  /// Two threads that write and two that read, until they are told to end.
  private final class Service: Sendable {
    let failures = Recorder<String>()
    let reads = Recorder<Bool>()
    private let ended = Lock(false)
    private let group = DispatchGroup()

    init(_ pool: DatabasePool) {
      for number in 0..<4 {
        group.enter()
        Thread.detachNewThread { [self] in
          while !ended.withLock({ $0 }) {
            do {
              if number < 2 { try write(pool) } else { try read(pool) }
            } catch {
              failures.add("\(error)")
            }
            usleep(2_000)
          }
          group.leave()
        }
      }
    }

    private func write(_ pool: DatabasePool) throws {
      try pool.inTransaction(label: "visit") { db in
        try db.executeUpdate("INSERT INTO visit (page) VALUES (?)", "home")
        try db.executeUpdate("DELETE FROM visit WHERE id < (SELECT max(id) - 10000 FROM visit)")
      }
    }

    private func read(_ pool: DatabasePool) throws {
      let page = try pool.read(label: "page") {
        try $0.value("SELECT page FROM visit ORDER BY id DESC LIMIT 1", as: String?.self)
      }
      reads.add(page == nil)
    }

    func end() {
      ended.withLock { $0 = true }
      group.wait()
    }
  }

  /// The values of each metric over time.
  private struct Series {
    private var values: [String: [String]] = [:]
    private var count = 0

    mutating func add(_ text: String) {
      for line in text.split(separator: "\n") where !line.hasPrefix("#") {
        guard let space = line.lastIndex(of: " ") else { continue }
        let name = String(line[..<space])
        let before = values[name] ?? []
        // A gap for each scrape in which it wasn't there.
        values[name] =
          before + Array(repeating: "_", count: count - before.count)
          + [String(line[line.index(after: space)...])]
      }
      count += 1
    }

    /// The names of the alarms that have fired at some time; nil without promtool.
    func alarms(every interval: Double, in scratch: ScratchFolder) throws -> [String]? {
      let rules =
        FileManager.default.currentDirectoryPath
        + "/Sources/Larder/Larder.docc/Operation/alarms.yml"
      let version = try? ChildProcess("promtool", ["--version"], output: .nothing, errors: .nothing)
      guard version?.end() == 0, FileManager.default.fileExists(atPath: rules) else { return nil }
      let length = "\(Int(Double(count) * interval))s"
      let test: [String: Any] = [
        "rule_files": [rules], "evaluation_interval": "\(Int(interval))s",
        "tests": [
          [
            "interval": "\(Int(interval))s",
            "input_series": values.map { ["series": $0, "values": $1.joined(separator: " ")] },
            "promql_expr_test": [
              // The test fails, and tells what there was instead.
              [
                "expr":
                  "count by (alertname) (count_over_time(ALERTS{alertstate=\"firing\"}[\(length)]))",
                "eval_time": length, "exp_samples": [["labels": "{}", "value": -1]],
              ]
            ],
          ]
        ],
      ]
      let file = scratch.file("test.json")
      try JSONSerialization.data(withJSONObject: test, options: .withoutEscapingSlashes)
        .write(to: URL(fileURLWithPath: file))
      let promtool = try ChildProcess("promtool", ["test", "rules", file], errors: .output)
      let output = promtool.remainingLines().joined(separator: "\n")
      guard promtool.end() == 1, output.contains("count_over_time") else {
        throw ProofOptions.Failure(description: "promtool says: \(output)")
      }
      return output.matches(of: /alertname="(\w+)"/).map { String($0.output.1) }
    }
  }
}
