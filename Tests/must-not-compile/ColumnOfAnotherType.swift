// one error: the expression has another type than the column
import Larder

func query() throws {
  let db = try Database()
  try City.all.update(db) { $0.name = $0.population }
}
