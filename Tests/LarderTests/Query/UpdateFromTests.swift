import Larder
import PostgresSupport
import Testing

/// An item whose price a list names. The names of both tables' columns are the same.
private struct Ware: Record, Equatable {
  var id: Int64?
  var name: String
  var price: Int
  var note: String?
  var version = 1

  struct Columns: Sendable {
    let id = Column("id", \Ware.id, .primaryKey)
    let name = Column("name", \Ware.name)
    let price = Column("price", \Ware.price)
    let note = Column("note", \Ware.note)
    let version = Column("version", \Ware.version, .version)
  }
  static let columns = Columns()
  static let table = Table(
    "ware", Ware.init, columns.id, columns.name, columns.price, columns.note, columns.version)
}

private struct Tariff: Record, Equatable {
  var name: String
  var price: Int
  var note: String?
  var version: Int

  struct Columns: Sendable {
    let name = Column("name", \Tariff.name, .primaryKey)
    let price = Column("price", \Tariff.price)
    let note = Column("note", \Tariff.note)
    let version = Column("version", \Tariff.version)
  }
  static let columns = Columns()
  static let table = Table(
    "tariff", Tariff.init, columns.name, columns.price, columns.note, columns.version)
}

@Suite("Updates from joined tables")
struct UpdateFromTests {
  let db: Database

  init() throws {
    db = try Database.empty()
    try Ware.table.create(db)
    try Tariff.table.create(db)
    try Ware.insert(
      db,
      contentsOf: [("tea", 3), ("salt", 1), ("rice", 2), ("ink", 9)].map {
        Ware(id: nil, name: $0.0, price: $0.1)
      })
    try Tariff.insert(
      db,
      contentsOf: [
        Tariff(name: "tea", price: 5, note: "dear", version: 70),
        Tariff(name: "salt", price: 4, note: nil, version: 71),
        Tariff(name: "rice", price: 10, note: "new", version: 72),
      ])
  }

  private func prices() throws -> [Int] { try Ware.order { $0.id }.fetchAll(db).map(\.price) }

  @Test("Rows of a join get values of the other table, and keep the others")
  func joined() throws {
    let join = Ware.join(Tariff.self) { $0.name == $1.name }
    let count = try join.filter { $1.price >= 5 }.update(db) {
      $0.price += $1.price * 10
      $0.note = $1.note
    }
    #expect(count == 2)
    #expect(try prices() == [53, 1, 102, 9])
    let notes = try Ware.order { $0.id }.fetchAll(db).map(\.note)
    #expect(notes == ["dear", nil, "new", nil])
    #expect(try Ware.order { $0.id }.fetchAll(db).map(\.version) == [2, 1, 2, 1])
    // The same as a subquery for each row.
    try join.update(db) { $0.price = $1.price }
    #expect(try prices() == [5, 4, 10, 9])
    #expect(try join.filter { $1.price == 99 }.update(db) { $0.price = $1.price } == 0)
    #expect(try join.update(db) { _, _ in } == 0)
  }

  @Test("Values, and the row's own columns, are assigned beside those of the other table")
  func mixed() throws {
    let join = Ware.join(Tariff.self) { $0.name == $1.name }.filter { ware, _ in ware.price > 1 }
    let bonus = 100
    #expect(
      try join.update(db) { ware, tariff in
        ware.price = tariff.price + bonus
        ware.note = "list"
        ware.name = ware.name + "/" + tariff.name
      } == 2)
    #expect(
      try Ware.filter { $0.note == "list" }.order { $0.id }.fetchAll(db).map(\.name) == [
        "tea/tea", "rice/rice",
      ])
    #expect(try prices() == [105, 1, 110, 9])
  }

  @Test("Three tables, and the updated table under a second name")
  func three() throws {
    let count = try Ware.join(Tariff.self) { $0.name == $1.name }
      .join(Ware.self) { $2.price > $0.price && $2.name == "ink" }
      .filter { ware, tariff, _ in tariff.price < 10 || ware.name == "rice" }
      .update(db) { $0.price = $1.price + $2.price }
    #expect(count == 3)
    #expect(try prices() == [14, 13, 19, 9])
  }

  @Test("Rows of a common table are a source of values")
  func common() throws {
    let sums = CommonTable(
      "sums", Tariff.all.group { $0.name }.select { ($0.name, $0.price.max().coalesce(0)) })
    #expect(
      try Ware.all.join(common: sums) { $0.name == $1.columns.0 }
        .update(db) { $0.price = $1.columns.1 } == 3)
    #expect(try prices() == [5, 4, 10, 9])
  }

  @Test("Limited, grouped and outer joins are refused, and change nothing")
  func refused() throws {
    let join = Ware.join(Tariff.self) { $0.name == $1.name }
    #expect(throws: DatabaseError.self) { try join.limit(1).update(db) { $0.price = $1.price } }
    #expect(throws: DatabaseError.self) { try join.distinct().update(db) { $0.price = $1.price } }
    #expect(throws: DatabaseError.self) {
      try join.group { $0.0.id }.update(db) { $0.price = $1.price }
    }
    #expect(try prices() == [3, 1, 2, 9])
  }
}
