// one error: the column can't be NULL, but the assigned value can
import Larder

func query() throws {
  let db = try Database()
  try Country.all.update(db) { $0.name = $0.capital }
}
