// one error: cannot assign value of type 'String' to type 'any ExpressionOfTheColumnsType'
import Larder

func query() throws {
  let db = try Database()
  try City.all.update(db) { $0.population = "5" }
}
