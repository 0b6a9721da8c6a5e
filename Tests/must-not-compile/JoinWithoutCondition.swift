// one error: a join has its condition behind it
import Larder

func query(_ db: Database) throws {
  _ = try City.join(Country.self).filter { $1.code == "NO" }.fetchAll(db)
}
