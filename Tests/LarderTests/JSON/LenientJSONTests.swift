import Foundation
import Larder
import PostgresSupport
import Testing

@Suite("JSON whose values have many types")
struct LenientJSONTests {
  let db: Database

  init() throws {
    db = try .jsonJobs()
    let values = [
      #""x""#, #""x""#, "7", "7.5", "true", "null", #"{"a":1}"#, "1e400", "18446744073709551615",
    ]
    try JSONJob.all.delete(db)
    for (number, value) in values.enumerated() {
      var job = JSONJob.all3[0]
      job.id = Int64(number) + 1
      job.text = #"{"v":\#(value)}"#
      _ = try job.inserted(db)
    }
  }

  @Test("Grouping by a lenient JSON text collects values of other types under nil")
  func groups() throws {
    let texts = try JSONJob.all.group { $0.text["v"].as(String.self, strict: false) }
      .select { ($0.text["v"].as(String.self, strict: false), count()) }.fetchAll(db)
    #expect(texts.count == 2)
    #expect(
      Dictionary(uniqueKeysWithValues: texts.map { ($0.0 ?? "-", $0.1) }) == ["x": 2, "-": 7])
    // A strict reading in GROUP BY has the same groups as a lenient one.
    let counts = try JSONJob.all.group { $0.text["v"].as(String.self) }
      .select { ($0.text["v"].as(String.self, strict: false), count()) }.fetchAll(db)
    #expect(counts.count == 2)
  }

  private func values<V: DatabaseValueConvertible>(_ type: V.Type) throws -> [V.AsOptional]
  where V.AsOptional: Sendable {
    try JSONJob.order { $0.id }.select { $0.text["v"].as(type, strict: false) }.fetchAll(db)
  }

  @Test("A lenient reading of JSON is nil for a value of another type or out of range")
  func reading() throws {
    #expect(try values(String.self) == ["x", "x", nil, nil, nil, nil, nil, nil, nil])
    #expect(try values(Int.self) == [nil, nil, 7, nil, nil, nil, nil, nil, nil])
    #expect(
      try values(Double.self) == [nil, nil, 7, 7.5, nil, nil, nil, nil, 1.8446744073709552e19])
    #expect(try values(Bool.self) == [nil, nil, nil, nil, true, nil, nil, nil, nil])
    if !TestEngine.isPostgres {
      // PostgreSQL reads numbers that Decimal can't hold.
      #expect(try values(Decimal.self)[3] == Decimal(string: "7.5"))
    }
    for type in ["Int", "String"] {
      #expect(throws: DatabaseError.self, Comment(rawValue: type)) {
        if type == "Int" {
          _ = try JSONJob.select { $0.text["v"].as(Int.self) }.fetchAll(db)
        } else {
          _ = try JSONJob.select { $0.text["v"].as(String.self) }.fetchAll(db)
        }
      }
    }
  }

  @Test("Comparing JSON values of mixed types never throws")
  func comparisons() throws {
    func ids(_ condition: (RecordFields<JSONJob>) -> SQLExpression<Bool>) throws -> [Int64?] {
      try JSONJob.filter { condition($0) }.order { $0.id }.fetchAll(db).map(\.id)
    }
    #expect(try ids { $0.text["v"] == "x" } == [1, 2])
    #expect(try ids { $0.text["v"] == 7 } == [3])
    #expect(try ids { $0.text["v"] > 7.0 && $0.text["v"] < 8.0 } == [4])
    #expect(try ids { $0.text["v"] == true } == [5])
    #expect(try ids { $0.text["v"] == Decimal(7) } == [3])
    #expect(try ids { $0.text["v"] == nil } == [6])
    #expect(try ids { $0.text["v"] != nil && $0.text["w"] == nil }.count == 8)
  }

  @Test("Indexes on JSON texts serve prefixes, lists and joins", .onlySQLite(.catalog))
  func indexes() throws {
    let state = "json_job_payload_state_index"
    let id = "json_job_payload_customer_id_index"
    let plans = try [
      (
        state,
        JSONJob.filter { $0.payload["state"].as(String.self, strict: false) == "done" }.explain(db)
      ),
      (
        state,
        JSONJob.filter { $0.payload["state"].as(String.self, strict: false).in(["a", "b"]) }
          .explain(db)
      ),
      (
        state,
        JSONJob.filter {
          $0.payload["state"].as(String.self, strict: false).hasPrefix("do")
        }
        .explain(db)
      ),
      (
        id,
        JSONJob.filter { $0.id == 1 }
          .join(JSONJob.self) { $1.payload["customer"]["id"] == $0.id.coalesce(0) }.explain(db)
      ),
    ]
    for (index, plan) in plans { #expect(plan.usesIndex(index), "\(plan)") }
  }

  @Test("A JSON decoding error names the path and the expected type, but not the value")
  func decoding() throws {
    let wrong: [((inout Assignments<JSONJob>) -> Void, String)] = [
      ({ $0.payload["price"] = "secret" }, "`price` isn't of type Double"),
      ({ $0.payload["lines"][1]["sku"] = 5 }, "`lines[1].sku` isn't of type String"),
      ({ $0.payload["lines"][0]["count"].remove() }, "`lines[0].count` is missing"),
      ({ $0.payload["customer"]["id"] = nil }, "`customer.id` is null"),
      ({ $0.payload["at"] = "secret" }, "`at` isn't of type Date"),
    ]
    for (change, text) in wrong {
      try JSONJob.filter { $0.id == 1 }.update(db) { $0.payload = .value(JSONJob.all3[0].payload) }
      try JSONJob.filter { $0.id == 1 }.update(db, change)
      let error = #expect(throws: RecordError.self) { try JSONJob.find(db, 1) }
      let message = error.map { "\($0)" } ?? ""
      #expect(message.contains("of the row with the key 1"))
      #expect(message.contains(text), "\(message)")
      #expect(!message.contains("secret"), "\(message)")
    }
    let error = #expect(throws: ConversionError.self) {
      try JSONJob.all.update(db) { $0.text["v"] = .value(["a": [Double.nan]]) }
    }
    #expect(error.map { "\($0)" }?.contains("`a[0]` is a number that JSON can't represent") == true)
  }

  @Test("jsonArray collects JSON objects and nulls as values")
  func collecting() throws {
    let objects = try JSONJob.filter { $0.text["v"].type == "object" || $0.text["v"].isNull }
      .select { $0.text["v"].as(JSON<[String: Int]>.self).jsonArray() }.fetchAll(db)
    #expect(objects.first?.value.count == 2)
    #expect(objects.first?.value.compactMap(\.self) == [["a": 1]])
  }
}
