import Larder
import PostgresSupport
import Testing

/// A country's division, with the code of the division that contains it.
struct Division: Record, Equatable {
  var code: Int
  var name: String
  var parent: Int?

  struct Columns: Sendable {
    let code = Column("code", \Division.code, .primaryKey)
    let name = Column("name", \Division.name)
    let parent = Column("parent", \Division.parent, .indexed)
  }
  static let columns = Columns()
  static let table = Table(
    "division", Division.init, columns.code, columns.name, columns.parent)
}

@Suite("Compound queries and common tables")
struct CompoundTests {
  let db: Database

  init() throws {
    db = try .world()
    try db.define(
      "CREATE TABLE division (code INTEGER PRIMARY KEY, name TEXT NOT NULL, parent INTEGER)")
    try Division.insert(
      db,
      contentsOf: [
        Division(code: 110_000, name: "北京市", parent: nil),
        Division(code: 110_100, name: "市辖区", parent: 110_000),
        Division(code: 110_101, name: "东城区", parent: 110_100),
        Division(code: 110_102, name: "西城区", parent: 110_100),
        Division(code: 120_000, name: "天津市", parent: nil),
      ])
  }

  let chinese = Place.filter { $0.country == "CN" }
  let large = Place.filter { $0.population > 500_000 }

