// one error: 'descending' has been renamed to 'desc'
import Larder

func query() throws {
  _ = City.select { ($0.name, $0.population * 2 + 1) }.order { _, number in number.descending }
}
