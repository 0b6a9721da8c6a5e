// compiles
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

func query() throws {
  let (n, maybe): (Int64, Double?) = (5, 1)
  _ = City.filter { $0.id == n && $0.elevation == maybe && $0.elevation * $0.population.real > 5 }
  _ = City.join(Country.self) { $0.country == $1.code }.join(City.self) { $2.country == $1.code }
    .join(Country.self) { $3.code == $2.country }.filter { $0.0.population > 5 && $0.3.name == "x" }
    .group { $0.2.id }
  _ = City.join(Country.self) { $0.country == $1.code }.join(City.self) { $2.country == $1.code }
    .join(Country.self) { $3.code == $2.country }.group { _, _, city, _ in city.id }
  _ = City.all.group { ($0.country, $0.name) }.select { ($0.country, count()) }.order { $1.desc }
    .having { $1 > 5 }
  _ = City.all.order { ($0.country, $0.population.desc) }.select { $0.name }
}

func associations(_ db: Database) throws {
  let cities = HasMany(Country.columns.code, City.columns.country)
  let inCountry = BelongsTo(City.columns.country, Country.columns.code)
  let large = cities.filter { $0.population > 1_000 && $0.name != "x" }.order { $0.name.desc }
  let rows = try Country.all.fetchAll(db, with: large.limit(3).with(inCountry), cities.limit(2))
  let names: [[String?]] = rows.map { $0.1.map { $0.1?.name } }
  _ = (names, rows.map(\.2.count))
}