  @Test("union, intersect and except combine queries of one record")
  func records() throws {
    let union = chinese.order { $0.name }.union(large).order(byColumn: 1, descending: true).limit(3)
    #expect(
      union.snapshot == """
        SELECT "place"."id", "place"."name", "place"."population", "place"."country", \
        "place"."level", "place"."elevation" FROM "place" WHERE "place"."country" = ? \
        UNION SELECT "place"."id", "place"."name", "place"."population", "place"."country", \
        "place"."level", "place"."elevation" FROM "place" WHERE "place"."population" > ? \
        ORDER BY 1 DESC LIMIT ?
        """)
    #expect(union.sql.arguments == ["CN", 500_000, 3])
    #expect(try union.fetchAll(db).map(\.id) == [4, 3, 2])
    #expect(try union.fetchCount(db) == 3)
    #expect(try chinese.union(all: large).fetchCount(db) == 6)
    #expect(try chinese.intersect(large).order(byColumn: 1).fetchAll(db).map(\.id) == [1, 2])
    #expect(try chinese.except(large).fetchOne(db)?.name == "北戴河区")
    #expect(throws: DatabaseError.self) { try union.order(byColumn: 9).fetchAll(db) }
  }

  @Test(
    "A compound's limited first part keeps its order, and a nested compound its grouping"
  )
  func parts() throws {
    let first = Place.order { $0.population.desc }.limit(1)
    let compound = first.compound.union(chinese.except(large))
    #expect(compound.snapshot.hasPrefix("SELECT * FROM (SELECT"))
    #expect(try compound.order(byColumn: 1).fetchAll(db).map(\.id) == [2, 4])
    let right = Place.all.compound.except(chinese.except(large))
    #expect(try right.order(byColumn: 1).fetchAll(db).map(\.id) == [1, 2, 3])
  }

  @Test("Compounds are evaluated from left to right, also with INTERSECT")
  func leftToRight() throws {
    let small = chinese.except(large)
    #expect(try small.intersect(large).fetchAll(db).isEmpty)
    #expect(try small.intersect(chinese).fetchAll(db).map(\.id) == [4])
    let some = chinese.select { $0.id }.union(large.select { $0.id })
      .intersect(Place.filter { $0.id > 2 }.select { $0.id })
    #expect(
      some.snapshot == """
        SELECT * FROM (SELECT "place"."id" FROM "place" WHERE "place"."country" = ? UNION \
        SELECT "place"."id" FROM "place" WHERE "place"."population" > ?) AS combined \
        INTERSECT SELECT "place"."id" FROM "place" WHERE "place"."id" > ?
        """)
    #expect(try some.order(byColumn: 1).fetchAll(db) == [3, 4])
  }

  @Test("`union` combines selections of the same types")
  func selections() throws {
    let names = Nation.all.select { ($0.name, .value(0)) }
      .union(Place.all.select { ($0.name, $0.population) })
      .order(byColumn: 2).order(byColumn: 1).limit(2, offset: 2)
    #expect(try names.fetchAll(db).map(\.0) == ["Norway", "北戴河区"])
  }

  @Test("A compound maps its rows to values with one function for all parts")
  func values() throws {
    struct Inhabited: Equatable {
      var name: String
      var people: Int
    }
    let all = Place.select { ($0.name, $0.population) }
      .union(Nation.select { ($0.name, .value(0)) })
      .order(byColumn: 2).order(byColumn: 1).limit(3, offset: 2)
    let values = all.select(Inhabited.init)
    let expected = [
      Inhabited(name: "Norway", people: 0), Inhabited(name: "北戴河区", people: 120_000),
      Inhabited(name: "Oslo", people: 709_037),
    ]
    #expect(values.snapshot() == all.snapshot)
    #expect(try values.fetchAll(db) == expected)
    #expect(try values.limit(1, offset: 2).fetchAll(db) == [expected[0]])
    #expect(try values.fetchOne(db) == expected[0])
    #expect(try values.fetchCount(db) == 3)
    let codes = Nation.select { $0.code }.except(Place.select { $0.country })
    #expect(try codes.select { "\($0)!" }.fetchAll(db) == ["AQ!"])
    #expect(throws: (any Error).self) {
      try Place.select { $0.name.cast(to: Int.self) }
        .union(all: Place.select { _ in SQLExpression<Int>(sql: "'many'") })
        .select { $0 + 1 }.fetchAll(db)
    }
  }

  @Test("A common table can be filtered, ordered and joined like a table")
  func commonTable() throws {
    let big = CommonTable("big", large.select { ($0.name, $0.country) })
    let query = big.all.filter { $0.columns.1 == "CN" }.order { $0.columns.0 }
    #expect(
      query.snapshot == """
        SELECT "big"."c1", "big"."c2" FROM (WITH "big"("c1", "c2") AS \
        (SELECT "place"."name", "place"."country" FROM "place" WHERE "place"."population" > ?) \
        SELECT * FROM "big") AS "big" WHERE "big"."c2" IS ? ORDER BY "big"."c1"
        """)
    #expect(try query.fetchAll(db).map(\.columns.0) == ["上海市", "北京市"])
    let joined = big.all.join(Nation.self) { $0.columns.1 == $1.code }.order { $0.0.columns.0 }
      .select { ($0.columns.0, $1.name) }
    #expect(try joined.fetchAll(db).map(\.1) == ["Norway", "China", "China"])
    let places = try Place.all.join(common: big) { $0.name == $1.columns.0 }.filter {
      $1.columns.1 != "NO"
    }
    .order { $0.0.id }.fetchAll(db)
    #expect(places.map(\.0.id) == [1, 2] && places.map(\.1.columns.1) == ["CN", "CN"])
  }

  @Test("A recursive common table walks a tree")
  func recursion() throws {
    let tree = CommonTable(
      recursive: "tree",
      Division.filter { $0.code == 110_000 }.select { ($0.code, $0.name, .value(0)) }
    ) { tree in
      Division.all.join(common: tree) { $1.columns.0 == $0.parent }.select {
        ($0.code, $0.name, $1.columns.2 + 1)
      }
    }
    let query = tree.all.order { $0.columns.0 }
    #expect(
      query.snapshot == """
        SELECT "tree"."c1", "tree"."c2", "tree"."c3" FROM (WITH RECURSIVE \
        "tree"("c1", "c2", "c3") AS (SELECT "division"."code", "division"."name", ? \
        FROM "division" WHERE "division"."code" = ? UNION ALL \
        SELECT "division"."code", "division"."name", "tree"."c3" + ? FROM "division" \
        JOIN "tree" ON "tree"."c1" IS "division"."parent") SELECT * FROM "tree") AS "tree" \
        ORDER BY "tree"."c1"
        """)
    #expect(try query.fetchAll(db).map(\.columns.1) == ["北京市", "市辖区", "东城区", "西城区"])
    #expect(try query.fetchAll(db).map(\.columns.2) == [0, 1, 2, 2])
    #expect(try tree.all.filter { $0.columns.2 == 2 }.fetchCount(db) == 2)
  }

  @Test("A distinct recursive common table ends at a cycle")
  func circles() throws {
    try Division.filter { $0.code == 110_000 }.update(db) { $0.parent = .value(110_102) }
    let circle = CommonTable(
      recursive: "circle", distinct: true,
      Division.filter { $0.code == 110_100 }
        .select { ($0.code, $0.name) }
    ) { circle in
      Division.all.join(common: circle) { $1.columns.0 == $0.parent }
        .select { division, _ in (division.code, division.name) }
    }
    #expect(try circle.all.fetchCount(db) == 4)
  }
}
