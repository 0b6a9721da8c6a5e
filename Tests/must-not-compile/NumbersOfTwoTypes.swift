// one error: the numbers have different types: convert both to Double or Int, an expression with .real or
import Larder

func query() throws {
  let n: Int64 = 5
  _ = City.filter { $0.name == "x" && $0.population > n }
}
