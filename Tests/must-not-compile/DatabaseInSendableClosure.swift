// error: capture of 'db' with non-Sendable type 'Database' in a '@Sendable' closure
import LarderSQLite

func later(_ work: @escaping @Sendable () throws -> Void) {}

func use(_ db: Database) {
  later { try db.executeUpdate("DELETE FROM city") }
}
