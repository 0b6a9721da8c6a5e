// error: cannot convert value of type 'String' to expected argument type 'SQL'
import LarderSQLite

func search(_ db: Database, name: String) throws {
  let text = "SELECT * FROM city WHERE name = '" + name + "'"
  try db.executeUpdate(text)
}
