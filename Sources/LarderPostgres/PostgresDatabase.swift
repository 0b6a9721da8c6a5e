import Larder
import LarderSQLite

extension Database {
  /// One connection to a server, for one user at a time. Throws as ``PostgresPool`` does.
  ///
  /// - Parameter change: makes another dialect of the server's.
  package static func postgres(
    _ address: String, configuration: PostgresConfiguration = .init(),
    written change: (any Dialect) -> any Dialect = { $0 }
  ) throws -> Database {
    Database(
      engine: try PostgresEngine(address, configuration, change(PostgresDialect())), path: "",
      configuration: configuration.common)
  }
}
