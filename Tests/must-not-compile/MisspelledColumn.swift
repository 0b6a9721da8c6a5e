// one error: the record's Columns has no property of this name
import Larder

func query() throws {
  _ = City.filter { $0.population > 5 && $0.nme == "x" }
}
