// error: only the database knows a column's value
import Larder

func query() throws {
  let db = try Database()
  try City.all.update(db) {
    $0.population = 5; let value: Int?? = $0.population; _ = value
  }
}
