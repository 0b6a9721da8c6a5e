// one error: say which rows
import Larder

func query(_ db: Database) throws {
  _ = City.delete(db)
}
