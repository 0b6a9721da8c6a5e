import LarderSQLite

/// The dialect in which a connection of another engine is written to: an object, since to ask each time what the
/// connection conforms to takes longer than to find a statement.
package final class EngineDialect {
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
  var dialect: (any Dialect)? {
    guard let engine else { return nil }
    return (engine.writing as? EngineDialect)?.dialect
  }
}
