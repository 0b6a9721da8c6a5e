import Larder

/// What is known of the cities of a continent or country.
struct Statistics: Encodable {
  let continent: String
  /// The country's code; nil for a whole continent.
  let country: String?
  let name: String
  let cities: Int
  /// How many people live in these cities.
  let people: Int
  let largest: String?

  /// A country's cities in numbers; with max() among them, SQLite takes the other columns from the
  /// largest city's row: see [bare columns](https://www.sqlite.org/lang_select.html#bareagg).
  static var byCountry: Selection<(String, String, String, Int, Int?, Int?, String?)> {
    Country.leftJoin(City.self) { $0.code == $1.country }
      .group { $0.0.code }
      .order { [$0.0.continent.asc, $0.1.population.sum().desc] }
      .select { country, city in
        (
          country.continent, country.code, country.name, city.id.count(), city.population.sum(),
          city.population.max(), city.name
        )
      }
  }

  /// The same for continents.
  static var byContinent: Selection<(String, Int, Int?, Int?, String?)> {
    Country.leftJoin(City.self) { $0.code == $1.country }
      .group { $0.0.continent }
      .order { $0.1.population.sum().desc }
      .select { country, city in
        (
          country.continent, city.id.count(), city.population.sum(), city.population.max(),
          city.name
        )
      }
  }

  static func fetchAll(_ db: Database) throws -> [Statistics] {
    let continents = try byContinent.fetchAll(db).map { row in
      Statistics(
        continent: row.0, country: nil, name: Country.continentName(row.0), cities: row.1,
        people: row.2 ?? 0, largest: row.4)
    }
    let countries = try byCountry.fetchAll(db).map { row in
      Statistics(
        continent: row.0, country: row.1, name: row.2, cities: row.3, people: row.4 ?? 0,
        largest: row.6)
    }
    return continents + countries
  }
}
