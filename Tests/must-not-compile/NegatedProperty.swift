// one error: expressions of this type have no such property or function
import Larder

func negatedProperty(_ db: Database) throws {
  _ = try City.filter { !$0.name.isEmpty && $0.population > 5 }.fetchAll(db)
}
