// one error: the column's type isn't Optional: it can't be NULL
import Larder

func query() throws {
  let db = try Database()
  try City.all.update(db) { $0.population = nil }
}
