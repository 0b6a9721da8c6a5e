// error: conform to 'DatabaseValueConvertible'
import LarderSQLite

struct Place {}

func search(_ db: Database, place: Place) throws {
  try db.executeUpdate("DELETE FROM city WHERE name = \(place)")
}
