import Foundation
import Larder
import PostgresSupport
import Testing

@Suite("Updates of JSON values")
struct JSONChangeTests {
  let db: Database

  init() throws { db = try .jsonJobs() }

  private func changed(
    _ text: String, _ change: (inout Assignments<JSONJob>) -> Void
  ) throws -> String {
    try JSONJob.filter { $0.id == 1 }.update(db) { $0.text = .value(text) }
    try JSONJob.filter { $0.id == 1 }.update(db, change)
    // Without the spaces that PostgreSQL adds.
    return try JSONJob.find(db, 1).text.replacing(" ", with: "")
  }

  @Test("Assigning to a JSON path replaces its value, also in a record's Codable column")
  func setting() throws {
    try JSONJob.filter { $0.id == 2 }.update(db) {
      $0.payload["state"] = "lost"
      $0.payload["customer"]["id"] = 99
      $0.payload["price"] = .value(0.1 + 0.2)
      $0.payload["isUrgent"] = true
      $0.payload["lines"] = .value([JSONJob.Line(sku: "Z", count: 1)])
    }
    var job = JSONJob.all3[1]
    job.payload.state = "lost"
    job.payload.customer.id = 99
    job.payload.price = 0.1 + 0.2
    job.payload.isUrgent = true
    job.payload.lines = [JSONJob.Line(sku: "Z", count: 1)]
    #expect(try JSONJob.find(db, 2) == job)
    #expect(try JSONJob.find(db, 1) == JSONJob.all3[0])
  }

  @Test(
    "Assigning to a JSON path creates missing objects, and appends right after the last element"
  )
  func adding() throws {
    #expect(try changed("{}") { $0.text["a"]["b"] = 1 } == #"{"a":{"b":1}}"#)
    #expect(try changed(#"{"a":null}"#) { $0.text["a"]["b"] = 1 } == #"{"a":{"b":1}}"#)
    #expect(try changed("[1]") { $0.text[1] = "x" } == #"[1,"x"]"#)
    #expect(try changed("[1,2]") { $0.text[-1] = nil } == "[1,null]")
    #expect(try changed("[]") { $0.text[0] = 2.5 } == "[2.5]")
    #expect(try changed("{}") { $0.text["q\"'\\"] = "\u{1}'\"" } == #"{"q\"'\\":"\u0001'\""}"#)
    #expect(try changed(#"{"a":{"0":1}}"#) { $0.text["a"]["0"] = 2 } == #"{"a":{"0":2}}"#)
  }

  @Test("Assigning to a JSON path through a value of another type throws and changes nothing")
  func blocked() throws {
    for change in [
      { (job: inout Assignments<JSONJob>) in job.text["a"]["b"] = 1 },
      { $0.text["a"][0] = 1 }, { $0.text[0] = 1 }, { $0.text["l"][5] = 1 },
      { $0.text["l"]["0"] = 1 },
      { $0.text["l"][-3] = 1 },
    ] {
      #expect(throws: DatabaseError.self) { try changed(#"{"a":5,"l":[1]}"#, change) }
      #expect(try JSONJob.find(db, 1).text == #"{"a":5,"l":[1]}"#)
    }
  }

  @Test("`remove` deletes a JSON value, and `insert` only sets one that is missing")
  func removing() throws {
    #expect(try changed(#"{"a":1,"b":2,"c":3}"#) { $0.text["b"].remove() } == #"{"a":1,"c":3}"#)
    #expect(try changed(#"{"a":1,"b":2}"#) { $0.text["a"].remove() } == #"{"b":2}"#)
    #expect(try changed(#"{"a":1}"#) { $0.text["a"].remove() } == "{}")
    #expect(try changed(#"{"a":1}"#) { $0.text["x"]["y"].remove() } == #"{"a":1}"#)
    #expect(try changed("[1,2,3]") { $0.text[-1].remove() } == "[1,2]")
    #expect(try changed("[1,2,3]") { $0.text["0"].remove() } == "[1,2,3]")
    #expect(try changed(#"{"a":1}"#) { $0.text["a"].insert(2) } == #"{"a":1}"#)
    #expect(try changed(#"{"a":null}"#) { $0.text["a"].insert(2) } == #"{"a":null}"#)
    #expect(try changed("{}") { $0.text["a"].insert(2) } == #"{"a":2}"#)
  }

  @Test("A JSON value can be set to an SQL expression")
  func expressions() throws {
    #expect(
      try changed(#"{"n":1}"#) {
        $0.text["n"] = JSONExpression($0.text["n"].as(Int.self) + 1)
      } == #"{"n":2}"#)
    #expect(
      try changed(#"{"a":[1,{"x":null}]}"#) { $0.text["b"] = $0.text["a"] }
        == #"{"a":[1,{"x":null}],"b":[1,{"x":null}]}"#)
    #expect(
      try changed("{}") { $0.text["b"] = JSONExpression($0.payload["nothing"].as(Int.self)) }
        == #"{"b":null}"#)
    #expect(
      try changed("{}") { $0.text["p"] = JSONExpression($0.notes) }.hasPrefix(#"{"p":{"#))
  }

  @Test(
    "`patch` merges an object into JSON, and removes members that are nil", .refused(.functions)
  )
  func patching() throws {
    #expect(
      try changed(#"{"a":{"x":1},"b":2}"#) { $0.text.json.patch(["a": ["y": 2]]) }
        == #"{"a":{"x":1,"y":2},"b":2}"#)
    #expect(
      try changed(#"{"a":{"x":1},"b":2}"#) { $0.text["a"].patch(["x": Int?.none]) }
        == #"{"a":{},"b":2}"#)
  }

  @Test("Assigning a changed copy of one JSON path to another path throws")
  func misplaced() throws {
    #expect(throws: DatabaseError.self) {
      try changed(#"{"a":{},"b":1}"#) {
        var place = $0.text["a"]
        place["x"] = 1
        $0.text["b"] = place
      }
    }
  }
}
