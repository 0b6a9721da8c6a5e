// one error: say which rows
import Larder

func query(_ db: Database) throws {
  _ = City.update(db) { $0.name = "x" }
}
