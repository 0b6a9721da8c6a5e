// error: cannot convert value of type 'String' to expected argument type 'SQL'
import LarderSQLite

func search(_ db: Database, text: String) throws {
  _ = try db.executeQuery(text)
}
