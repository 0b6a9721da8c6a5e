import Larder
import LarderSQLite

// A schema that is empty for a closure, so that migrations can be tried.

extension PostgresDefinitions {
  /// The name of the current schema while another one has its name.
  private static let displaced = "larder_displaced"

  func inEmptySchema<T>(
    _ db: Database, besides others: [String], _ body: (Database) throws -> T
  ) throws -> T {
    try db.inSavepoint { db in
      let (name, path) = try schemaAndPath(db)
      do {
        // Others don't see the new name, since this is never committed. No table is locked.
        try db.inSavepoint { db in
          try db.executeStatements(
            "ALTER SCHEMA \(identifier: name) RENAME TO \(identifier: Self.displaced); CREATE SCHEMA \(identifier: name)"
          )
        }
        try moveExtensions(to: name, db)
        try db.executeStatements(
          "SET LOCAL search_path = \(SQL(raw: path)), \(identifier: Self.displaced)")
      } catch let error as DatabaseError where error.sqlState == "42501" {
        // The role doesn't own the schema.
        try db.executeStatements(
          """
          CREATE SCHEMA \(identifier: Self.displaced);
          SET LOCAL search_path = \(identifier: Self.displaced), \(SQL(raw: path))
          """)
      }
      for (index, other) in others.enumerated() where other != name {
        let exists: Bool? = try db.value(
          "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = \(other)::text)")
        guard exists == true else { continue }
        try db.executeUpdate(
          "ALTER SCHEMA \(identifier: other) RENAME TO \(identifier: "\(Self.displaced)_\(index + 1)")"
        )
      }
      let result = try body(db)
      db.setRollbackOnly()
      return result
    }
  }

  private func schemaAndPath(_ db: Database) throws -> (name: String, path: String) {
    let rows = try db.executeQuery("SELECT current_schema()::text, current_setting('search_path')")
      .map { (try $0.get(at: 0, as: String?.self), try $0.get(at: 1, as: String.self)) }
    guard let row = rows.first, let name = row.0 else {
      throw DatabaseError(.error, "no schema of the search path exists", engine: engine)
    }
    return (name, row.1)
  }

  /// Moves the displaced schema's extensions, as far as they can be moved: SQL may name their types with the
  /// schema.
  private func moveExtensions(to name: String, _ db: Database) throws {
    let extensions = try db.executeQuery(
      """
      SELECT extname::text FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
      WHERE n.nspname = \(Self.displaced)::text AND e.extrelocatable ORDER BY e.oid
      """
    ).map { try $0.get(at: 0, as: String.self) }
    for extended in extensions {
      do {
        try db.inSavepoint { db in
          try db.executeStatements(
            "ALTER EXTENSION \(identifier: extended) SET SCHEMA \(identifier: name)")
        }
      } catch let error as DatabaseError where error.sqlState == "42501" {
        continue
      }
    }
  }
}
