// error: capture of 'db' with non-Sendable type 'Database' in a '@Sendable' closure
import LarderSQLite

func use(_ db: Database) throws {
  try db.createFunction("f", argumentCount: 0) { _ in try db.value("SELECT 1", as: Int.self) }
}
