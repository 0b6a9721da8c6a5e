// error: ClosureHasToReturnExpressions
import Larder

func query() throws {
  _ = City.all.group { _ in 5 }
}
