import Foundation
import Larder
import PostgresSupport
import Testing

@Suite("Pages of joins and of selections")
struct JoinedPageTests {
  private struct Line: Equatable {
    var place: String
    var nation: String?
  }

  private let db: Database

  init() throws {
    db = try .world()
    try Place.all.delete(db)
    // Names and elevations repeat, some elevations are NULL, and some places have no nation.
    let places = (1...30).map { number in
      Place(
        id: Int64(number * 7 % 31), name: "city \(number % 4)", population: number % 3,
        country: ["CN", "NO", "XX"][number % 3], level: .city,
        elevation: number % 4 == 0 ? nil : Double(number % 6) / 3)
    }
    try Place.insert(db, contentsOf: places)
  }

  /// The rows of all pages in a row. Checks that only the last page may be short.
  private func all<Row>(_ limit: Int, _ page: (String?) throws -> Page<Row>) throws -> [Row] {
    var rows: [Row] = []
    var cursor: String?
    repeat {
      let page = try page(cursor)
      #expect(page.rows.count == limit || page.next == nil)
      rows += page.rows
      cursor = page.next
    } while cursor != nil
    return rows
  }

  @Test("All pages of a join together have its rows in order", arguments: [1, 4, 20, 100])
  func joins(_ limit: Int) throws {
    let inner = Place.all.join(Nation.self) { $0.country == $1.code }
      .order { place, nation in (nation.name.desc, place.elevation) }
    let rows = try all(limit) { try inner.page(db, after: $0, limit: limit) }
    let expected = try inner.order { place, nation in (place.id, nation.code) }.fetchAll(db)
    #expect(expected.count == 20)
    #expect(rows.map(\.0) == expected.map(\.0) && rows.map(\.1) == expected.map(\.1))

    let left = Place.all.leftJoin(Nation.self) { $0.country == $1.code }
      .order { place, nation in (nation.name, place.name.desc) }
    let found = try all(limit) { try left.page(db, after: $0, limit: limit) }
    let all = try left.order { place, _ in place.id }.fetchAll(db)
    #expect(all.count == 30)
    #expect(found.map(\.0) == all.map(\.0) && found.map(\.1) == all.map(\.1))
  }

  @Test("Rows that only one side has, and a table joined with itself, are read in pages")
  func itself() throws {
    let pairs = Place.filter { $0.id < 8 }.join(Place.self) { $0.country == $1.country }
      .order { $1.population.desc }
    let rows = try all(5) { try pairs.page(db, after: $0, limit: 5) }
    let expected = try pairs.order { ($0.id, $1.id) }.fetchAll(db)
    #expect(rows.map { [$0.0.id, $0.1.id] } == expected.map { [$0.0.id, $0.1.id] })

    let nations = Place.all.rightJoin(Nation.self) { $0.country == $1.code }
    let found = try all(3) { try nations.page(db, after: $0, limit: 3) }
    let all = try nations.order { ($0.id, $1.code) }.fetchAll(db)
    #expect(all.count == 21)
    #expect(found.map { $0.0?.id } == all.map { $0.0?.id })
    #expect(found.map(\.1) == all.map(\.1))
  }

  @Test("Selections and structures are read in pages", arguments: [1, 3, 40])
  func selections(_ limit: Int) throws {
    let query = Place.all.leftJoin(Nation.self) { $0.country == $1.code }
    let selection = query.select { ($0.name, $1.name, $0.population * 2 + 1) }
      .order { name, _, number in (number.desc, name) }
    let rows = try all(limit) { try selection.page(db, after: $0, limit: limit) }
    let expected = try query.order { place, nation in
      ((place.population * 2 + 1).desc, place.name, place.id, nation.code)
    }.select { ($0.name, $1.name, $0.population * 2 + 1) }.fetchAll(db)
    #expect(rows.map { "\($0)" } == expected.map { "\($0)" })

    let names = Place.order { $0.name.desc }.select { $0.name }
    #expect(
      try all(limit) { try names.page(db, after: $0, limit: limit) } == names.fetchAll(db))

    let lines = query.order { place, _ in place.name }.select(Line.init) { ($0.name, $1.name) }
    let found = try all(limit) { try lines.page(db, after: $0, limit: limit) }
    let inOrder = try query.order { place, nation in (place.name, place.id, nation.code) }
      .select(Line.init) { ($0.name, $1.name) }.fetchAll(db)
    #expect(found == inOrder)
  }

  @Test("A page begins behind the last row of the one before, whatever was deleted since")
  func changes() throws {
    let query = Place.all.join(Nation.self) { $0.country == $1.code }.select { ($0.id, $1.name) }
    let first = try query.page(db, limit: 5)
    let last = try #require(first.rows.last)
    try Place.filter { $0.id <= last.0 }.delete(db)
    let second = try query.page(db, after: first.next, limit: 5)
    #expect(second.rows.count == 5)
    #expect(try second.rows.allSatisfy { try #require($0.0) > #require(last.0) })
  }

  @Test("Grouped, filtered and limited selections, and tables without a key, have no pages")
  func refused() throws {
    #expect(throws: DatabaseError.self) {
      try Place.all.group { $0.country }.select { ($0.country, count()) }.page(db, limit: 3)
    }
    #expect(throws: DatabaseError.self) {
      try Place.select { ($0.name, $0.id) }.filter { $1 > 3 }.page(db, limit: 3)
    }
    #expect(throws: DatabaseError.self) {
      try Place.select { ($0.name, $0.id) }.limit(5).page(db, limit: 3)
    }
    #expect(throws: DatabaseError.self) {
      try Place.select { $0.name }.distinct().page(db, limit: 3)
    }
    let names = CommonTable("names", Place.select { ($0.name, $0.id) })
    #expect(throws: DatabaseError.self) { try names.all.page(db, limit: 3) }
    #expect(throws: DatabaseError.self) {
      try Place.all.join(common: names) { $0.id == $1.columns.1 }.page(db, limit: 3)
    }
  }

  @Test("The cursor of another order is refused")
  func otherOrder() throws {
    let query = Place.all.join(Nation.self) { $0.country == $1.code }
    let first = try query.order { place, _ in place.name }.page(db, limit: 2)
    #expect(throws: PageError.otherQuery) {
      try query.order { _, nation in nation.name }.page(db, after: first.next, limit: 2)
    }
    #expect(throws: PageError.malformedCursor) {
      try query.select { ($0.name, $1.name) }.page(db, after: "?", limit: 2)
    }
  }
}
