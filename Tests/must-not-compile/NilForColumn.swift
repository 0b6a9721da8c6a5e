// one error: ambiguous use of 'subscript(dynamicMember:)'
import Larder

func query() throws {
  let db = try Database()
  try City.all.update(db) { $0.population = nil }
}
