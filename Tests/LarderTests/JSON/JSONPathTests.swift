import Foundation
import Larder
import LarderTesting
import PostgresSupport
import Testing

@Suite("Reading and comparing JSON paths")
struct JSONPathTests {
  let db: Database

  init() throws { db = try .jsonJobs() }

  private func ids(
    _ condition: (RecordFields<JSONJob>) -> SQLExpression<Bool>
  ) throws -> [Int64?] {
    try JSONJob.filter { condition($0) }.order { $0.id }.fetchAll(db).map(\.id)
  }

  private func values<V: DatabaseValueConvertible>(
    _ make: (RecordFields<JSONJob>) -> SQLExpression<V>
  ) throws -> [V] {
    try JSONJob.order { $0.id }.select { make($0) }.fetchAll(db)
  }

  @Test("`as` reads a JSON value as the type that is asked for")
  func reading() throws {
    #expect(try values { $0.payload["customer"]["id"].as(Int.self) } == [7, 8, 7])
    #expect(
      try values { $0.payload["customer"]["name"].as(String.self) } == ["Åse", "北京", "O'Neil"])
    #expect(try values { $0.payload["isUrgent"].as(Bool.self) } == [false, false, true])
    #expect(try values { $0.payload["price"].as(Double.self) } == [9.5, 0.1, 1e300])
    #expect(try values { $0.payload["at"].as(Date.self) }[0] == JSONJob.all3[0].payload.at)
    #expect(
      try values { $0.payload["customer"].as(JSON<JSONJob.Customer>.self) }.map { $0?.value }
        == JSONJob.all3.map(\.payload.customer))
    #expect(try values { $0.payload["lines"][-1]["count"].as(Int.self) } == [60, nil, nil])
    #expect(try values { $0.payload["lines"][0]["sku"].as(String.self) } == ["X1", nil, nil])
    let cheap = JSONJob.filter { $0.id == 2 }.select { $0.payload["price"].as(Decimal.self) }
    #expect(try cheap.fetchAll(db) == [Decimal(string: "0.1")])
    let rounded = JSONJob.filter { $0.id == 2 }.select { $0.payload["price"].as(Float.self) }
    #expect(try rounded.fetchAll(db) == [0.1])
  }

  @Test("A name in a JSON path can be any text, including dots, quotes and the empty text")
  func names() throws {
    #expect(try values { $0.notes["größe"].as(Int.self) } == [3, nil, nil])
    #expect(try values { $0.notes["a.b"].as(Int.self) } == [4, nil, nil])
    #expect(try values { $0.notes[""].as(Int.self) } == [5, nil, nil])
    #expect(try values { $0.notes["q\""].as(Int.self) } == [6, nil, nil])
    for name in ["größe", "a.b", "", "q\""] {
      #expect(try ids { $0.notes[name] >= 3 } == [1])
    }
    #expect(try ids { $0.notes["a"]["b"] == 4 } == [])
    #expect(try ids { $0.payload["tags"][1] == "a\"b" } == [1])
    #expect(try ids { $0.text["0"] == 1 || $0.payload["tags"]["0"] == "blue" } == [])
  }

  @Test("A JSON value is compared by the other operand's type")
  func comparisons() throws {
    #expect(try ids { $0.payload["customer"]["id"] == 7 } == [1, 3])
    #expect(try ids { $0.payload["customer"]["id"] != 7 } == [2])
    #expect(try ids { $0.payload["customer"]["id"] == "7" } == [])
    #expect(try ids { $0.text["n"] == 7 } == [3])
    #expect(try ids { $0.text["n"] == "7" } == [2])
    #expect(try ids { $0.text["n"] != 7 } == [1, 2])
    #expect(try ids { $0.text["n"] > 0 } == [3])
    #expect(try ids { $0.text["n"] >= "" } == [2])
    #expect(try ids { $0.text["big"] == 9_007_199_254_740_993 } == [2])
    #expect(try ids { $0.text["big"] > 9_007_199_254_740_992 } == [2])
    #expect(try ids { $0.text["real"] == 7 } == [2])
    #expect(try ids { $0.text["real"] == 7.0 } == [2])
    #expect(try ids { $0.payload["price"] == 0.1 } == [2])
    #expect(try ids { $0.payload["price"] < 9.5 } == [2])
    #expect(try ids { $0.payload["price"] <= 9.5 } == [1, 2])
    #expect(try ids { $0.payload["price"] > 9 } == [1, 3])
    #expect(try ids { $0.payload["isUrgent"] == true } == [3])
    #expect(try ids { $0.payload["isUrgent"] == 1 } == [])
    #expect(try ids { !($0.payload["isUrgent"] == true) } == [1, 2])
    #expect(try ids { $0.payload["customer"]["id"].in([8, 9]) } == [2])
    #expect(try ids { $0.payload["customer"]["id"].in([Int]()) } == [])
    #expect(try ids { $0.payload["at"] <= JSONJob.all3[0].payload.at } == [1, 2, 3])
    let id: Int? = 8
    let none: Int? = nil
    #expect(try ids { $0.payload["customer"]["id"] == id } == [2])
    #expect(try ids { $0.text["n"] == none } == [1])
    #expect(try ids { $0.payload["customer"]["id"] == $0.id.coalesce(0) + 6 } == [1, 2])
    #expect(try ids { $0.text["deep"][0][-1][1]["x"] == true } == [3])
  }

  @Test("A JSON path without a value is nil like null, and `type` tells them apart")
  func nothing() throws {
    #expect(try ids { $0.text[2].isNull } == [1, 2, 3])
    #expect(try ids { $0.text[1].isNotNull } == [1])
    #expect(try values { $0.text[2].type } == ["null", nil, nil])
    #expect(try values { $0.text["big"].type } == [nil, "number", "number"])
    #expect(try values { $0.text[5].as(Int.self) } == [nil, nil, nil])
    #expect(try values { $0.text[-9].as(Int.self) } == [nil, nil, nil])
    #expect(try values { $0.text[1 << 40].as(Int.self) } == [nil, nil, nil])
    #expect(try values { $0.text[2].as(Int.self) } == [nil, nil, nil])
    #expect(try values { $0.payload["tags"].count } == [2, 0, 1])
    #expect(try values { $0.payload["customer"].count } == [nil, nil, nil])
    #expect(try ids { $0.payload["tags"].count > 1 } == [1])
  }

  @Test("`contains` finds a value in a JSON array, compared by its type")
  func containing() throws {
    #expect(try ids { $0.payload["tags"].contains("blue") } == [3])
    #expect(try ids { $0.payload["tags"].contains("a\"b") } == [1])
    #expect(try ids { !$0.payload["tags"].contains("blue") } == [1, 2])
    #expect(try ids { $0.payload["customer"].contains(7) } == [])
    #expect(try ids { $0.text["deep"][0].contains(1) } == [3])
  }

  @Test("Reading a JSON value as another type throws")
  func otherTypes() throws {
    #expect(throws: DatabaseError.self) { try values { $0.text["n"].as(Int.self) } }
    #expect(throws: DatabaseError.self) { try values { $0.text["n"].as(String.self) } }
    #expect(throws: DatabaseError.self) { try values { $0.payload["price"].as(Int.self) } }
    #expect(throws: DatabaseError.self) { try values { $0.payload["price"].as(Bool.self) } }
    #expect(throws: DatabaseError.self) { try values { $0.payload["isUrgent"].as(Int.self) } }
    #expect(throws: DatabaseError.self) { try values { $0.payload["tags"].as(String.self) } }
    #expect(throws: DatabaseError.self) { try values { $0.payload["state"].as([UInt8].self) } }
    #expect(throws: ConversionError.self) {
      try values { $0.payload["customer"].as(JSON<JSONJob.Line>.self) }
    }
    #expect(throws: DatabaseError.self) { try ids { $0.id["x"] == 1 } }
  }

  @Test("Ordering and grouping by a JSON path use the type that is asked for")
  func orders() throws {
    let query = JSONJob.order { $0.text["n"].as(Int.self).desc }.select { $0.id }
    #expect(try query.fetchAll(db).first == 3)
    #expect(
      try JSONJob.order { ($0.payload["customer"]["id"].as(Int.self).desc, $0.id.desc) }
        .fetchAll(db).map(\.id) == [2, 3, 1])
    let groups = JSONJob.all.group { $0.payload["customer"]["id"].as(Int.self) }
      .select { _ in count() }
    #expect(try groups.fetchAll(db).sorted() == [1, 2])
  }

  @Test("Indexes on JSON paths serve comparisons, lists and orders")
  func indexes() throws {
    #expect(try JSONJob.table.differences(db).isEmpty)
    try db.inTransaction { db in
      // PostgreSQL prefers a sequential scan of three rows unless that is disabled.
      if TestEngine.isPostgres { try db.executeUpdate("SET LOCAL enable_seqscan = off") }
      let id = "json_job_payload_customer_id_index"
      let state = "json_job_payload_state_index"
      let plans = try [
        (id, JSONJob.filter { $0.payload["customer"]["id"] == 7 }),
        (id, JSONJob.filter { $0.payload["customer"]["id"] >= 7 }),
        (id, JSONJob.filter { $0.payload["customer"]["id"].in([7, 8]) }),
        (state, JSONJob.filter { $0.payload["state"] == "done" }),
        (state, JSONJob.filter { $0.payload["state"] > "d" }),
        ("json_job_price", JSONJob.filter { $0.payload["price"] == 0.1 }),
        ("json_job_price", JSONJob.filter { $0.payload["price"] > 0.1 }),
        (id, JSONJob.order { $0.payload["customer"]["id"].as(Int.self) }),
        (state, JSONJob.order { $0.payload["state"].as(String.self) }),
      ].map { ($0.0, try $0.1.explain(db)) }
      for (index, plan) in plans {
        let isUsed =
          TestEngine.isPostgres ? plan.description.contains(index) : plan.usesIndex(index)
        #expect(isUsed, "\(plan)")
        #expect(!plan.sorts, "\(plan)")
      }
    }
  }

  @Test("A JSON path is written as a literal, and only compared values are bound")
  func sql() {
    let query = JSONJob.filter { $0.payload["customer"]["id"] == 7 }.select {
      $0.payload["l'ad"][-1].as(String.self)
    }
    #expect(
      query.snapshot == """
        SELECT larder_json("json_job"."payload", '["l''ad",-1]', 'text') FROM "json_job" \
        WHERE larder_json_if("json_job"."payload", '["customer","id"]', 'number') IS ?
        """)
  }

  @Test("Malformed JSON throws where it is read, and isValidJSON finds it")
  func malformed() throws {
    try JSONJob.filter { $0.id == 2 }.update(db) { $0.text = "{\"n\": 7" }
    #expect(throws: DatabaseError.self) { try ids { $0.text["n"] == 7 } }
    #expect(throws: DatabaseError.self) { try values { $0.text["n"].as(Int.self) } }
    #expect(throws: DatabaseError.self) { try JSONJob.join(each: { $0.text.json }).fetchAll(db) }
    #expect(throws: DatabaseError.self) {
      try JSONJob.all.update(db) { $0.text["x"] = 1 }
    }
    if !TestEngine.isPostgres { #expect(try ids { !$0.text.isValidJSON } == [2]) }
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("UPDATE json_job SET payload = 'x' WHERE id = 1")
    }
  }

  @Test("JSON text with an escaped NUL is read and compared whole", .onlySQLite(.nul))
  func nul() throws {
    try JSONJob.filter { $0.id == 2 }.update(db) { $0.text = #"{"n": "a\u0000b", "b\u0000": 1}"# }
    try JSONJob.filter { $0.id != 2 }.delete(db)
    #expect(try values { $0.text["n"].as(String.self) } == ["a\0b"])
    #expect(try values { $0.text["b\0"].as(Int.self) } == [1])
    #expect(try ids { $0.text["n"] == "a" } == [])
    #expect(try ids { $0.text["n"] == "a\0b" && $0.text["b\0"] == 1 } == [2])
    #expect(throws: DatabaseError.self) { try JSONJob.join(each: { $0.text.json }).fetchAll(db) }
  }
}
