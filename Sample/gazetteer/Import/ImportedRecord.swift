import Larder

/// A record that a file has lines of.
protocol ImportedRecord: Record, Equatable {
  associatedtype Key: Hashable & DatabaseValueConvertible

  /// The columns of its file.
  static var header: [String] { get }
  /// What several of them are called.
  static var plural: String { get }

  /// Reads a line. Throws ``BadLine``.
  init(_ fields: CSVFields, _ known: KnownCountries) throws

  /// The primary key.
  var key: Key { get }
}

/// The countries that are there, which cities refer to.
struct KnownCountries {
  let codes: Set<String>

  init(_ db: Database) throws {
    codes = Set(try Country.select { $0.code }.fetchAll(db))
  }
}

extension Country: ImportedRecord {
  static let header = [
    "iso", "iso3", "name", "capital", "continent_code", "area_km2", "population", "currency_code",
    "languages", "neighbours",
  ]
  static let plural = "countries"

  init(_ fields: CSVFields, _ known: KnownCountries) throws {
    self.init(
      code: try fields.text(0), iso3: try fields.text(1), name: try fields.text(2),
      capital: try fields.optionalText(3), continent: try fields.text(4),
      area: try fields.real(5, in: 0...1e9),
      population: try fields.integer(6, in: City.populations),
      currency: try fields.optionalText(7), languages: try fields.list(8),
      neighbours: try fields.list(9))
  }

  var key: String { code }
}

extension City: ImportedRecord {
  static let header = [
    "geoname_id", "name", "latitude", "longitude", "country_code", "population", "timezone",
    "admin1_code",
  ]
  static let plural = "cities"

  init(_ fields: CSVFields, _ known: KnownCountries) throws {
    self.init(
      id: try fields.integer(0, in: 1...Int64.max), name: try fields.text(1),
      latitude: try fields.real(2, in: -90...90), longitude: try fields.real(3, in: -180...180),
      country: try fields.text(4), population: try fields.integer(5, in: City.populations),
      timezone: try fields.optionalText(6), region: try fields.optionalText(7))
    guard known.codes.contains(country) else {
      throw fields.bad("there is no country “\(country)”")
    }
  }

  var key: Int64 { id ?? 0 }
}

extension Division: ImportedRecord {
  static let header = ["code", "name", "longitude", "latitude"]
  static let plural = "divisions"

  init(_ fields: CSVFields, _ known: KnownCountries) throws {
    self.init(
      code: try fields.integer(0, in: Self.codes), name: try fields.text(1),
      longitude: try fields.optionalReal(2, in: -180...180),
      latitude: try fields.optionalReal(3, in: -90...90))
  }

  var key: Int { code }
}
