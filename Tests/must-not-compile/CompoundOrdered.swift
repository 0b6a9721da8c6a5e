// one error: ordered by the numbers of its
import Larder

func query() {
  _ = City.select { ($0.name, $0.id) }.union(City.select { ($0.name, $0.id) }).order { $1.desc }
}
