import Foundation
import Larder

struct Country: Record, Equatable {
  var code: String

  struct Columns: Sendable {
    let code = Column("code", \Country.code, .primaryKey)
  }
  static let columns = Columns()
  static let table = Table("country", Country.init, columns.code)
}

/// A record with a column of each type and each option.
struct Town: Record, Equatable {
  var id: Int64?
  var name: String
  var population: Int
  var area: Double?
  var isCapital: Bool
  var founded: Date?
  var code: UUID
  var budget: Decimal
  var flag: [UInt8]
  var country: String?
  var shout: String
  var twin: Int64?
  var day: Date

  struct Columns: Sendable {
    let id = Column("id", \Town.id, .primaryKey)
    let name = Column("Name", \Town.name, .unique, .check("length(\"Name\") < \(100)"))
    let population = Column(
      "population", \Town.population, .indexed, .default(-5),
      .check("population > -10 AND population <> \(7)"))
    let area = Column("area", \Town.area, .indexed, .default(1.5))
    let isCapital = Column("is capital", \Town.isCapital, .default(false))
    let founded = Column(
      "founded", \Town.founded, .default(Date(timeIntervalSince1970: 1_000)))
    let code = Column("code", \Town.code, .default(UUID(uuid: Town.noCode)))
    let budget = Column("budget", \Town.budget, .default(Decimal(5)))
    let flag = Column("flag", \Town.flag, .default([1, 255]))
    let country = Column(
      "country", \Town.country,
      .references(Country.self, onDelete: .cascade, onUpdate: .setNull), .default("it's"))
    let shout = Column("shout", \Town.shout, .generated("upper(\"Name\")", stored: true))
    let twin = Column("twin", \Town.twin, .references(Town.self))
    let day = Column(
      "day", \Town.day, .default(sql: "CAST(CURRENT_DATE AS TEXT)"), as: .iso8601)
  }
  static let columns = Columns()
  static let table = Table(
    "town", Town.init, columns.id, columns.name, columns.population, columns.area,
    columns.isCapital, columns.founded, columns.code, columns.budget, columns.flag,
    columns.country, columns.shout, columns.twin, columns.day,
    constraints: [
      .unique(columns.population, columns.area),
      .check("area IS NULL OR area < population + \(1_000_000)"),
    ],
    indexes: [
      .index(columns.population, columns.area),
      .index(columns.area, where: "area > 5 AND \"is capital\" = \(true)", name: "town_big"),
    ])

  fileprivate static let noCode: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}
