// one error: group takes an expression
import Larder

func query() {
  _ = City.all.group { print($0) }
}
