// one error: select takes an expression: { $0.name }
import Larder

func query() {
  _ = City.select { _ in print("no expression") }
}
