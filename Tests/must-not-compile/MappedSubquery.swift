// one error: operands need the same type
import Larder

func query() throws {
  let mapped = City.select({ -$0 }) { $0.population }
  _ = City.filter { $0.population.in(mapped) }
}
