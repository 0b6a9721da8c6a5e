// one error: limit takes the number of rows, an Int
import Larder

func query() {
  _ = City.select { ($0.name, $0.population * 2 + 1) }.limit("5")
}
