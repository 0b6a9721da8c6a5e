// one error: operands have to be of one type
import Larder

func query() throws {
  let mapped = City.select({ -$0 }) { $0.population }
  _ = City.filter { $0.population.in(mapped) }
}
