import LarderMacros

/// A city of `world-cities.csv`, or one that was added.
@Record(
  indexes: [.index(\.country, \.population), .index(\.latitude, \.longitude)])
struct City: Encodable, Equatable {
  /// The number that GeoNames gave it.
  @Column(.primaryKey) var id: Int64?
  var name: String
  var latitude: Double
  var longitude: Double
  /// The country's code.
  @Column(.references(Country.self)) var country: String
  @Column(.indexed, .default(0)) var population: Int
  var timezone: String?
  /// The code of the region that it belongs to, within its country.
  var region: String?
}

extension City {
  /// How many people may live in a place: so few that the sums over all of them are in range.
  static let populations = 0...100_000_000_000

  /// The words in their names, whatever their case and accents: `zur` finds Zürich. A run of Chinese characters
  /// is one word, of which the beginning is found.
  static let text = FullTextIndex(of: City.self, \.name)

  static let inCountry = BelongsTo(columns.country, Country.columns.code)

  /// The largest ones, of all or of a country.
  static func largest(in country: String? = nil, limit: Int) -> Query<City> {
    let cities = country.map { code in filter { $0.country == code } } ?? all
    return cities.order { $0.population.desc }.limit(limit)
  }

  /// Those with words in their names that begin as those of a text do.
  static func withWords(of text: String, limit: Int) -> Query<FullTextMatch<City>> {
    matching(City.text, .allPrefixes(of: text))
      .order { [($0.name.collate("NOCASE") == text).desc, $0.population.desc] }
      .limit(limit)
  }

  /// The one that a text names in another language than the files.
  static func otherwiseNamed(_ text: String) -> Query<City>? {
    OtherNames.target(of: text).map { target in
      filter { $0.name == target.name && $0.country == target.country }
        .order { $0.population.desc }.limit(1)
    }
  }

  /// Those in whose names a text occurs anywhere.
  static func containing(_ text: String, limit: Int) -> Query<City> {
    filter { $0.name.like("%" + text.pattern + "%", escape: "\\") }
      .order { $0.population.desc }
      .limit(limit)
  }

  /// Those in an area, from the nearest to the farthest.
  static func near(_ centre: Coordinate, in area: BoundingBox, limit: Int) -> Query<City> {
    filter { $0.latitude.between(area.latitudes) && area.contains($0.longitude) }
      .order {
        function(
          Coordinate.distanceFunction, $0.latitude, $0.longitude, .value(centre.latitude),
          .value(centre.longitude), as: Double.self)
      }
      .limit(limit)
  }

  /// Has codes that a server chooses come after those that files have brought, as a file's do by themselves.
  static func continueCodes(_ db: Database) throws {
    // A server keeps an index in a column of the table.
    guard try db.columnExists(text.name, in: table.name) else { return }
    _ = try db.value(
      "SELECT setval(pg_get_serial_sequence('city', 'id'), max(id)) FROM city", as: Int64?.self)
  }

  var coordinate: Coordinate { Coordinate(latitude: latitude, longitude: longitude) }
}

extension BoundingBox {
  /// Whether a longitude is in the area.
  func contains(_ longitude: SQLExpression<Double>) -> SQLExpression<Bool> {
    switch longitudes {
    case .between(let range): longitude.between(range)
    case .outside(let range): longitude <= range.lowerBound || longitude >= range.upperBound
    }
  }
}
