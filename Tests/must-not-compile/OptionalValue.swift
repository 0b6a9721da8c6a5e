// one error: the value is an Optional, but the expression that it is compared with can't be NULL: unwrap the value
import Larder

func query() throws {
  let n: Int? = 5
  _ = City.filter { $0.name == "x" && $0.population == n }
}
