import Larder
import LarderSQLite

extension PostgresDefinitions {
  func withoutTriggers(
    of table: TableSchema, in db: Database, _ body: () throws -> Void
  ) throws {
    func alter(_ action: String) throws {
      try db.executeUpdate(SQL(raw: DDL.alterTable(table, [action])).uncached)
    }
    let modes = try db.executeQuery(SQL(raw: Self.enabledTriggers), table.quotedName).map { row in
      (name: try row.get(at: 0, as: String.self), words: try row.get(at: 1, as: String.self))
    }
    for trigger in modes { try alter("DISABLE TRIGGER \(trigger.name.quotedIdentifier)") }
    try body()
    // Deferred checks run now: the table can't be altered while any are pending.
    try db.executeUpdate("SET CONSTRAINTS ALL IMMEDIATE")
    for trigger in modes { try alter("\(trigger.words) TRIGGER \(trigger.name.quotedIdentifier)") }
  }

  /// The query for a table's enabled triggers, by the table's quoted name: their names, and the words that enable
  /// them.
  private static let enabledTriggers = """
    SELECT tgname::text, CASE tgenabled WHEN 'A' THEN 'ENABLE ALWAYS' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE' END
    FROM pg_trigger WHERE tgrelid = to_regclass($1::text) AND NOT tgisinternal AND tgenabled <> 'D'
    """
}
