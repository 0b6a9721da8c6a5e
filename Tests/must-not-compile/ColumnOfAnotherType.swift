// one error: the expression and the column have different types
import Larder

func query() throws {
  let db = try Database()
  try City.all.update(db) { $0.name = $0.population }
}
