// error: requires the types 'String' and
import Larder

func query() throws {
  _ = City.select { $0.name }.union(City.select { $0.elevation.real })
}
