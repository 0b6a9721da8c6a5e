// one error: the column can't be NULL, and what it shall become can
import Larder

func query(_ population: Int?) throws {
  let db = try Database()
  try City.all.update(db) { $0.population = population }
}
