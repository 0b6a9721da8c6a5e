import Larder

/// A city of more than 15,000 people, from GeoNames.
struct RealCity: Record, Equatable {
  var id: Int
  var name: String
  var latitude: Double
  var longitude: Double
  var country: String
  var population: Int
  var timeZone: String
  var region: String?

  struct Columns: Sendable {
    let id = Column("geoname_id", \RealCity.id, .primaryKey)
    let name = Column("name", \RealCity.name)
    let latitude = Column("latitude", \RealCity.latitude)
    let longitude = Column("longitude", \RealCity.longitude)
    let country = Column("country_code", \RealCity.country, .indexed)
    let population = Column("population", \RealCity.population)
    let timeZone = Column("timezone", \RealCity.timeZone)
    let region = Column("admin1_code", \RealCity.region)
  }
  static let columns = Columns()
  static let table = Table(
    "city", RealCity.init, columns.id, columns.name, columns.latitude, columns.longitude,
    columns.country, columns.population, columns.timeZone, columns.region)
}

/// A country, from GeoNames.
struct RealCountry: Record {
  var code: String
  var name: String
  var capital: String?
  var continent: String
  var area: Double
  var population: Int
  var languages: String?
  var neighbours: String?

  struct Columns: Sendable {
    let code = Column("iso", \RealCountry.code, .primaryKey)
    let name = Column("name", \RealCountry.name)
    let capital = Column("capital", \RealCountry.capital)
    let continent = Column("continent_code", \RealCountry.continent)
    let area = Column("area_km2", \RealCountry.area)
    let population = Column("population", \RealCountry.population)
    let languages = Column("languages", \RealCountry.languages)
    let neighbours = Column("neighbours", \RealCountry.neighbours)
  }
  static let columns = Columns()
  static let table = Table(
    "country", RealCountry.init, columns.code, columns.name, columns.capital, columns.continent,
    columns.area, columns.population, columns.languages, columns.neighbours)
}

/// A division of China, with the code of the division that contains it: 440305 is in 440300, and
/// that in 440000.
struct RealDivision: Record {
  var code: Int
  var name: String
  var parent: Int?
  var longitude: Double?
  var latitude: Double?

  struct Columns: Sendable {
    let code = Column("code", \RealDivision.code, .primaryKey)
    let name = Column("name", \RealDivision.name)
    let parent = Column("parent", \RealDivision.parent, .indexed)
    let longitude = Column("longitude", \RealDivision.longitude)
    let latitude = Column("latitude", \RealDivision.latitude)
  }
  static let columns = Columns()
  static let table = Table(
    "division", RealDivision.init, columns.code, columns.name, columns.parent, columns.longitude,
    columns.latitude)
}

/// The cities, countries and divisions of `Sample/Data` in tables.
enum RealWorld {
  /// The database is filled once and only read by the tests.
  static let queue = Result { try filled() }

  private static func filled() throws -> DatabaseQueue {
    let queue = try DatabaseQueue()
    let cities = try CSVFile("world-cities").rows.map { field in
      RealCity(
        id: try number(field[0]), name: field[1], latitude: try number(field[2]),
        longitude: try number(field[3]), country: field[4], population: try number(field[5]),
        timeZone: field[6], region: text(field[7]))
    }
    let countries = try CSVFile("countries").rows.map { field in
      RealCountry(
        code: field[0], name: field[2], capital: text(field[3]), continent: field[4],
        area: try number(field[5]), population: try number(field[6]), languages: text(field[8]),
        neighbours: text(field[9]))
    }
    let divisions = try CSVFile("china-divisions").rows.map { field in
      let code: Int = try number(field[0])
      let parent = code % 100 > 0 ? code / 100 * 100 : code / 10_000 * 10_000
      return RealDivision(
        code: code, name: field[1], parent: parent == code ? nil : parent,
        longitude: try text(field[2]).map(number), latitude: try text(field[3]).map(number))
    }
    try queue.inTransaction { db in
      try RealCity.table.create(db)
      try RealCountry.table.create(db)
      try RealDivision.table.create(db)
      try RealCity.insert(db, contentsOf: cities)
      try RealCountry.insert(db, contentsOf: countries)
      try RealDivision.insert(db, contentsOf: divisions)
    }
    return queue
  }

  private static func text(_ field: String) -> String? { field.isEmpty ? nil : field }

  private static func number<N: LosslessStringConvertible>(_ field: String) throws -> N {
    guard let number = N(field) else { throw CSVFile.Malformed(name: field) }
    return number
  }
}
