import Foundation
import Larder
import PostgresSupport
import Testing

/// Updates that change a column's JSON in many places.
@Suite("Many changes of JSON in one update")
struct JSONManyChangesTests {
  let db: Database

  init() throws { db = try .jsonJobs() }

  private func changed(
    _ text: String, _ change: (inout Assignments<JSONJob>) -> Void
  ) throws -> [String: Int] {
    let job = JSONJob.filter { $0.id == 1 }
    try job.update(db) { $0.text = .value(text) }
    try job.update(db, change)
    return try JSONDecoder().decode([String: Int].self, from: Data(JSONJob.find(db, 1).text.utf8))
  }

  private func numbers(_ count: Int, _ value: (Int) -> Int) -> [String: Int] {
    Dictionary(uniqueKeysWithValues: (0..<count).map { ("n\($0)", value($0)) })
  }

  @Test("One update can set, insert or remove 200 JSON paths")
  func paths() throws {
    #expect(
      try changed(#"{"n3":-1}"#) {
        for index in 0..<200 { $0.text["n\(index)"] = .value(index) }
      } == numbers(200) { $0 })
    #expect(
      try changed(#"{"n3":-1}"#) {
        for index in 0..<200 { $0.text["n\(index)"].insert(.value(index)) }
      } == numbers(200) { $0 == 3 ? -1 : $0 })
    #expect(
      try changed(#"{"n3":1,"n199":1,"x":1}"#) {
        for index in 0..<200 { $0.text["n\(index)"].remove() }
      } == ["x": 1])
  }

  @Test("One update can increment 20 JSON counters, or copy a value to 20 paths")
  func counters() throws {
    #expect(
      try changed(#"{"n3":100}"#) {
        for index in 0..<20 {
          let count = $0.text["n\(index)"].as(Int.self).coalesce(0)
          $0.text["n\(index)"] = JSONExpression(count + 1)
        }
      } == numbers(20) { $0 == 3 ? 101 : 1 })
    #expect(
      try changed("{}") {
        for index in 0..<20 {
          $0.text["n\(index)"].insert(.value(index))
          let count = $0.text["n\(index)"].as(Int.self).coalesce(0)
          $0.text["n\(index)"] = JSONExpression(count + 1)
        }
      } == numbers(20) { $0 + 1 })
    #expect(
      try changed(#"{"a":5}"#) {
        for index in 0..<20 { $0.text["n\(index)"] = $0.text["a"] }
        $0.text["a"].remove()
      } == numbers(20) { _ in 5 })
  }

  @Test("A JSON path that is read in an update has the value of the assignments before it")
  func reading() throws {
    #expect(
      try changed(#"{"a":1,"b":2}"#) {
        $0.text["a"] = $0.text["b"]
        $0.text["b"] = 7
        $0.text["c"] = $0.text["b"]
        $0.text["d"] = $0.text["a"]
      } == ["a": 2, "b": 7, "c": 7, "d": 2])
    #expect(
      try changed(#"{"a":1}"#) {
        $0.text["x"] = .value(["y": 5])
        $0.text["x"]["z"] = 6
        $0.text["b"] = $0.text["x"]["y"]
        $0.text["c"] = $0.text["x"]["z"]
        $0.text["x"]["y"].remove()
        $0.text["d"] = JSONExpression($0.text["x"]["y"].as(Int.self).coalesce(9))
        $0.text["x"].remove()
      } == ["a": 1, "b": 5, "c": 6, "d": 9])
    #expect(
      try changed(#"{"l":[1,2,3]}"#) {
        $0.text["l"][1] = 20
        $0.text["l"][0].remove()
        $0.text["a"] = $0.text["l"][0]
        $0.text["l"][2] = 40
        $0.text["b"] = $0.text["l"][-1]
        $0.text["l"] = JSONExpression($0.text["l"].count)
      } == ["l": 3, "a": 20, "b": 40])
    #expect(
      try changed("{}") {
        $0.text["a"]["y"] = 1
        $0.text["a"].insert(.value(["x": 2]))
        $0.text["b"] = JSONExpression($0.text["a"]["x"].as(Int.self).coalesce(3))
        $0.text["a"].remove()
      } == ["b": 3])
    // Names are compared as bytes: both spellings of “é” are members.
    #expect(
      try changed(#"{"é":1}"#) {
        $0.text["e\u{301}"] = 2
        $0.text["a"] = $0.text["é"]
        $0.text["e\u{301}"].remove()
        $0.text["é"].remove()
      } == ["a": 1])
  }

  @Test("A JSON path passed as an inout argument can be changed in several places")
  func passedOn() throws {
    func fill(_ place: inout JSONExpression) {
      place["x"] = 1
      place["y"] = 2
      place["z"] = place["x"]
    }
    try JSONJob.filter { $0.id == 1 }.update(db) {
      $0.text = "{}"
      fill(&$0.text["a"])
    }
    let text = try JSONJob.find(db, 1).text
    let read = try JSONDecoder().decode([String: [String: Int]].self, from: Data(text.utf8))
    #expect(read == ["a": ["x": 1, "y": 2, "z": 1]])
  }

  @Test("One update can merge eight objects into a column's JSON", .refused(.functions))
  func patches() throws {
    #expect(
      try changed(#"{"a":1}"#) {
        for index in 0..<8 { $0.text.json.patch(["n\(index)": index]) }
      } == numbers(8) { $0 }.merging(["a": 1]) { $1 })
  }

  @Test("Setting a JSON path in a NULL column creates an object")
  func null() throws {
    let job = JSONJob.filter { $0.id == 2 }
    func notes(_ change: (inout Assignments<JSONJob>) -> Void) throws -> [String: Int]? {
      try job.update(db) { $0.notes = nil }
      try job.update(db, change)
      return try JSONJob.find(db, 2).notes
    }
    #expect(try notes { $0.notes["a"] = 1 } == ["a": 1])
    #expect(try notes { $0.notes["a"].insert(1) } == ["a": 1])
    #expect(try notes { $0.notes.json = .value(["b": 2]) } == ["b": 2])
    #expect(try notes { $0.notes.json.insert(.value(["b": 2])) } == ["b": 2])
    #expect(try notes { $0.notes["a"].remove() } == nil)
    #expect(
      try notes {
        $0.notes["a"].remove()
        $0.notes["b"] = JSONExpression($0.notes["a"].as(Int.self).coalesce(4))
      } == ["b": 4])
    #expect(throws: DatabaseError.self) { try notes { $0.notes[0] = 1 } }
    #expect(throws: DatabaseError.self) { try notes { $0.notes.json.remove() } }
  }

  @Test("Removing a JSON name that occurs several times removes all of its members")
  func duplicates() throws {
    #expect(
      try changed(#"{"d":1,"a":2, "d":3 , "b":4,"d":5}"#) { $0.text["d"].remove() }
        == ["a": 2, "b": 4])
    #expect(try changed(#"{ "d":1,"\u0064":3 }"#) { $0.text["d"].remove() } == [:])
  }

  @Test("The error of a JSON path that can't be set names the path")
  func refusals() throws {
    let error = #expect(throws: DatabaseError.self) {
      try changed("{}") { $0.text["a"]["it's"][0]["x"] = 1 }
    }
    // PostgreSQL's own message doesn't name the path.
    guard !TestEngine.isPostgres else { return }
    let message = error?.message ?? ""
    #expect(message.contains(#"["a","it's",0,"x"]"#))
    #expect(message.contains("arrays"))
  }
}
