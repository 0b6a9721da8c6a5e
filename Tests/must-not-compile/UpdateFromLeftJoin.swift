// error: a left join may have no row to take values from: use join
import Larder

func update(_ db: Database) throws {
  try City.leftJoin(Country.self) { $0.country == $1.code }.update(db) {
    $0.name = $1.name.coalesce("")
  }
}
