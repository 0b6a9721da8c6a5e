// error: the rows have another type than is asked for
import Larder

func query() throws {
  _ = City.select { $0.name }.union(City.select { $0.elevation.real })
}
