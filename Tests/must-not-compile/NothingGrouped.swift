// one error: group takes an expression
import Larder

func query() throws {
  _ = City.all.group { _ in 5 }
}
