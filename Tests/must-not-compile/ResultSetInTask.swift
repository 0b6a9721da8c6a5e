// error: sending
import LarderSQLite

func use(_ db: Database) throws {
  let rows = try db.executeQuery("SELECT 1")
  Task { _ = try rows.next() }
  _ = try rows.next()
}
