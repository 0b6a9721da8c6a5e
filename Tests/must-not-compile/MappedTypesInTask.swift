// one error: the function takes other types than the closure selects
import Larder

struct Line {
  var name: String
  var capital: String
}
func lines(_ access: any DatabaseAccess) async throws -> [Line] {
  try await access.read { db in
    try Country.filter { $0.weight > 5 }.select(Line.init) { ($0.name, $0.capital) }.limit(5)
      .fetchAll(db)
  }
}
