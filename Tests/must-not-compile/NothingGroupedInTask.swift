// one error: group takes an expression
import Larder

func query() async throws {
  _ = await City.all.group { [$0.name] }
}
