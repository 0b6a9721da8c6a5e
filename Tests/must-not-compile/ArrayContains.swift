// one error: write the expression first: $0.id.in(values)
import Larder

func query(_ ids: [String]) {
  _ = City.filter { ids.contains($0.name) }
}
