// compiles
import Larder

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

func lifted(_ db: Database) throws {
  try City.all.update(db) {
    $0.elevation = $0.elevation.coalesce(0) + 1
    $0.elevation = $0.population.real.greatest(5) * 2
  }
  try Country.all.update(db) { country in
    let name = country.name
    country.capital = name
    country.name = country.capital.coalesce(name) + "x"
  }
  _ = City.select { ($0.name, $0.population) }.filter { $1.real.greatest(5) * 2 > 5 }
}

func ranges(_ half: Range<Double>, _ set: Set<Int>) {
  _ = City.filter { $0.population.in(18...Int.max) && !$0.population.in(18..<65) }
  _ = City.filter { $0.elevation.in(1...5) || $0.elevation.in(half) || $0.name.in("a"..."b") }
  _ = City.filter { $0.population.in(5...) || $0.population.in(set) || $0.population.in([5, 6]) }
  _ = City.filter { $0.id.in(1...5) || (1...5).contains($0.id) && !half.contains($0.elevation) }
  _ = (1...5).contains(3)
}
