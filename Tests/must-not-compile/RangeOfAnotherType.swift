// one error: operands need the same type
import Larder

func query() { _ = City.filter { $0.population.in("a"..."b") } }
