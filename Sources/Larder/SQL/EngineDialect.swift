import LarderSQLite

/// A connection of another engine, which is written to in a dialect of its own.
package protocol DialectEngine: EngineConnection {
  var dialect: any Dialect { get }
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
    return (engine as? any DialectEngine)?.dialect
  }
}
