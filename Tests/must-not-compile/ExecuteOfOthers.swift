// one error: executeUpdate runs one statement, executeStatements several, executeQuery reads rows
import Larder

func execute(_ db: Database) throws {
  try db.execute(sql: "DELETE FROM city WHERE name = ?", arguments: ["Oslo"])
}
