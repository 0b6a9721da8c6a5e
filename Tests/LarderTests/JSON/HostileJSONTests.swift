import Foundation
import Larder
import PostgresSupport
import Testing

@Suite("Hostile JSON")
struct HostileJSONTests {
  let db: Database

  init() throws { db = try .jsonJobs() }

  private func set(_ text: String) throws {
    try JSONJob.filter { $0.id == 1 }.update(db) { $0.text = .value(text) }
  }

  private func holds(
    _ condition: (RecordFields<JSONJob>) -> SQLExpression<Bool>
  ) throws -> Bool {
    try JSONJob.filter { $0.id == 1 && condition($0) }.fetchCount(db) == 1
  }

  @Test(
    "Comparing a JSON number of any size with a Decimal doesn't throw",
    arguments: ["1e308", "-1e308", "5e-324", "1e400", "0.\(String(repeating: "3", count: 60))"])
  func decimals(number: String) throws {
    try set(#"{"v":\#(number)}"#)
    let tenth = try #require(Decimal(string: "0.1"))
    #expect(try !holds { $0.text["v"] == tenth })
    #expect(try holds { $0.text["v"] != tenth })
    #expect(try !holds { $0.text["v"].in([tenth]) })
    #expect(try !holds { $0.text["v"] < tenth && $0.text["v"] > tenth })
    if !TestEngine.isPostgres {
      #expect(throws: DatabaseError.self) {
        try JSONJob.select { $0.text["v"].as(Decimal.self) }.fetchAll(db)
      }
    }
  }

  /// Sequences that aren't UTF-8, by the table of RFC 3629.
  private static let broken = [
    "ff", "80", "c0af", "c1bf", "c3", "c328", "e0809f", "e28228", "e282", "eda080", "edbfbf",
    "f08080af", "f09f98", "f4908080", "f5808080",
  ]

  private static func bytes(_ hexadecimal: String) -> Data {
    var digits = hexadecimal[...]
    var data = Data()
    while let byte = UInt8(digits.prefix(2), radix: 16) {
      data.append(byte)
      digits = digits.dropFirst(2)
    }
    return data
  }

  @Test(
    "Bytes that aren't UTF-8 make JSON invalid, in values and in names", .onlySQLite(.anyTyped))
  func utf8() throws {
    for bytes in Self.broken {
      // Each document is {"a":"…"} or {"…":1}.
      for hex in ["7b2261223a22\(bytes)227d", "7b22\(bytes)223a317d"] {
        try db.executeUpdate(
          "UPDATE json_job SET text = CAST(\(Self.bytes(hex)) AS TEXT) WHERE id = 1")
        let comment = Comment(rawValue: hex)
        #expect(try holds { !$0.text.isValidJSON }, comment)
        #expect(throws: DatabaseError.self, comment) {
          try JSONJob.filter { $0.id == 1 }.select { $0.text["a"].as(String.self) }.fetchAll(db)
        }
        #expect(throws: DatabaseError.self, comment) {
          try JSONJob.filter { $0.id == 1 }.update(db) { $0.text["b"] = 1 }
        }
      }
    }
    for text in ["é", "ࠀ", "퟿", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}", "߿"] {
      try set(#"{"\#(text)":"\#(text)"}"#)
      #expect(try holds { $0.text.isValidJSON && $0.text[text] == text })
    }
  }

  @Test("A JSON path 20,000 levels deep finds its value", .onlySQLite(.catalog))
  func depth() throws {
    let count = 20_000
    let text =
      String(repeating: #"{"a":"#, count: count) + "7" + String(repeating: "}", count: count)
    try set(text)
    let steps = "[" + (0..<count).map { _ in #""a""# }.joined(separator: ",") + "]"
    let found: Int? = try db.value(
      "SELECT larder_json(text, \(steps), 'integer') FROM json_job WHERE id = 1")
    #expect(found == 7)
  }

  @Test("A join with the elements of a row's JSON parses the JSON once")
  func joins() throws {
    // PostgreSQL parses the text again for each row.
    let count = TestEngine.isPostgres ? 30 : 3_000
    try set(#"{"name":"x","l":[\#((0..<count).map { "\($0)" }.joined(separator: ","))]}"#)
    let clock = ContinuousClock()
    var rows: [(String?, Int?, Int)] = []
    let job = JSONJob.filter { $0.id == 1 }
    let time = try clock.measure {
      rows = try job.join(each: { $0.text["l"] })
        .select { ($0.text["name"].as(String.self), $0.text["l"].count, $1.index) }.fetchAll(db)
    }
    #expect(rows.count == count)
    #expect(rows.allSatisfy { $0.0 == "x" && $0.1 == count })
    #expect(rows.map(\.2).sorted() == Array(0..<count))
    // Parsing the text for each row took a minute.
    #expect(time < .seconds(20))
    // Each row's JSON is its own.
    try JSONJob.all.update(db) {
      $0.text = .value(#"{"l":[1,2],"name":"\#(String(repeating: "y", count: 1_100))"}"#)
    }
    try JSONJob.filter { $0.id == 2 }.update(db) {
      $0.text["name"] = .value(String(repeating: "z", count: 1_100))
    }
    let names = try JSONJob.all.join(each: { $0.text["l"] }).order { ($0.id, $1.index) }
      .select { job, _ in job.text["name"].as(String.self) }.fetchAll(db)
    #expect(names.map { $0?.first } == ["y", "y", "z", "z", "y", "y"])
  }
}
