// error: cannot assign value of type
import Larder

func query() throws {
  let db = try Database()
  let n = 5.5
  try City.all.update(db) { $0.population = n }
}
