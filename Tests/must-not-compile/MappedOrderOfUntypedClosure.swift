// error: has no member 'order'
import Larder

func query() throws {
  _ = City.select({ ($1, $0) }) { ($0.name, $0.country) }.order { name, _ in name }
}
