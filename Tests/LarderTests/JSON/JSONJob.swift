import Foundation
import Larder
import PostgresSupport

/// A job with JSON in several columns.
struct JSONJob: Record, Equatable {
  struct Customer: Codable, Hashable, Sendable {
    var id: Int
    var name: String
  }

  struct Line: Codable, Hashable, Sendable {
    var sku: String
    var count: Int
  }

  struct Payload: Codable, Hashable, Sendable {
    var customer: Customer
    var state = "waiting"
    var at = Date(timeIntervalSince1970: 1_700_000_000.5)
    var price = 9.5
    var isUrgent = false
    var tags: [String] = []
    var lines: [Line] = []
  }

  var id: Int64?
  var payload: Payload
  var notes: [String: Int]?
  var text: String

  struct Columns: Sendable {
    let id = Column("id", \JSONJob.id, .primaryKey)
    let payload = Column("payload", \JSONJob.payload, .validJSON, as: .json)
    let notes = Column("notes", \JSONJob.notes, as: .json)
    let text = Column("text", \JSONJob.text)
  }
  static let columns = Columns()
  static let table = Table(
    "json_job", JSONJob.init, columns.id, columns.payload, columns.notes, columns.text,
    indexes: [
      .index(on: columns.payload["customer"]["id"], as: Int.self),
      .index(on: columns.payload["state"], as: String.self),
      .index(on: columns.payload["price"], as: Double.self, name: "json_job_price"),
    ])

  /// Three jobs that differ in customers, numbers and nesting.
  static let all3 = [
    JSONJob(
      id: 1,
      payload: Payload(
        customer: Customer(id: 7, name: "Åse"), tags: ["red", "a\"b"],
        lines: [Line(sku: "X1", count: 5), Line(sku: "Y\\2", count: 60)]),
      notes: ["größe": 3, "a.b": 4, "": 5, "q\"": 6], text: "[1, 2.5, null]"),
    JSONJob(
      id: 2, payload: Payload(customer: Customer(id: 8, name: "北京"), state: "done", price: 0.1),
      notes: nil, text: #"{"n": "7", "big": 9007199254740993, "real": 7.0}"#),
    JSONJob(
      id: 3,
      payload: Payload(
        customer: Customer(id: 7, name: "O'Neil"), price: 1e300, isUrgent: true, tags: ["blue"]),
      notes: [:], text: #"{"n": 7, "big": 9007199254740992, "deep": [[1, [2, {"x": true}]]]}"#),
  ]
}

extension Database {
  /// A database with the three jobs.
  static func jsonJobs() throws -> Database {
    let db = try Database.empty()
    try JSONJob.table.create(db)
    try JSONJob.insert(db, contentsOf: JSONJob.all3)
    return db
  }
}
