// one error: a condition has to be true or false
import Larder

func query() {
  _ = City.filter { $0.population.max() }
}
