// error: has no member 'order'
import Larder

func ordered(_ db: Database) throws {
  _ = try City.select(City.self) { $0.population * 2 }.order { $1.desc }.fetchAll(db)
}
