// one error: the values are a list
import Larder

func query(_ db: Database) throws {
  _ = try City.filter { $0.country.in("NO", "SE") }.fetchAll(db)
}
