import Foundation
import LarderPostgres
import LarderSQLite
import TestSupport
import Testing

/// The alarms of the documentation's file, and what is scraped while all is well.
struct Alarms {
  private let healthy: [String: Double]

  init(_ access: any DatabaseAccess) { healthy = Self.samples(access.statistics) }

  /// - Parameter pool: a pool of connections to a server.
  init(_ pool: PostgresPool) { healthy = Self.samples(pool) }

  static let areThere: Bool = {
    (try? ChildProcess("promtool", ["--version"], output: .nothing, errors: .nothing))?.end() == 0
  }()

  /// A file of the documentation's.
  static func file(_ name: String) -> URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
      .appendingPathComponent("Sources/Larder/Larder.docc/Operation/\(name)")
  }

  /// Writes JSON, which is YAML too, but for the escaped slashes.
  static func write(_ object: Any, to file: String) throws {
    try JSONSerialization.data(withJSONObject: object, options: .withoutEscapingSlashes)
      .write(to: URL(fileURLWithPath: file))
  }

  /// Each line of the metrics: its name with labels, and its value.
  static func samples(_ statistics: AccessStatistics) -> [String: Double] {
    samples(inText: statistics.prometheusText(labels: ["database": "cities"]))
  }

  static func samples(_ pool: PostgresPool) -> [String: Double] {
    let labels = ["database": "cities"]
    return samples(
      inText: pool.statistics.prometheusText(labels: labels)
        + pool.serverStatistics.prometheusText(labels: labels))
  }

  static func samples(inText text: String) -> [String: Double] {
    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    return Dictionary(
      uniqueKeysWithValues: lines.compactMap { line in
        line.lastIndex(of: " ").flatMap { space in
          Double(line[line.index(after: space)...]).map { (String(line[..<space]), $0) }
        }
      })
  }

  /// The names of the alarms that fire if what is seen now goes on for half an hour.
  func firing(_ access: any DatabaseAccess) throws -> [String] {
    try firing(Self.samples(access.statistics), Self.samples(access.statistics))
  }

  func firing(_ pool: PostgresPool) throws -> [String] {
    try firing(Self.samples(pool), Self.samples(pool))
  }

  private func firing(
    _ now: [String: Double], _ later: [String: Double]
  ) throws -> [String] {
    var series: [[String: String]] = []
    for name in Set(healthy.keys).union(now.keys).sorted() {
      let before = healthy[name]
      let value = now[name] ?? later[name]
      // A minute each.
      var values = before.map { "\($0)x9" } ?? "_x10"
      if let value {
        var step = 0.0
        if name.prefix(while: { $0 != "{" }).hasSuffix("_total") {
          step = max(0, value - (before ?? 0))
        } else if name.contains("seconds"), value > 0, later[name] ?? 0 > value {
          // The age of something that goes on.
          step = 60
        }
        values += " \(value)+\(step)x29"
      }
      series.append(["series": name, "values": values])
    }
    let test: [String: Any] = [
      "rule_files": [Self.file("alarms.yml").path], "evaluation_interval": "1m",
      "tests": [
        [
          "interval": "1m", "input_series": series,
          "promql_expr_test": [
            // The test fails, and tells what there was instead.
            [
              "expr": "count by (alertname) (ALERTS{alertstate=\"firing\"})", "eval_time": "35m",
              "exp_samples": [["labels": "{}", "value": -1]],
            ],
            [
              "expr": "count(ALERTS)", "eval_time": "9m", "exp_samples": [],
            ],
          ],
        ]
      ],
    ]
    let folder = try ScratchFolder()
    defer { folder.remove() }
    let file = folder.file("test.json")
    try Self.write(test, to: file)
    let promtool = try ChildProcess("promtool", ["test", "rules", file], errors: .output)
    let output = promtool.remainingLines().joined(separator: "\n")
    #expect(promtool.end() == 1)
    #expect(output.contains("count by") && !output.contains("expr: \"count(ALERTS)\""), "\(output)")
    return output.matches(of: /alertname="(\w+)"/).map { String($0.output.1) }.sorted()
  }
}
