// The records of the queries that are type-checked here and in Tests/type-check.

import Larder

struct City: Record {
  var id: Int64?
  var name: String
  var population: Int
  var country: String
  var elevation: Double?
  struct Columns: Sendable {
    let id = Column("id", \City.id, .primaryKey)
    let name = Column("name", \City.name)
    let population = Column("population", \City.population)
    let country = Column("country", \City.country)
    let elevation = Column("elevation", \City.elevation)
  }
  static let columns = Columns()
  static let table = Table(
    "city", City.init, columns.id, columns.name, columns.population, columns.country,
    columns.elevation)
}
struct Country: Record {
  var code: String
  var name: String
  var capital: String?
  var weight: Int
  struct Columns: Sendable {
    let code = Column("code", \Country.code, .primaryKey)
    let name = Column("name", \Country.name)
    let capital = Column("capital", \Country.capital)
    let weight = Column("weight", \Country.weight)
  }
  static let columns = Columns()
  static let table = Table(
    "country", Country.init, columns.code, columns.name, columns.capital, columns.weight)
}
