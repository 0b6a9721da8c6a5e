// one error: the numbers have different types
import Larder

func query() throws {
  _ = City.select { ($0.name, $0.elevation * $0.population) }
}
