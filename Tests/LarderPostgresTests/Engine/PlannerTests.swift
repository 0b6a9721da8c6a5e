import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

private struct Owner: Record {
  var id: Int64?
  var parent: Int64?
  var name: String?

  struct Columns: Sendable {
    let id = Column("id", \Owner.id, .primaryKey)
    let parent = Column("parent", \Owner.parent, .indexed)
    let name = Column("name", \Owner.name)
  }
  static let columns = Columns()
  static let table = Table("owner", Owner.init, columns.id, columns.parent, columns.name)
}

private struct Item: Record {
  var id: Int64?
  var owner: Int64?
  var payload: String

  struct Columns: Sendable {
    let id = Column("id", \Item.id, .primaryKey)
    let owner = Column("owner", \Item.owner, .indexed)
    let payload = Column("payload", \Item.payload)
  }
  static let columns = Columns()
  static let table = Table("item", Item.init, columns.id, columns.owner, columns.payload)
}

/// Checks the SQL that the server's planner gets, and that the results are SQLite's.
@Suite(
  "Conditions for a server's planner",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct PlannerTests {
  private let db: Database
  private let lite: Database
  private let texts = Lock<[String]>([])

  private static let documents = [
    #"{"n": 7, "tags": ["a", "b"], "customer": {"id": 7, "vip": true}, "state": "new"}"#,
    #"{"n": 7.0, "tags": "a", "customer": {"id": "7", "vip": "true"}, "state": "new"}"#,
    #"{"n": "7", "tags": [["a"], 1, true], "customer": [7], "state": null}"#,
    #"{"n": [7], "tags": {"a": "a"}, "customer": null, "lines": [{"c": 1}, {"c": 7}]}"#,
    #"{"n": 7.5, "tags": [], "lines": [{"c": 9}, 3, {"c": "x"}], "state": "old"}"#,
    #"{"n": true, "tags": ["ä\"\\", null], "lines": {"c": {"c": 7}}, "state": 1}"#,
    "[7]", "7", "null", #""a""#, "[]", "{}", #"{"0": 7, "n": 1e1}"#, #"["a", {"n": 7}]"#,
  ]

  init() throws {
    let texts = texts
    var configuration = PostgresConfiguration()
    configuration.trace = { event in texts.withLock { $0.append(event.sql) } }
    db = try Database.postgres(try TestEngine.schema(), configuration: configuration)
    lite = try Database()
    let items = Self.documents.enumerated().map { number, text in
      Item(id: nil, owner: number % 3 == 0 ? nil : Int64(number % 3), payload: text)
    }
    for db in [db, lite] {
      try Owner.table.create(db)
      try Item.table.create(db)
      try Owner.insert(
        db,
        contentsOf: [
          Owner(id: 1, parent: nil, name: "a"), Owner(id: 2, parent: 1, name: nil),
          Owner(id: 3, parent: 2, name: "c"),
        ])
      try Item.insert(db, contentsOf: items)
    }
  }

  /// The result, which must be SQLite's, and the SQL that the server ran.
  @discardableResult
  private func ask<T: Equatable>(_ body: (Database) throws -> T) throws -> (answer: T, sql: String)
  {
    texts.withLock { $0 = [] }
    let answer = try body(db)
    #expect(try body(lite) == answer, "\(texts.withLock { $0.last ?? "" })")
    return (answer, texts.withLock { $0.last ?? "" })
  }

  private func ids(
    @SQLCondition _ condition: (RecordFields<Item>) -> SQLExpression<Bool>
  ) throws -> (answer: [Int64?], sql: String) {
    let query = Item.filter { condition($0) }.order { $0.id }.select { $0.id }
    return try ask { try query.fetchAll($0) }
  }

  @Test("Comparing a nullable column is written `=` in conditions, and null-safe where it matters")
  func equality() throws {
    let some = try ids { $0.owner == 1 }
    #expect(some.answer.count == 5)
    #expect(some.sql.contains(#"WHERE "item"."owner" = $1"#), "\(some.sql)")
    #expect(!some.sql.contains("NOT NULL"))
    #expect(try ids { !($0.owner == 1) }.answer.count == 9)
    #expect(try ids { $0.owner == nil }.answer.count == 5)
    #expect(try ids { $0.owner == 1 || $0.owner == nil }.answer.count == 10)
  }

  @Test("An optional primary key counts as non-null in joins and orders")
  func keys() throws {
    let joined = try ask { db in
      try Item.join(Owner.self) { $0.owner == $1.id }.order { $0.0.id }.select { $0.0.id }
        .fetchAll(db)
    }
    #expect(joined.answer.count == 9)
    #expect(joined.sql.contains(#"ON "item"."owner" = "owner"."id""#), "\(joined.sql)")
    #expect(!joined.sql.contains("NULLS"))
    let ordered = try ask { try Item.all.order { $0.owner }.fetchAll($0).count }
    #expect(ordered.sql.contains("NULLS"))
  }

  @Test("Joining two nullable columns adds a NULL test, unless a condition excludes NULL")
  func nullables() throws {
    let all = try ask { db in
      try Item.join(Owner.self) { $0.owner == $1.parent }.select { $0.0.id }.fetchAll(db).count
    }
    // The five items without an owner match the owner without a parent.
    #expect(all.answer == 14)
    #expect(all.sql.contains(#"("item"."owner" = "owner"."parent" OR "#), "\(all.sql)")
    let left = try ask { db in
      try Owner.leftJoin(Item.self) { $0.parent == $1.owner && $1.owner != nil }
        .select { $0.0.id }.fetchAll(db).count
    }
    // The equality excludes NULL by itself.
    #expect(left.sql.contains(#"ON "owner"."parent" = "item"."owner""#), "\(left.sql)")
    #expect(!left.sql.contains("NULL"), "\(left.sql)")
    let tested = try ids { ($0.owner != nil && $0.owner == 1) || $0.owner == nil && $0.id < 5 }
    #expect(tested.sql.contains(#"("item"."owner" = $1"#), "\(tested.sql)")
    #expect(try ids { !($0.owner != nil && $0.owner == 1) }.answer.count == 9)
    let missing: Int64? = nil
    #expect(try ids { $0.owner != nil && $0.owner == missing }.answer.isEmpty)
  }

  @Test("A common table's key counts as non-null, unless it comes from an outer join")
  func commonKeys() throws {
    func joined(_ table: CommonTable<Int64?, String?>) throws -> (answer: Int, sql: String) {
      try ask { db in
        try Item.all.join(common: table) { $0.owner == $1.columns.0 }
          .select { ($0.id, $1.columns.1) }.fetchAll(db).count
      }
    }
    let keys = try joined(CommonTable("owners", Owner.all.select { ($0.id, $0.name) }))
    #expect(keys.answer == 9)
    #expect(keys.sql.contains(#"ON "item"."owner" = "owners"."c1""#), "\(keys.sql)")
    let chain = CommonTable(
      recursive: "chain", Owner.filter { $0.id == 1 }.select { ($0.id, $0.name) }
    ) {
      chain in
      Owner.all.join(common: chain) { $0.parent == $1.columns.0 }.select { owner, _ in
        (owner.id, owner.name)
      }
    }
    #expect(try joined(chain).sql.contains(#"ON "item"."owner" = "chain"."c1""#))
    let parents = try joined(CommonTable("parents", Owner.all.select { ($0.parent, $0.name) }))
    #expect(parents.answer == 14)
    #expect(parents.sql.contains(" OR "), "\(parents.sql)")
    let missing = CommonTable(
      "missing",
      Owner.leftJoin(Item.self) { $0.id == $1.owner && $1.id < 0 }.select { ($1.id, $0.name) })
    #expect(try joined(missing).answer == 15)
    let upward = CommonTable(
      recursive: "up", Owner.filter { $0.id == 3 }.select { ($0.id, $0.name) }
    ) {
      up in
      Owner.all.join(common: up) { $0.id == $1.columns.0 }.select { owner, _ in
        (owner.parent, owner.name)
      }
    }
    #expect(try joined(upward).sql.contains(" OR "))
    try ask { db in
      try Owner.fullJoin(Item.self) { $0.parent == $1.owner }.select { $0.0.id }.fetchAll(db).count
    }
  }

  @Test("`contains` on a JSON array is written as containment")
  func containment() throws {
    let text = try ids { $0.payload["tags"].contains("a") }
    #expect(text.answer == [1])
    #expect(text.sql.contains("@>") && !text.sql.contains("jsonb_array_elements"), "\(text.sql)")
    #expect(try ids { $0.payload["tags"].contains(1) }.answer == [3])
    #expect(try ids { $0.payload["tags"].contains(true) }.answer == [3])
    #expect(try ids { $0.payload["tags"].contains("ä\"\\") }.answer == [6])
    #expect(try ids { !$0.payload["tags"].contains("a") }.answer.count == 13)
    #expect(try ids { $0.payload.json.contains(7) }.answer == [7])
    #expect(try ids { $0.payload.json.contains("a") }.answer == [14])
    #expect(try ids { $0.payload["tags"][0].contains("a") }.answer == [3])
    #expect(try ids { $0.payload["tags"].contains(1.0) }.answer == [3])
    let selected = Item.all.order { $0.id }.select { $0.payload["tags"].contains("b") }
    try ask { try selected.fetchAll($0) }
  }

  @Test("Equality at a JSON path is written as containment, with SQLite's results")
  func paths() throws {
    let number = try ids { $0.payload["n"] == 7 }
    #expect(number.answer == [1, 2])
    #expect(number.sql.contains("@>"), "\(number.sql)")
    #expect(try ids { $0.payload["customer"]["id"] == 7 }.answer == [1])
    #expect(try ids { $0.payload["customer"]["vip"] == true }.answer == [1])
    #expect(try ids { $0.payload["state"] == "new" && $0.payload["n"] == 7 }.answer == [1, 2])
    #expect(try ids { !($0.payload["state"] == "new") }.answer.count == 12)
    #expect(try ids { $0.payload["state"] != "new" }.answer.count == 12)
    #expect(try ids { $0.payload["n"] == 7.5 }.answer == [5])
    #expect(try ids { $0.payload["0"] == 7 }.answer == [13])
    #expect(try ids { $0.payload[0] == 7 }.answer == [7])
    #expect(try ids { $0.payload[-1]["n"] == 7 }.answer == [14])
    #expect(try ids { $0.payload["n"] > 7 }.answer == [5, 13])
    #expect(try ids { $0.payload[Int.max] == 7 }.answer == [])
    #expect(try ids { $0.payload[Int.min] == 7 }.answer == [])
    #expect(try ids { $0.payload["state"] == nil }.answer.count == 10)
  }

  @Test("Elements of JSON are joined, read and compared as on SQLite")
  func elements() throws {
    try ask { db in
      try Item.join(each: { $0.payload["lines"] }).order { ($0.0.id, $0.1.index) }
        .select { ($0.1.index, $0.1.name, $0.1.value["c"].as(Int.self, strict: false)) }
        .fetchAll(db).map { "\($0)" }
    }
    try ask { db in
      try Item.join(each: { $0.payload["lines"] }).filter { $0.1.value["c"] == 7 }
        .select { $0.0.id }.fetchAll(db)
    }
    try ask { db in
      try Item.join(each: { $0.payload.json }).order { ($0.0.id, $0.1.index) }
        .filter { $0.1.name == nil || $0.1.name == "n" }.fetchAll(db).map(\.1.index).count
    }
  }

  @Test("Grouping, ordering and DISTINCT by JSON values have SQLite's results")
  func groups() throws {
    for db in [db, lite] { try Item.filter { $0.id > 2 }.delete(db) }
    try ask { db in
      try Item.all.group { $0.payload["state"].as(String.self) }
        .order { $0.payload["state"].as(String.self) }
        .select { ($0.payload["state"].as(String.self), $0.id.count()) }.fetchAll(db).map {
          "\($0)"
        }
    }
    try ask { db in
      try Item.all.group { $0.payload["n"].as(Double.self) }
        .select { ($0.payload["n"].as(Double.self), $0.id.max()) }.fetchAll(db).map { "\($0)" }
        .sorted()
    }
    try ask { db in
      try Item.all.distinct().order { $0.payload["state"].as(String.self).desc }
        .select { $0.payload["state"].as(String.self) }.fetchAll(db)
    }
    try ask { db in
      try Item.all.group { $0.payload["customer"]["id"].as(Int.self, strict: false) }
        .select { ($0.payload["customer"]["id"].as(Int.self, strict: false), $0.id.count()) }
        .fetchAll(db)
        .map { "\($0)" }.sorted()
    }
  }
}
