// one error: filter and group the queries before they are combined
import Larder

func query() {
  _ = City.all.union(City.all).filter { $0.population > 3 }
}
