import Foundation
import Larder
import PostgresSupport
import Testing

@Suite("Rows from JSON, and JSON from rows")
struct JSONRowTests {
  let db: Database

  init() throws { db = try .jsonJobs() }

  @Test("join(each:) makes a row of each array element, with its index and value")
  func elements() throws {
    let rows = try JSONJob.join(each: { $0.payload["lines"] })
      .filter { job, line in line.value["count"] > 1 }
      .order { ($0.id, $1.index) }
      .select { ($0.id, $1.index, $1.value["sku"].as(String.self), $1.name) }
      .fetchAll(db)
    #expect(rows.map(\.0) == [1, 1])
    #expect(rows.map(\.1) == [0, 1])
    #expect(rows.map(\.2) == ["X1", "Y\\2"])
    #expect(rows.map(\.3) == [nil, nil])
    let pairs = try JSONJob.join(each: { $0.payload["tags"] }).order { ($0.id, $1.index) }
      .fetchAll(db)
    #expect(pairs.map(\.0.id) == [1, 1, 3])
    #expect(pairs.map(\.1.text) == [#""red""#, #""a\"b""#, #""blue""#])
  }

  @Test("join(each:) makes a row of each object member, with its name and value")
  func members() throws {
    let rows = try JSONJob.join(each: { $0.notes.json }).order { _, note in note.value.as(Int.self)
    }
    .select { ($1.name, $1.value.as(Int.self)) }.fetchAll(db)
    #expect(rows.map(\.0) == ["größe", "a.b", "", "q\""])
    #expect(rows.map(\.1) == [3, 4, 5, 6])
    let found = try JSONJob.join(each: { $0.notes.json }).fetchAll(db).map(\.1)
    #expect(Set(found.map(\.name)) == ["größe", "a.b", "", "q\""])
    #expect(try JSONJob.join(each: { $0.payload["state"] }).fetchCount(db) == 0)
    #expect(try JSONJob.join(each: { $0.payload["nobody"] }).fetchCount(db) == 0)
  }

  @Test("jsonArray and jsonObject aggregate rows into values that decode as Swift types")
  func aggregates() throws {
    let arrays = try JSONJob.all.group { $0.payload["customer"]["id"].as(Int.self) }
      .order { $0.payload["customer"]["id"].as(Int.self) }
      .select { _ in count() }
      .fetchAll(db)
    #expect(arrays == [2, 1])
    let ids = try JSONJob.select { $0.id.jsonArray() }.fetchAll(db)[0].value
    #expect(ids.sorted { ($0 ?? 0) < ($1 ?? 0) } == [1, 2, 3])
    let texts = try JSONJob.select { $0.text.jsonArray() }.fetchAll(db)[0].value
    #expect(Set(texts) == Set(JSONJob.all3.map(\.text)))
    let payloads = try JSONJob.select { $0.payload.jsonArray() }.fetchAll(db)[0].value
    #expect(Set(payloads) == Set(JSONJob.all3.map(\.payload)))
    let objects = try JSONJob.select { $0.text.jsonObject(of: $0.id) }.fetchAll(db)[0].value
    #expect(objects == Dictionary(uniqueKeysWithValues: JSONJob.all3.map { ($0.text, $0.id) }))
    let lines = try JSONJob.filter { $0.id == 1 }.select {
      jsonObject(("sku", $0.text), ("count", $0.id.coalesce(0)), as: JSONJob.Line.self)
    }
    .fetchAll(db)
    #expect(lines.map(\.value) == [JSONJob.Line(sku: JSONJob.all3[0].text, count: 1)])
    let all = try JSONJob.select {
      jsonObject(("sku", $0.text), ("count", $0.id.coalesce(0)), as: JSONJob.Line.self)
        .jsonArray()
    }
    .fetchAll(db)[0].value
    #expect(Set(all.map(\.count)) == [1, 2, 3])
    let none = try JSONJob.filter { $0.id > 5 }.select { $0.text.jsonArray() }.fetchAll(db)
    #expect(none.map(\.value) == [[]])
    let some = try JSONJob.select { $0.text.jsonArray().filter(where: $0.id == 2) }.fetchAll(db)
    #expect(some.map(\.value) == [[JSONJob.all3[1].text]])
  }

  @Test("Integers, doubles and dates keep their exact values through JSON in both directions")
  func digits() throws {
    struct Sample: Record {
      var id: Int64
      var real: Double
      var flag: Bool
      var at: Date
      struct Columns: Sendable {
        let id = Column("id", \Sample.id, .primaryKey)
        let real = Column("real", \Sample.real)
        let flag = Column("flag", \Sample.flag)
        let at = Column("at", \Sample.at)
      }
      static let columns = Columns()
      static let table = Table(
        "sample", Sample.init, columns.id, columns.real, columns.flag, columns.at)
    }
    try Sample.table.create(db)
    var generator = SystemRandomNumberGenerator()
    var samples: [Sample] = []
    for number in 0..<300 {
      let distance = Int64(number)
      let id: Int64 = number.isMultiple(of: 2) ? .max - distance : .min + distance
      let real = Double.random(in: -1e9...1e9, using: &generator) * 1e-4
      let at = Date(timeIntervalSince1970: Double(number) * 1e6)
      samples.append(Sample(id: id, real: real, flag: number % 3 == 0, at: at))
    }
    try Sample.insert(db, contentsOf: samples)
    let found = try Sample.select {
      ($0.id.jsonArray(), $0.real.jsonArray(), $0.flag.jsonArray(), $0.at.jsonArray())
    }
    .fetchAll(db)[0]
    #expect(Set(found.0.value) == Set(samples.map(\.id)))
    #expect(Set(found.1.value) == Set(samples.map(\.real)))
    #expect(found.2.value.filter(\.self).count == 100)
    #expect(Set(found.3.value) == Set(samples.map(\.at)))
    for sample in samples {
      try JSONJob.filter { $0.id == 1 }.update(db) {
        $0.text = "{}"
        $0.text["r"] = .value(sample.real)
        $0.text["i"] = .value(sample.id)
      }
      let job = JSONJob.filter { $0.id == 1 }
      let (real, integer) = try job.select {
        ($0.text["r"].as(Double.self), $0.text["i"].as(Int64.self))
      }
      .fetchAll(db)[0]
      #expect(real == sample.real)
      #expect(integer == sample.id)
      #expect(
        try job.filter { $0.text["r"] == sample.real && $0.text["i"] == sample.id }
          .fetchCount(db) == 1)
    }
  }
}
