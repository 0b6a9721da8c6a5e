import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import Testing

/// A record with a value of each kind.
struct Place: Record, Equatable {
  var id: Int64?
  var name: String
  var population: Int
  var area: Double?
  var isCapital: Bool
  var founded: Date?
  var code: UUID
  var budget: Decimal
  var flag: [UInt8]

  struct Columns: Sendable {
    let id = Column("id", \Place.id, .primaryKey)
    let name = Column("name", \Place.name, .indexed)
    let population = Column("population", \Place.population)
    let area = Column("area", \Place.area)
    let isCapital = Column("is capital", \Place.isCapital, .default(false))
    let founded = Column("founded", \Place.founded)
    let code = Column("code", \Place.code)
    let budget = Column("budget", \Place.budget)
    let flag = Column("flag", \Place.flag)
  }
  static let columns = Columns()
  static let table = Table(
    "place", Place.init, columns.id, columns.name, columns.population, columns.area,
    columns.isCapital, columns.founded, columns.code, columns.budget, columns.flag)

  static func some(_ name: String, _ population: Int, area: Double? = nil) -> Place {
    Place(
      id: nil, name: name, population: population, area: area, isCapital: population > 500_000,
      founded: area.map { Date(timeIntervalSince1970: $0 * 1000.5) }, code: UUID(),
      budget: Decimal(population) / 100, flag: [0, 255, UInt8(name.utf8.count)])
  }
}

@Suite("Records on PostgreSQL", .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct RecordTests {
  private func pool() throws -> PostgresPool {
    try PostgresPool(try PostgresServer.shared.database())
  }

  @Test("A record can be inserted, found, updated, queried and deleted on PostgreSQL")
  func round() throws {
    let pool = try pool()
    defer { try? pool.close() }
    var oslo = Place.some("Oslo", 709_037, area: 454.0)
    let bergen = Place.some("Bergen", 291_940)
    try pool.inTransaction { db in
      try Place.table.create(db)
      try oslo.insert(db)
      try Place.insert(db, contentsOf: [bergen, .some("Trondheim", 212_660, area: 342.3)])
    }
    #expect(oslo.id == 1)
    let found = try pool.read { db in try Place.find(db, oslo.id) }
    #expect(found == oslo)
    #expect(try pool.read { try Place.fetchAll($0).count } == 3)
    let small = try pool.read { db in
      try Place.filter { $0.population < 300_000 }.order { $0.name }.fetchAll(db).map(\.name)
    }
    #expect(small == ["Bergen", "Trondheim"])
    try pool.inTransaction { db in
      try Place.filter { $0.name == "Bergen" }.update(db) { $0.population += 1 }
      oslo.area = nil
      try oslo.update(db)
    }
    let populations = try pool.read { db in
      try Place.order { ($0.area, $0.name.desc) }.select { ($0.name, $0.population, $0.area) }
        .fetchAll(db)
    }
    #expect(populations.map(\.0) == ["Oslo", "Bergen", "Trondheim"])
    #expect(populations[1].1 == 291_941)
    #expect(try pool.read { try Place.select { $0.population.sum() }.fetchOne($0) } == 1_213_638)
    try pool.inTransaction { db in try oslo.delete(db) }
    #expect(try pool.read { try Place.filter { $0.population > 0 }.fetchCount($0) } == 2)
  }
}
