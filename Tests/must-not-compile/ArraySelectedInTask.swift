// one error: select takes an expression, or several in parentheses
import Larder

func query() async throws {
  _ = City.select { [$0.name] }
}
