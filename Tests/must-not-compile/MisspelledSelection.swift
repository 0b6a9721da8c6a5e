// error: the record's Columns has no property of this name
import Larder

func query() throws {
  _ = City.select { ($0.name, $0.nme) }
}
