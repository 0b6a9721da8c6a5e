// one error: JSON is compared with numbers, texts, Bools and dates
import Larder
struct Opaque: Sendable {}
func f(_ x: Opaque) { _ = City.filter { $0.name["a"] == x } }
