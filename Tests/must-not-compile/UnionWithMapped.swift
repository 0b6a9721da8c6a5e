// one error: combine the selections first, then apply the function: a.union(b).select(function)
import Larder

func query() throws {
  _ = City.select { $0.population }.union(all: City.select({ -$0 }) { $0.population })
}
