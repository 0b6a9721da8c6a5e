import Larder
import LarderSQLite

// The table of the migrations' history.

extension PostgresDefinitions {
  func historyTable(
    in db: Database
  ) throws -> (name: String, searchPath: String, isThere: Bool) {
    let row = try db.executeQuery(
      """
      SELECT current_schema()::text, current_setting('search_path'), EXISTS (
        SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = current_schema() AND c.relname = 'larder_migration'
          AND c.relkind IN ('r', 'p', 'v', 'f'))
      """
    ).map {
      (
        schema: try $0.get(at: 0, as: String?.self), path: try $0.get(at: 1, as: String.self),
        isThere: try $0.get(at: 2, as: Bool.self)
      )
    }.first
    guard let row, let schema = row.schema else {
      throw DatabaseError(.error, "no schema of the search path exists", engine: engine)
    }
    return ("\(schema.quotedIdentifier).larder_migration", row.path, row.isThere)
  }

  func history(
    in table: String, _ db: Database
  ) throws -> (
    applied: [(name: String, checksum: String?)], objects: String?, searchPath: String
  ) {
    // If the history is empty, there is a row without a migration.
    let rows = try db.executeQuery(
      """
      SELECT \(shape(of: table)), m.name, m.checksum, current_setting('search_path')
      FROM (SELECT 1) AS one LEFT JOIN \(SQL(raw: table)) AS m ON TRUE ORDER BY m.position
      """
    ).map {
      (
        objects: try $0.get(at: 0, as: String?.self), name: try $0.get(at: 1, as: String?.self),
        checksum: try $0.get(at: 2, as: String?.self), path: try $0.get(at: 3, as: String.self)
      )
    }
    let applied = rows.compactMap { row in
      row.name.map { (name: $0, checksum: row.checksum) }
    }
    return (applied, rows.first?.objects, rows.first?.path ?? "")
  }

  /// The expression for a table's definition as text.
  private func shape(of table: String) -> SQL {
    // It has no parameters, because their types would have to be asked for.
    let table = SQL(raw: "to_regclass(\(table.quotedText))")
    return """
      concat_ws(';',
        (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod) || attnotnull, ';' ORDER BY attnum)
          FROM pg_attribute WHERE attrelid = \(table) AND attnum > 0),
        (SELECT string_agg(pg_get_indexdef(indexrelid), ';' ORDER BY indexrelid)
          FROM pg_index WHERE indrelid = \(table)),
        (SELECT string_agg(pg_get_triggerdef(oid), ';' ORDER BY tgname)
          FROM pg_trigger WHERE tgrelid = \(table) AND NOT tgisinternal),
        (SELECT string_agg(pg_get_ruledef(oid), ';' ORDER BY rulename)
          FROM pg_rewrite WHERE ev_class = \(table)),
        (SELECT relrowsecurity::text FROM pg_class WHERE oid = \(table)))
      """
  }
}
