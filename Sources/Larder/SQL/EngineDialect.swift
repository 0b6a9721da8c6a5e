import LarderSQLite

/// The dialect of a connection to another engine.
package final class EngineDialect: SQLDialect {
  let dialect: any Dialect

  package init(_ dialect: any Dialect) { self.dialect = dialect }
}

extension Database {
  /// Throws ``UnsupportedByEngine`` where the engine behind the database isn't SQLite.
  func checkIsSQLite(_ feature: String) throws {
    if let engine { throw UnsupportedByEngine(engine: engine.name, feature: feature) }
  }
}

extension Database {
  /// The dialect of the engine behind the database; nil for SQLite's.
  package var dialect: (any Dialect)? {
    guard let engine else { return nil }
    return (engine.dialect as? EngineDialect)?.dialect
  }

  /// How the engine behind the database defines tables; nil for SQLite.
  var definitions: (any DefinitionDialect)? { dialect?.definitions }
}
