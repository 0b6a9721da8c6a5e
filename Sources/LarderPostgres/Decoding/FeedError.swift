import LarderSQLite

extension DatabaseError {
  /// An error that keeps a feed from beginning, or ends it.
  static func ofFeed(_ sqlState: String, _ message: String) -> DatabaseError {
    DatabaseError(
      SQLState.resultCode(of: sqlState), message, engine: PostgresDefinitions.engine,
      sqlState: sqlState)
  }
}
