// one error: rows are fetched
import Larder

func query(_ db: Database) throws {
  _ = City.all.first(db)
}
