// one error: a join has its condition behind it
import Larder

func query(_ db: Database) throws {
  _ = try City.all.leftJoin(Country.self).fetchAll(db)
}
