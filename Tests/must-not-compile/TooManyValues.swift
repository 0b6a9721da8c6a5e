// one error: a closure after a selection takes one parameter for each of its values
import Larder

func query() {
  _ = City.select { ($0.name, $0.population * 2 + 1) }.order { $2.desc }
}
