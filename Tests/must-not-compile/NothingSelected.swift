// error: ClosureHasToReturnExpressions
import Larder

func query() throws {
  _ = City.select { $0.name }.union(City.select { $0.elevation.real })
}
