// one error: order takes an expression or a term
import Larder

func query() {
  _ = City.order { print($0) }
}
