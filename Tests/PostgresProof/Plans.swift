import Foundation
import Larder
import LarderPostgres
import PostgresSupport

private struct Country: Record {
  var id: Int64
  var name: String

  struct Columns: Sendable {
    let id = Column("id", \Country.id, .primaryKey)
    let name = Column("name", \Country.name)
  }
  static let columns = Columns()
  static let table = Table("country", Country.init, columns.id, columns.name)
}

private struct Town: Record {
  var id: Int64
  var name: String
  var rating: Int?
  var country: Int64

  struct Columns: Sendable {
    let id = Column("id", \Town.id, .primaryKey)
    let name = Column("name", \Town.name, .indexed)
    let rating = Column("rating", \Town.rating, .indexed)
    let country = Column("country", \Town.country, .indexed, .references(Country.self))
  }
  static let columns = Columns()
  static let table = Table(
    "town", Town.init, columns.id, columns.name, columns.rating, columns.country)
}

private struct Paper: Record {
  struct Body: Codable {
    var number: Int
    var state: String
  }

  var id: Int64
  var title: String
  var body: Body

  struct Columns: Sendable {
    let id = Column("id", \Paper.id, .primaryKey)
    let title = Column("title", \Paper.title)
    let body = Column("body", \Paper.body, as: .json)
  }
  static let columns = Columns()
  static let table = Table(
    "paper", Paper.init, columns.id, columns.title, columns.body,
    indexes: [
      .index(on: columns.body["number"], as: Int.self),
      .index(on: columns.body["state"], as: String.self),
    ])
  static let text = FullTextIndex(of: Paper.self, \.title, tokenizer: .bigram)
}

/// Which plans typed queries have on a large table.
enum Plans: Verb {
  static let help = """
    plans [--rows 200000]
      Runs typed queries on a table of so many rows, and shows the plans by which the server has executed them
      (auto_explain). None may read a table from its beginning to its end.
    """
  static let options: [String: String?] = ["rows": "200000"]

