// one error: 'limit(_:offset:)'
import Larder

func query(_ db: Database) throws {
  let inCountry = BelongsTo(City.columns.country, Country.columns.code)
  _ = try City.all.fetchAll(db, with: inCountry.filter { $0.weight > 3 }.limit(3))
}
