import Larder
import PostgresSupport
import Testing

@Suite("Computed declarations")
struct ComputedDeclarationTests {
  struct Stone: Record, Equatable {
    var id: Int64?
    var name: String
    var weight: Double?

    struct Columns: Sendable {
      let id = Column("id", \Stone.id, .primaryKey)
      let name = Column("name", \Stone.name)
      let weight = Column("weight", \Stone.weight)
    }
    static var columns: Columns { Columns() }
    static var table: Table<Stone> {
      let columns = columns
      return Table("stone", Stone.init, columns.id, columns.name, columns.weight)
    }
  }

  @Test("A record whose columns and table are computed properties works like any other")
  func queries() throws {
    let db = try Database.empty()
    try Stone.table.create(db)
    try Stone.insert(
      db, contentsOf: (1...20).map { Stone(id: $0, name: "s\($0)", weight: Double($0)) })
    let heavy = Stone.filter { $0.weight > 10 && $0.name != "s15" }.order { $0.weight.desc }
    #expect(try heavy.limit(3).fetchAll(db).map(\.name) == ["s20", "s19", "s18"])
    #expect(try heavy.select { ($0.name, $0.weight) }.fetchAll(db).count == 9)
    #expect(heavy.snapshot.hasSuffix(#""stone"."name" <> ? ORDER BY "stone"."weight" DESC"#))
    let pairs = try Stone.join(Stone.self) { $0.id == $1.id }.order { $0.0.id }.fetchAll(db)
    #expect(pairs.count == 20 && pairs.allSatisfy { $0.0 == $0.1 })
    #expect(try heavy.update(db) { $0.weight += 1 } == 9)
    #expect(try Stone.find(db, 20).weight == 21)
  }
}
