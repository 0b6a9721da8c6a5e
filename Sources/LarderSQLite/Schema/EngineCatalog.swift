/// What an engine knows of its schema, in place of SQLite's PRAGMAs. Names are exact, and only the first
/// schema of the search path counts. Texts are in the engine's own spelling, which is always the same for the
/// same expression.
package protocol EngineCatalog {
  func tableExists(_ name: String) throws -> Bool
  func columnExists(_ column: String, in table: String) throws -> Bool
  /// The tables, views, indexes and triggers, or those of one table.
  func entries(ofTable name: String?) throws -> [SchemaEntry]
  /// The table of this name; if `isTemporary`, the one to which the name resolves, which is a temporary one if
  /// there is any. Nil if there is none.
  func table(_ name: String, isTemporary: Bool) throws -> TableSchema?
  /// The columns of the table or view to which a name resolves. Throws if there is none of this name, as the
  /// two below do.
  func columns(of table: String) throws -> [ColumnSchema]
  func indexes(of table: String) throws -> [IndexSchema]
  func foreignKeys(of table: String) throws -> [ForeignKeySchema]
}

/// A connection of an engine with a catalog.
package protocol CatalogedEngine: EngineConnection {
  /// The catalog, read by statements of the database that the connection is behind.
  ///
  /// - Parameter schema: the only schema to look at; nil for the first one of the search path.
  func catalog(of database: Database, schema: String?) -> any EngineCatalog
}

extension Database {
  /// The other engine's catalog; nil for SQLite.
  var catalog: (any EngineCatalog)? { catalog(of: nil) }

  /// The other engine's catalog for one schema; nil for SQLite.
  func catalog(of schema: String?) -> (any EngineCatalog)? {
    guard let engine else { return nil }
    return (engine as? any CatalogedEngine)?.catalog(of: self, schema: schema)
  }
}
