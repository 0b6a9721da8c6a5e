// one error: requires the types 'City' and 'Country' be equivalent
import Larder

func query(_ db: Database) throws {
  let cities = HasMany(Country.columns.code, City.columns.country)
  _ = try Country.all.fetchAll(db, with: cities.limit(3).with(cities))
}
