import LarderSQLite
import Testing

@Suite("EXPLAIN")
struct ExplainTests {
  @Test("EXPLAIN QUERY PLAN of a DELETE works in a read scope, where the DELETE itself throws")
  func inReadScope() throws {
    let queue = try DatabaseQueue()
    try queue.inDatabase { db in
      try db.executeUpdate("CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
    }
    let plan = try queue.read { db in
      try db.executeQuery("EXPLAIN QUERY PLAN DELETE FROM city WHERE id = 5")
        .map { try $0.get("detail", as: String.self) }
    }
    #expect(plan == ["SEARCH city USING INTEGER PRIMARY KEY (rowid=?)"])
    #expect(throws: DatabaseError.self) {
      try queue.read { db in try db.executeUpdate("DELETE FROM city WHERE id = 5") }
    }
  }
}