  static func run(_ options: Options) throws {
    let rows = try options.number("rows")
    let countries = Int64(max(1, rows / 10))
    let server = try PostgresServer([
      "-c", "session_preload_libraries=auto_explain", "-c", "auto_explain.log_min_duration=0",
    ])
    let pool = try onePool(server.address)
    try pool.inTransaction { db in
      try Country.table.create(db)
      try Town.table.create(db)
      try Country.insert(
        db, contentsOf: (1...countries).map { Country(id: $0, name: "country \($0)") })
      let towns = (1...rows).map { (number: Int) -> Town in
        let rating = number % 5 == 0 ? nil : number &* 104_729 % 1000
        return Town(
          id: Int64(number), name: "town \(number &* 7919 % rows)", rating: rating,
          country: Int64(number) % countries + 1)
      }
      try Town.insert(db, contentsOf: towns)
      try Paper.table.create(db)
      let papers = (1...rows / 10).map { (number: Int) -> Paper in
        let body = Paper.Body(number: number &* 7919 % rows, state: "state \(number % 500)")
        return Paper(id: Int64(number), title: "the paper \(number % 999) 南山区", body: body)
      }
      try Paper.insert(db, contentsOf: papers)
      try Paper.text.create(db)
    }
    try pool.inDatabase { db in
      try db.executeUpdate("ANALYZE")
      // What was inserted is seen by all, which spares index scans a look at each row.
      try db.executeUpdate("VACUUM")
    }
    let log = try Log(server.folder + "/log")
    var wrong: [String] = []
    /// Runs a query as often as it takes the server to make a plan for all values, if it does.
    func check(
      _ name: String, writes: Bool = false, _ body: @Sendable (Database, Int) throws -> Int
    )
      throws
    {
      log.skip()
      var count = 0
      for number in 1...7 {
        count =
          writes
          ? try pool.inTransaction { try body($0, number) } : try pool.read { try body($0, number) }
      }
      let plans = log.plans()
      guard count > 0, plans.count >= 7 else {
        throw Wrong("\(name): \(count) rows, \(plans.count) plans")
      }
      // The last one is the plan for all values, if there is one.
      report("\(name) (\(count) rows)\n\(plans.last ?? "")\n")
      if plans.contains(where: { $0.contains("Seq Scan") }) { wrong.append(name) }
    }

    try check("id ==") { db, n in try Town.filter { $0.id == Int64(n) }.fetchAll(db).count }
    try check("find") { db, n in try Town.fetchOne(db, Int64(n)) == nil ? 0 : 1 }
    try check("id in") { db, n in try Town.filter { $0.id.in([1, 2, Int64(n)]) }.fetchAll(db).count
    }
    try check("nullable ==") { db, n in
      try Town.filter { $0.rating == n }.fetchAll(db).count
    }
    try check("hasPrefix") { db, n in
      try Town.filter { $0.name.hasPrefix("town 123\(n)") }.fetchAll(db).count
    }
    // LIKE takes capital letters for small ones, as SQLite's does, for which neither has an index.
    try check("order by a nullable column") { db, n in
      try Town.order { $0.rating }.limit(10 + n).fetchAll(db).count
    }
    try check("order by a nullable column, descending") { db, n in
      try Town.order { $0.rating.desc }.limit(10 + n).fetchAll(db).count
    }
    try check("join by key") { db, n in
      try Town.join(Country.self) { $0.country == $1.id }.filter { town, _ in town.id == Int64(n) }
        .fetchAll(db).count
    }
    try check("join by an indexed column") { db, n in
      try Country.join(Town.self) { $1.country == $0.id }.filter { country, _ in
        country.id == Int64(n)
      }.fetchAll(db).count
    }
    try check("update by key", writes: true) { db, n in
      try Town.filter { $0.id == Int64(n) }.update(db) { $0.name = "renamed" }
    }
    try check("delete by key", writes: true) { db, n in
      try Town.filter { $0.id == Int64(n) }.delete(db)
    }
    try check("a path in JSON ==") { db, n in
      try Paper.filter { $0.body["number"] == n * 7919 }.fetchAll(db).count
    }
    try check("a path in JSON in a range") { db, n in
      try Paper.filter { $0.body["number"] > n && $0.body["number"] < n + 100 }.fetchAll(db).count
    }
    try check("a text in JSON") { db, n in
      try Paper.filter { $0.body["state"] == "state \(n)" }.fetchAll(db).count
    }
    try check("order by a path in JSON") { db, n in
      try Paper.order { $0.body["number"].as(Int.self) }.limit(10 + n).fetchAll(db).count
    }
    try check("full text") { db, n in
      try Paper.matching(Paper.text, .all(of: "\(n)")).order { $0.rank }.fetchAll(db).count
    }
    try check("full text, a beginning, as a condition") { db, n in
      try Paper.filter { $0.matching(Paper.text, .allPrefixes(of: "99\(n)")) }.fetchAll(db).count
    }
    guard wrong.isEmpty else {
      throw Wrong("a table is read as a whole by: \(wrong.joined(separator: ", "))")
    }
  }
}

/// The server's log, from a place on.
private final class Log {
  private let file: FileHandle

  init(_ path: String) throws {
    guard let file = FileHandle(forReadingAtPath: path) else { throw Wrong("no log at \(path)") }
    self.file = file
  }

  func skip() { _ = file.readDataToEndOfFile() }

  /// The plans that were logged since, without their costs.
  func plans() -> [String] {
    var plans: [[String]] = []
    var isPlan = false
    for line in String(decoding: file.readDataToEndOfFile(), as: UTF8.self).split(separator: "\n") {
      if line.hasSuffix("plan:") {
        plans.append([])
        isPlan = true
      } else if isPlan, line.hasPrefix("\t") {
        plans[plans.count - 1].append(
          "  " + line.dropFirst().replacing(#/  \(cost=.*?\)/#, with: ""))
      } else {
        isPlan = false
      }
    }
    return plans.map { $0.joined(separator: "\n") }
  }
}
