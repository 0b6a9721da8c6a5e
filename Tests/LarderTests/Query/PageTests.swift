import Foundation
import Larder
import LarderTesting
import PostgresSupport
import Testing

@Suite("Pages, plans, order by name, and inserts from queries")
struct PageTests {
  let db: Database

  init() throws {
    db = try .world()
    try Place.all.delete(db)
    // Names and elevations repeat, and some elevations are NULL.
    let places = (1...40).map { number in
      Place(
        id: Int64(number * 7 % 41), name: "city \(number % 5)", population: number % 3,
        country: number.isMultiple(of: 2) ? "CN" : "NO", level: .city,
        elevation: number % 4 == 0 ? nil : Double(number % 6) / 3)
    }
    try Place.insert(db, contentsOf: places)
  }

  /// The rows of all pages in a row. Checks that only the last page may be short.
  private func pages(_ query: Query<Place>, limit: Int) throws -> [Place] {
    var rows: [Place] = []
    var cursor: String?
    repeat {
      let page = try query.page(db, after: cursor, limit: limit)
      #expect(page.rows.count == limit || page.next == nil)
      rows += page.rows
      cursor = page.next
    } while cursor != nil
    return rows
  }

  @Test(
    "All pages together have the query's rows in order, for many orders and page sizes",
    arguments: [1, 3, 7, 40, 100]
  )
  func allPages(_ limit: Int) throws {
    let orders: [(RecordFields<Place>) -> [OrderingTerm]] = [
      { _ in [] },
      { [$0.name.asc] },
      { [$0.name.desc, $0.id.desc] },
      { [$0.name.asc, $0.population.desc, $0.country.asc] },
      { [$0.elevation.asc] },
      { [$0.elevation.desc, $0.name.asc] },
      { [$0.elevation.asc.nullsLast, $0.id.desc] },
      { [$0.name.desc, $0.elevation.desc.nullsFirst] },
      { [($0.population * -1).desc, $0.name.collate("NOCASE").asc, $0.elevation.desc] },
      { [SQLExpression<Int>(sql: "length(\($0.name.sql)) + \(2)").desc, $0.elevation.asc] },
    ]
    for order in orders {
      let query = Place.filter { $0.id > 2 }.order(order)
      let all = try query.order { $0.id }.fetchAll(db)
      #expect(all.count == 38)
      #expect(try pages(query, limit: limit) == all)
    }
  }

  @Test("Pages can be ordered by conditions with operators")
  func orderOfConditions() throws {
    let query = Place.order {
      [($0.population == 1 || $0.elevation < 1).desc, ($0.country == "NO").asc.nullsLast]
    }
    let all = try query.order { $0.id }.fetchAll(db)
    for limit in [1, 3, 7] { #expect(try pages(query, limit: limit) == all) }
  }

  @Test("A page begins after the cursor's row, even if earlier rows were deleted")
  func stability() throws {
    let page = try Place.order { $0.name }.page(db, limit: 2)
    let next = try #require(page.next)
    // Deleting rows before the cursor doesn't move the next page.
    let expected = try Place.order { $0.name }.page(db, after: next, limit: 2).rows
    try Place.filter { $0.id == page.rows[0].id }.delete(db)
    #expect(try Place.order { $0.name }.page(db, after: next, limit: 2).rows == expected)
  }

  @Test("A page's condition is one that an index can serve", .onlySQLite(.catalog))
  func sql() throws {
    let statements = Statements()
    var configuration = Configuration()
    configuration.slowStatementThreshold = .zero
    configuration.trace = statements.add
    configuration.showsArguments = true
    let db = try Database.empty(configuration)
    try db.define(
      """
      CREATE TABLE place (id INTEGER PRIMARY KEY, name TEXT NOT NULL, population INTEGER NOT NULL,
        country TEXT NOT NULL, level TEXT NOT NULL, elevation REAL)
      """)
    try db.executeUpdate(
      "INSERT INTO place VALUES (1, 'A', 5, 'CN', 'city', 1.5), (2, 'B', 6, 'CN', 'city', 2.5)")
    func condition(_ query: Query<Place>) throws -> String {
      _ = try query.page(db, after: try query.page(db, limit: 1).next, limit: 1)
      return statements.last.components(separatedBy: " WHERE ").dropFirst().joined()
        .replacing(#""place"."#, with: "")
    }
    #expect(try condition(Place.all) == #"("id" > 1) ORDER BY "id" LIMIT 2"#)
    #expect(
      try condition(Place.order { $0.name })
        == #"(("name", "id") > ('A', 1)) ORDER BY "name", "id" LIMIT 2"#)
    #expect(
      try condition(Place.order { $0.name.desc }) == """
        ("name" <= 'B' AND ("name" < 'B' OR "name" = 'B' AND "id" > 2)) \
        ORDER BY "name" DESC, "id" LIMIT 2
        """)
    #expect(
      try condition(Place.order { $0.elevation.desc }) == """
        (("elevation" < 2.5 OR "elevation" IS NULL) OR "elevation" = 2.5 AND "id" > 2) \
        ORDER BY "elevation" DESC, "id" LIMIT 2
        """)
  }

