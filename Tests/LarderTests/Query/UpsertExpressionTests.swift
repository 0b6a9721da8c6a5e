import Larder
import TestSupport
import PostgresSupport
import Testing

@Suite("Upserts by expressions, and of many records")
struct UpsertExpressionTests {
  private struct Item: Record, Equatable {
    var id: Int64?
    var name: String
    var quantity: Int
    var small: Int8
    var version: Int

    struct Columns: Sendable {
      let id = Column("id", \Item.id, .primaryKey)
      let name = Column("name", \Item.name, .unique)
      let quantity = Column("quantity", \Item.quantity)
      let small = Column("small", \Item.small)
      let version = Column("version", \Item.version, .version)
    }
    static let columns = Columns()
    static let table = Table(
      "item", Item.init, columns.id, columns.name, columns.quantity, columns.small, columns.version)
  }

  private let db: Database

  init() throws {
    db = try Database.empty()
    try Item.table.create(db)
    var item = Item(name: "a", quantity: 1, small: 1, version: 1)
    try item.insert(db)
  }

  private func item(_ name: String, _ quantity: Int, small: Int8 = 1) -> Item {
    Item(name: name, quantity: quantity, small: small, version: 1)
  }

  @Test("An upsert can change the existing row with expressions of it and of the new record")
  func expressions() throws {
    var more = item("a", 5)
    try more.upsert(db, onConflict: Item.columns.name) { row, new in
      row.quantity += new.quantity
      row.name = new.name + "b"
    }
    #expect(more.id == 1 && more.version == 2)
    var other = item("c", 7)
    try other.upsert(db, onConflict: Item.columns.name) { $0.quantity += $1.quantity }
    // PostgreSQL's sequence also advances for the row that already existed.
    #expect(other.id == (TestEngine.isPostgres ? 3 : 2) && other.version == 1)
    let again = try Item(id: other.id, name: "c", quantity: 1, small: 1, version: 1).upsert(db) {
      $0.quantity = $0.quantity * 10 + $1.quantity
    }
    #expect(again.version == 2)
    #expect(
      try Item.order { $0.id }.fetchAll(db).map { "\($0.name) \($0.quantity) \($0.version)" }
        == ["ab 6 2", "c 71 2"])
  }

  @Test("An upsert throws for an overflow and for a closure that changes nothing")
  func refused() throws {
    var more = item("a", 5, small: 127)
    #expect(throws: DatabaseError.self) {
      try more.upsert(db, onConflict: Item.columns.name) { $0.small += $1.small }
    }
    #expect(throws: DatabaseError.self) {
      try more.upsert(db, onConflict: Item.columns.name, updating: { _, _ in })
    }
    #expect(try Item.all.fetchAll(db).map(\.small) == [1])
  }

  @Test("A batch of upserts changes all rows, or none if one throws")
  func many() throws {
    let items = [item("a", 2), item("b", 3), item("a", 4)]
    try Item.upsert(db, contentsOf: items, onConflict: Item.columns.name) {
      $0.quantity += $1.quantity
    }
    #expect(
      try Item.order { $0.name }.fetchAll(db).map { "\($0.name) \($0.quantity)" } == ["a 7", "b 3"])
    try Item.upsert(
      db, contentsOf: items, onConflict: Item.columns.name, updating: Item.columns.quantity)
    #expect(try Item.order { $0.name }.fetchAll(db).map(\.quantity) == [4, 3])
    try db.executeUpdate("CREATE UNIQUE INDEX small ON item (small) WHERE small > 100")
    #expect {
      try Item.upsert(
        db, contentsOf: [item("a", 100), item("d", 1, small: 120), item("e", 1, small: 120)],
        onConflict: Item.columns.name, updating: Item.columns.quantity)
    } throws: {
      guard case RecordError.batch(_, let index, _) = $0 else { return false }
      return index == 2
    }
    #expect(try Item.order { $0.name }.fetchAll(db).map(\.quantity) == [4, 3])
  }
}
