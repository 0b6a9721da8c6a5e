// one error: the function takes other types than the closure selects
import Larder

struct Line {
  var name: String
  var weight: Int
  var capital: String?
}
func lines(_ db: Database) throws -> [Line] {
  try Country.select(Line.init) { ($0.weight * 2 + 1, $0.name, $0.capital) }.fetchAll(db)
}
