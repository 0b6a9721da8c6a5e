// compiles
import LarderSQLite

func use(_ db: Database, name: String, id: Int?) throws {
  try db.executeUpdate("INSERT INTO city VALUES (?, ?, ?)", 1, name, nil)
  try db.executeUpdate("UPDATE city SET name = \(name) WHERE id IN \([1, 2, 3]) OR id = \(id)")
  try db.executeUpdate("INSERT INTO city VALUES (:id)", arguments: ["id": id])
  try db.executeUpdate(SQL(raw: "DELETE FROM " + name))
  let rows = try db.executeQuery("SELECT \(identifier: name) FROM city")
  while try rows.next() { _ = try rows.get("name", as: String?.self) }
  let handle = db.interruptHandle
  let later: @Sendable () -> Void = { handle.interrupt() }
  later()
}

func run(_ work: (Database) throws -> Int, _ db: Database, _ queue: DatabaseQueue) throws -> Int {
  let immediate = try db.inTransaction(.immediate, work) + queue.inTransaction(.immediate, work)
  return try immediate + db.inTransaction(work) + queue.inTransaction(work)
}
