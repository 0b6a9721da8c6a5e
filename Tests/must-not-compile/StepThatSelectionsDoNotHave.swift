// one error: a selection has no such step, or it takes other arguments
import Larder

func query() async throws {
  _ = City.select { ($0.name, $0.population * 2 + 1 - 3 + 4 + 5) }.skip(5).limit(10)
}
