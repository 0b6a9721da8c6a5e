// error: cannot assign value of type 'Int' to subscript of type 'JSONExpression'
import Larder
func f(_ db: Database, _ x: Int) throws { try City.all.update(db) { $0.name["a"] = x } }
