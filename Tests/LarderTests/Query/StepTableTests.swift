import Larder
import PostgresSupport
import Testing

/// The cells of the table of steps in the documentation; those that don't compile are in
/// Tests/must-not-compile.
@Suite("Each step of a query after each other")
struct StepTableTests {
  private struct Line: Equatable {
    var name: String
    var population: Int
  }

  private let db: Database

  init() throws { db = try .world() }

  @Test("Records and joins take all steps")
  func records() throws {
    let all = Place.all
    #expect(try all.filter { $0.population > 1_000_000 }.fetchAll(db).count == 2)
    #expect(try all.order { $0.name }.first.fetchAll(db).count == 1)
    #expect(
      try all.group { $0.country }.having { count() > 1 }.select { _ in count() }.fetchAll(db) == [
        3
      ])
    #expect(try all.distinct().limit(3).fetchCount(db) == 3)
    #expect(try all.page(db, limit: 3).rows.count == 3)
    #expect(try !all.explain(db).steps.isEmpty)
    #expect(try Nation.filter { _ in all.exists }.fetchCount(db) == 3)
    #expect(try all.union(all).fetchCount(db) == 4)

    let joined = all.join(Nation.self) { $0.country == $1.code }
    #expect(try joined.filter { place, _ in place.population > 1_000_000 }.fetchAll(db).count == 2)
    #expect(try joined.order { $1.name }.first.fetchAll(db).count == 1)
    #expect(
      try joined.group { $1.name }.having { count() > 1 }.select { _, _ in count() }.fetchAll(db)
        == [3])
    #expect(try joined.distinct().limit(3).fetchCount(db) == 3)
    #expect(try joined.page(db, limit: 3).rows.count == 3)
    #expect(try !joined.explain(db).steps.isEmpty)
    #expect(try Nation.filter { _ in joined.exists }.fetchCount(db) == 3)
    #expect(try joined.union(joined).fetchCount(db) == 4)
  }

  @Test("Common tables take all steps but pages")
  func commonTables() throws {
    let table = CommonTable("t", Place.select { ($0.country, $0.population) }).all
    #expect(try table.filter { $0.columns.1 > 1_000_000 }.fetchAll(db).count == 2)
    #expect(try table.order { $0.columns.1.desc }.first.fetchAll(db).first?.columns.0 == "CN")
    #expect(
      try table.group { $0.columns.0 }.having { count() > 1 }.select { ($0.columns.0, count()) }
        .fetchAll(db).map(\.1) == [3])
    #expect(try table.distinct().limit(3).fetchCount(db) == 3)
    #expect(throws: DatabaseError.self) { try table.page(db, limit: 3) }
    #expect(try !table.explain(db).steps.isEmpty)
    #expect(try Nation.filter { _ in table.exists }.fetchCount(db) == 3)
    #expect(try table.union(table).fetchCount(db) == 4)
  }

  @Test("A record's type joins a common table, as a query of it does")
  func commonTableOfType() throws {
    let table = CommonTable(
      "t", Place.filter { $0.population > 1_000_000 }.select { ($0.id, $0.name) })
    #expect(try Place.join(common: table) { $0.id == $1.columns.0 }.fetchCount(db) == 2)
    let others = Place.leftJoin(common: table) { $0.id == $1.columns.0 }
    #expect(try others.fetchCount(db) == 4)
  }

  @Test("Selections take all steps but another selection")
  func selections() throws {
    let selection = Place.select { ($0.country, $0.population) }
    #expect(try selection.filter { $1 > 1_000_000 }.fetchAll(db).count == 2)
    #expect(try selection.order { $1.desc }.first.fetchAll(db).first?.0 == "CN")
    #expect(
      try Place.select { ($0.country, count()) }.group { country, _ in country }.having { $1 > 1 }
        .fetchAll(db).map(\.1) == [3])
    #expect(try selection.distinct().limit(3).fetchCount(db) == 3)
    #expect(try selection.page(db, limit: 3).rows.count == 3)
    #expect(try !selection.explain(db).steps.isEmpty)
    #expect(try Nation.filter { _ in selection.exists }.fetchCount(db) == 3)
    #expect(
      try Nation.filter { nation in
        Place.filter { $0.country == nation.code }.select { $0.id }.exists
      }
      .fetchCount(db) == 2)
    #expect(try selection.union(selection).fetchCount(db) == 4)
  }

  @Test("Structures are limited, made distinct, paged, counted and explained")
  func structures() throws {
    let lines = Place.order { $0.population }.select(Line.init) { ($0.name, $0.population) }
    #expect(try lines.first.fetchAll(db) == [Line(name: "北戴河区", population: 120_000)])
    #expect(try lines.distinct().limit(3).fetchCount(db) == 3)
    #expect(try lines.page(db, limit: 3).rows.count == 3)
    #expect(try !lines.explain(db).steps.isEmpty)
  }

  @Test("Compound queries are ordered by a column, limited, counted, and conditions of others")
  func compounds() throws {
    let selection = Place.select { ($0.name, $0.population) }
    let compound = selection.union(selection)
    #expect(try compound.order(byColumn: 2).first.fetchAll(db).map(\.1) == [120_000])
    #expect(try compound.limit(3).fetchCount(db) == 3)
    #expect(try compound.select(Line.init).fetchAll(db).count == 4)
    #expect(try !compound.explain(db).steps.isEmpty)
    #expect(try Nation.filter { _ in compound.exists }.fetchCount(db) == 3)
    #expect(try compound.union(compound).fetchCount(db) == 4)
  }
}
