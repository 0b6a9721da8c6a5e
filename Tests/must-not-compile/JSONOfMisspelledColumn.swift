// one error: the record's Columns has no property of this name
import Larder
func f() { _ = City.filter { $0.nme["a"]["b"] == 5 && $0.population > 3 } }
