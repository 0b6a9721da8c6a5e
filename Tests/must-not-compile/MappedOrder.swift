// one error: has no member 'order'
import Larder

func query() throws {
  _ = City.select({ (name: String, country: String) in (country, name) }) { ($0.name, $0.country) }
    .order { name, _ in name }
}
