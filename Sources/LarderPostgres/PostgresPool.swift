import Larder
import LarderSQLite

/// Connections to a PostgreSQL server, for many threads and tasks.
///
/// ```swift
/// let pool = try PostgresPool("postgres://app@db.example.org/app")
/// let cities = try await pool.read { db in try City.order { $0.name }.fetchAll(db) }
/// ```
///
/// The calls are those of `DatabaseAccess`, and so are records, queries and migrations. Each scope has a
/// connection of its own for the time, in order with others (FIFO): up to
/// ``PostgresConfiguration/connections`` write and read at a time. Transactions are serializable unless
/// told otherwise; those that the server refuses for that, or whose connection is lost before their commit was
/// sent, run again within ``PostgresConfiguration/retryLimit``, their closures too.
///
/// A statement that fails aborts its transaction: what may fail belongs into `inSavepoint`.
public final class PostgresPool: DatabaseAccess {
  /// The connections.
  @_documentation(visibility: internal)
  public let connections: Connections

  /// Connects once, to see that the server is there.
  ///
  /// - Parameters:
  ///   - address: a [connection string](https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING):
  ///     a URL or `keyword=value` pairs. What it leaves out comes from the environment, `~/.pgpass` and
  ///     service files, as for all programs that use libpq.
  ///   - configuration: how to connect, and what to allow.
  ///
  /// Throws `DatabaseError`: `ResultCode.cannotOpen` where nobody answers, or the database isn't there,
  /// `ResultCode.authorization` for a wrong user or password. No error holds the password.
  public init(_ address: String, configuration: PostgresConfiguration = .init()) throws {
    connections = Connections(
      engine: "PostgreSQL", maximum: configuration.connections, timeout: configuration.scopeTimeout,
      retryLimit: configuration.retryLimit, isTransient: SQLState.isTransient
    ) { try .postgres(address, configuration: configuration) }
    try connections.connect()
  }

  /// Closes the connections that nobody uses.
  public func releaseIdleConnections() { connections.releaseIdle() }
}

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
