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

  /// A country's cities in numbers.
  static var byCountry: Selection<(String, String, String, Int, Int?, String?)> {
    Country.leftJoin(City.self) { $0.code == $1.country }
      .group { $0.0.code }
      .order { [$0.0.continent.asc, $0.1.population.sum().desc, $0.0.code.asc] }
      .select { country, city in
        let largest = City.filter { $0.country == country.code }
          .order { $0.population.desc }.select { $0.name }
        return (
          country.continent, country.code, country.name, city.id.count(), city.population.sum(),
          first(of: largest)
        )
      }
  }

  /// The same for continents.
  static var byContinent: Selection<(String, Int, Int?, String?)> {
    Country.leftJoin(City.self) { $0.code == $1.country }
      .group { $0.0.continent }
      .order { [$0.1.population.sum().desc, $0.0.continent.asc] }
      .select { country, city in
        let largest = City.join(Country.self) { $0.country == $1.code }
          .filter { $0.1.continent == country.continent }
          .order { $0.0.population.desc }.select { city, _ in city.name }
        return (country.continent, city.id.count(), city.population.sum(), first(of: largest))
      }
  }

  static func fetchAll(_ db: Database) throws -> [Statistics] {
    let continents = try byContinent.fetchAll(db).map { row in
      Statistics(
        continent: row.0, country: nil, name: Country.continentName(row.0), cities: row.1,
        people: row.2 ?? 0, largest: row.3)
    }
    let countries = try byCountry.fetchAll(db).map { row in
      Statistics(
        continent: row.0, country: row.1, name: row.2, cities: row.3, people: row.4 ?? 0,
        largest: row.5)
    }
    return continents + countries
  }
}
