// one error: they have the properties of expressions
import Larder

func query() {
  _ = City.select { $0.population * 2 + 1 - 3 + 4 + 5 }.order { $0.dsc }.limit(10)
}
