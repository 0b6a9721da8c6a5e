import Foundation
import Larder
import LarderPostgres
import PostgresSupport

/// A typed query, and the SQL that somebody writes by hand for the same.
struct ByHandQuery: Sendable {
  let name: String
  let typed: @Sendable (Database) throws -> Int
  let sql: SQL

  /// - Parameters:
  ///   - sql: its rows are as many as the typed query returns.
  init(_ name: String, _ sql: SQL, _ typed: @escaping @Sendable (Database) throws -> Int) {
    self.name = name
    self.typed = typed
    self.sql = sql
  }

  func written(_ db: Database) throws -> Int {
    var count = 0
    let rows = try db.executeQuery(sql)
    while try rows.next() { count += 1 }
    return count
  }
}

/// How long the server takes for typed queries, and for the same by hand.
enum ByHand: Verb {
  static let help = """
    by-hand [--rows 100000] [--rounds 15] [--seed 1] [--json]
      Runs typed queries on an index of packages, releases (so many) and builds, and on one that Fluent's migrations have
      made (a tenth as many packages) and a migrator adopts, and in turn with each the SQL that one writes by hand for it. None may take the server more than 1.5 times as long: parsing, planning and running, as
      its log says, in the median, but for differences of less than 0.1 ms.
    """
  static let options: [String: String?] = [
    "rows": "100000", "rounds": "15", "seed": "1", "json": nil,
  ]

  static func run(_ options: Options) throws {
    var figures = Figures("by-hand", unit: "queries", options)
    let server = try PostgresServer(["-c", "log_duration=on", "-c", "jit=off"])
    let last = Lock("")
    let pool = try Self.pool(server.address) { sql in last.withLock { $0 = sql } }
    let rounds = try options.number("rounds")
    try Self.adopt(pool, packages: options.number("rows") / 10)
    try PackageIndex(releases: options.number("rows")).insert(into: pool)
    let durations = try Durations(server.folder + "/log")
    var ratios: [Double] = []
    for query in ByHandQueries.all + FluentQueries.all {
      var times = try measure(query, rounds, pool, durations)
      // Other programs on the machine may have been in the way of one of both.
      for _ in 0..<2 where times.isSlow { times = try measure(query, rounds * 2, pool, durations) }
      ratios.append(times.ratio)
      report("\(times)  \(query.name)\(times.isSlow ? "  SLOW" : "")")
      figures.tried += 1
      guard times.isSlow else { continue }
      figures.failed += 1
      try pool.inDatabase { db in
        _ = try query.typed(db)
        report("  typed: \(last.withLock { $0 })")
        let plan = try db.fetch(String.self, "EXPLAIN (ANALYZE) \(query.sql)")
        report("  by hand: \(query.sql.text)\n    " + plan.joined(separator: "\n    "))
      }
    }
    let sorted = ratios.sorted()
    figures.details = [
      String(format: "median %.2f of what SQL by hand takes", sorted[sorted.count / 2]),
      String(format: "at most %.2f", sorted.last ?? 0),
    ]
    try figures.end()
  }

  /// Has Fluent's migrations make a database, adopts it, and compares it with the records.
  private static func adopt(_ pool: PostgresPool, packages: Int) throws {
    try pool.inDatabase { db in try FluentSchema.make(db) }
    try FluentSchema.migrator.migrate(pool, adopting: "schema of Fluent")
    try pool.inDatabase { db in
      let differences = try FluentSchema.differences(db)
      guard differences.isEmpty else { throw Wrong("Fluent's schema: \(differences)") }
      try FluentSchema.fill(db, packages: packages)
    }
  }

  private static func pool(
    _ address: String, _ note: @escaping @Sendable (String) -> Void
  ) throws -> PostgresPool {
    var configuration = PostgresConfiguration()
    configuration.connections = 1
    configuration.trace = { note($0.sql) }
    return try PostgresPool(address, configuration: configuration)
  }

  /// Milliseconds, in the median.
  private struct Times: CustomStringConvertible {
    let typed: Double
    let written: Double

    var ratio: Double { typed / written }
    var isSlow: Bool { ratio > 1.5 && typed - written > 0.1 }
    var description: String {
      String(format: "%7.2f ms, by hand %7.2f ms, %5.2f", typed, written, ratio)
    }
  }

  private static func measure(
    _ query: ByHandQuery, _ rounds: Int, _ pool: PostgresPool, _ durations: Durations
  ) throws -> Times {
    var (typed, written): ([Double], [Double]) = ([], [])
    for round in 0..<rounds {
      // In turn, since the machine may have other things to do meanwhile.
      let counts = try (0..<2).map { turn in
        let isTyped = (turn == 0) == (round % 2 == 0)
        durations.skip()
        let count = try pool.inDatabase { isTyped ? try query.typed($0) : try query.written($0) }
        if isTyped { typed.append(durations.sum()) } else { written.append(durations.sum()) }
        return count
      }
      guard counts[0] == counts[1], counts[0] > 0 else {
        throw Wrong("\(query.name): \(counts[0]) rows, and \(counts[1])")
      }
    }
    return Times(typed: typed.sorted()[rounds / 2], written: written.sorted()[rounds / 2])
  }
}

/// What the server's log says of times, from a place on.
private final class Durations {
  private let file: FileHandle

  init(_ path: String) throws {
    guard let file = FileHandle(forReadingAtPath: path) else { throw Wrong("no log at \(path)") }
    self.file = file
  }

  func skip() { _ = file.readDataToEndOfFile() }

  /// Of all that was logged since, in milliseconds.
  func sum() -> Double {
    let text = String(decoding: file.readDataToEndOfFile(), as: UTF8.self)
    return text.split(separator: "\n").reduce(0) { sum, line in
      guard let place = line.range(of: "duration: ") else { return sum }
      return sum + (Double(line[place.upperBound...].prefix { $0 != " " }) ?? 0)
    }
  }
}
