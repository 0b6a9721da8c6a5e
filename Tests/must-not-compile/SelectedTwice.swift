// one error: write all expressions in one select
import Larder

func query() {
  _ = City.select { ($0.name, $0.id) }.select { name, _ in name }
}
