// one error: missing argument for parameter #2 in call
import Larder

func query() throws {
  let db = try Database()
  _ = try City.find(db)
}
