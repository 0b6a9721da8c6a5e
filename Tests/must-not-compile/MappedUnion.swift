// one error: combine selections without a function, and give the rows to it: a.union(b).select(function)
import Larder

func query() throws {
  _ = City.select({ -$0 }) { $0.population }.union(City.select { $0.population })
}
