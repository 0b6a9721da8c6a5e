// one error: ClosureHasToReturnExpressions
import Larder

func query() throws {
  _ = City.select { ($0.name, 5) }
}
