import LarderSQLite

extension Database {
  /// One connection to a server, for one user at a time. Throws as ``PostgresPool`` does.
  package static func postgres(
    _ address: String, configuration: PostgresConfiguration = .init()
  ) throws -> Database {
    Database(
      engine: try PostgresEngine(address, configuration), path: "",
      configuration: configuration.common)
  }
}