  @Test("An invalid cursor of millions of bytes throws quickly", arguments: ["=", "é", "-_"])
  func longCursors(unit: String) throws {
    // The first byte that isn't base 64 ends decoding. It once took a second.
    let isBase64 = unit == "-_"
    let text = String(repeating: unit, count: isBase64 ? 2 << 20 : 32 << 20 / unit.utf8.count)
    let start = ContinuousClock.now
    #expect(throws: PageError.malformedCursor) {
      try Place.order { $0.name }.page(db, after: text, limit: 3)
    }
    #expect(ContinuousClock.now - start < .milliseconds(isBase64 ? 4000 : 400))
  }

  @Test(
    "A changed, malformed or foreign cursor throws, and so does paging a limited query"
  )
  func tampered() throws {
    let query = Place.order { $0.name }
    let cursor = try #require(try query.page(db, limit: 3).next)
    #expect(cursor.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "+") })
    for index in cursor.indices {
      for character in ["A", "z", "-", "é", ""] where String(cursor[index]) != character {
        let changed = cursor.replacingCharacters(in: index...index, with: character)
        do {
          _ = try query.page(db, after: changed, limit: 3)
          // Only the last character's bits that base 64 doesn't use may change unnoticed.
          #expect(index == cursor.indices.last)
        } catch is PageError {}
      }
    }
    for text in ["", "'; DROP TABLE place; --", "====", String(repeating: "A", count: 9999)] {
      #expect(throws: PageError.malformedCursor) { try query.page(db, after: text, limit: 3) }
    }
    #expect(throws: PageError.otherQuery) {
      try query.order { $0.population }.page(db, after: cursor, limit: 3)
    }
    #expect(throws: DatabaseError.self) { try query.limit(9).page(db, limit: 3) }
    #expect(throws: DatabaseError.self) { try query.distinct().page(db, limit: 3) }
    #expect(try query.page(db, limit: .max).rows.count == 40)
  }

  @Test("A page of no rows throws, since it would have no end, also of joins and selections")
  func noRows() throws {
    for limit in [0, -1, Int.min] {
      let query = Place.order { $0.name }
      let joined = query.join(Nation.self) { $0.country == $1.code }
      let pages: [() throws -> Any] = [
        { try query.page(db, limit: limit) },
        { try query.filter { $0.id == -1 }.page(db, limit: limit) },
        { try joined.page(db, limit: limit) },
        { try joined.select { ($0.name, $1.name) }.page(db, limit: limit) },
        {
          try joined.select({ (name: String, nation: String) in name + nation }) {
            ($0.name, $1.name)
          }
          .page(db, limit: limit)
        },
      ]
      for page in pages { #expect(failure(PageError.self, page) == .limit(limit)) }
    }
  }

  @Test("An error of a page is a sentence with the remedy")
  func sentences() {
    #expect("\(PageError.limit(0))" == "a page has 1 row or more, so its limit can't be 0")
    #expect(
      "\(PageError.otherQuery)"
        == "the page's cursor is of another table or another order: begin with the first page")
    #expect(
      "\(PageError.malformedCursor)"
        == "the page's cursor isn't one, or was altered: begin with the first page")
  }

  @Test("A negative limit counts as zero, so that a request's number can't fetch the whole table")
  func negativeLimits() throws {
    let query = Place.order { $0.name }
    let names = query.select { $0.name }
    #expect(try query.limit(-1).fetchAll(db) == [])
    #expect(try query.limit(2, offset: -1).fetchAll(db) == query.limit(2).fetchAll(db))
    #expect(try names.limit(-1).fetchAll(db) == [])
    #expect(try names.union(names).limit(-1).fetchAll(db) == [])
    #expect(try query.limit(-1).fetchCount(db) == 0)
  }

  @Test(
    "A query plan tells which indexes are used, and whether it scans or sorts",
    .onlySQLite(.catalog)
  )
  func plans() throws {
    try db.executeUpdate("CREATE INDEX place_population ON place (population, id)")
    let query = Place.filter { $0.population > 1 }.order { [$0.population.asc, $0.id.asc] }
    let plan = try query.explain(db)
    #expect(plan.usesIndex() && plan.usesIndex("place_population") && !plan.usesIndex("place"))
    #expect(!plan.sorts && !plan.scansTable("place"))
    #expect(plan.description.contains("\n  SEARCH"))
    let scan = try Place.order { $0.name }.explain(db)
    #expect(scan.sorts && scan.scansTable("place") && !scan.usesIndex())
    #expect(try Place.filter { $0.id == 1 }.explain(db).usesIndex())
    let union = try Place.all.union(query).explain(db)
    #expect(union.scansTable("place") && union.usesIndex("place_population"))
    #expect(union.steps.contains { !$0.steps.isEmpty })
    #expect(try Place.all.select { $0.name }.explain(db).scansTable("place"))
  }

  @Test("order(byColumnNamed:) orders by a declared column, and throws for any other text")
  func orderByName() throws {
    let query = try Place.all.order(byColumnNamed: "population", descending: true)
      .order(byColumnNamed: "id")
    #expect(
      query.snapshot.hasSuffix(#" ORDER BY "place"."population" DESC, "place"."id""#))
    #expect(try query.fetchOne(db)?.population == 2)
    for name in ["Population", "", "id; DROP TABLE place", "rowid", #"id" DESC, "name"#] {
      let error = failure(RecordError.self) { try Place.all.order(byColumnNamed: name) }
      guard case .unknownColumn("place", name)? = error else {
        return _ = Issue.record("\(name): \(String(describing: error))")
      }
    }
  }

  @Test("`insert(from:)` inserts a selection's rows, or none if one conflicts")
  func insertFromQuery() throws {
    let cities = Place.filter { $0.id <= 3 }.order { $0.id }
    let count = try Nation.insert(
      db, Nation.columns.code, Nation.columns.name,
      from: cities.select { ("X" + $0.id.cast(to: String.self), $0.name + "!") })
    #expect(count == 3)
    #expect(
      try Nation.filter { $0.code.hasPrefix("X") }.order { $0.code }.fetchAll(db).map(\.code)
        == ["X1", "X2", "X3"])
    #expect(throws: DatabaseError.self) {
      try Nation.insert(
        db, Nation.columns.code, Nation.columns.name,
        from: Nation.all.select { ($0.code, $0.name) })
    }
    #expect(try Nation.all.fetchCount(db) == 6)
  }

  @Test("`insert(from:)` into a read-only column throws")
  func insertIntoReadOnly() throws {
    struct Town: Record {
      var id: Int64?
      var name: String
      static let columns = [Column("id", \Town.id, .primaryKey)]
      static let readOnlyName = Column("name", \Town.name, .readOnly)
      static let table = Table("country", Town.init, columns[0], readOnlyName)
    }
    let error = failure(DatabaseError.self) {
      try Town.insert(db, Town.readOnlyName, from: Place.all.select { $0.name })
    }
    #expect(error?.code == .misuse)
    #expect(error?.message == "“country”.“name” isn't written")
    #expect(try Nation.all.fetchCount(db) == 3)
  }
}

/// Records the statements that a connection runs.
final class Statements: @unchecked Sendable {
  private let lock = NSLock()
  private var texts: [String] = []

  func add(_ event: TraceEvent) { lock.withLock { texts.append(event.expandedSQL ?? event.sql) } }
  var last: String { lock.withLock { texts.last ?? "" } }
}
