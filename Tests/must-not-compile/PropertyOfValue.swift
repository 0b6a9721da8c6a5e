// one error: they have the properties of expressions
import Larder

func query() {
  _ = City.select { ($0.name, $0.population * 2 + 1) }.filter { _, number in number.nmber > 3 }
}
