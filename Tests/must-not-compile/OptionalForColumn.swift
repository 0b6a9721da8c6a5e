// one error: the column can't be NULL, but the assigned value can
import Larder

func query(_ population: Int?) throws {
  let db = try Database()
  try City.all.update(db) { $0.population = population }
}
