import FoundationEssentials
import Larder
import LarderSQLite

/// Connections to a PostgreSQL server, for many threads and tasks.
///
/// ```swift
/// let pool = try PostgresPool("postgres://app@db.example.org/app")
/// let cities = try await pool.read { db in try City.order { $0.name }.fetchAll(db) }
/// ```
///
/// The calls are those of `DatabaseAccess`; records, queries and migrations are the same as for SQLite. Each
/// scope gets a connection of its own, in FIFO order: up to ``PostgresConfiguration/connections`` scopes
/// write and read at a time. Transactions are serializable by default. A transaction is retried within
/// ``PostgresConfiguration/retryLimit``, and its closure runs again, if the server refuses it for a conflict,
/// or its connection is lost before the commit was sent.
///
/// A statement that fails aborts its transaction: put a statement that may fail into `inSavepoint`.
///
/// The address may name several servers, `host=a,b,c`: transactions run on the writable one and, if it fails,
/// on the one that takes its place (failover), once that is promoted. Reads may run on the others
/// (``PostgresConfiguration/reads-swift.property``).
public final class PostgresPool: DatabaseAccess {
  /// The connections.
  @_documentation(visibility: internal)
  public let connections: Connections

  private let configuration: PostgresConfiguration
  private let replicas: Replicas?
  private let figures: ServerFigures
  let listener: ServerListener

  /// Connects once, to see that the server is there.
  ///
  /// - Parameters:
  ///   - address: a
  ///     [connection string](https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING): a
  ///     URL or `keyword=value` pairs. Parts that it leaves out come from the environment, `~/.pgpass` and
  ///     service files, as for all programs that use libpq. Of several servers, the first writable one is
  ///     taken, unless `target_session_attrs` says otherwise.
  ///   - configuration: how to connect, and what to allow.
  ///
  /// Throws `DatabaseError`: `ResultCode.cannotOpen` if no server answers or the database doesn't exist,
  /// `ResultCode.authorization` for a wrong user or password. No error contains the password.
  public init(_ address: String, configuration: PostgresConfiguration = .init()) throws {
    let servers = try DatabaseError.converting { try ServerList(address) }
    self.configuration = configuration
    replicas = Self.replicas(servers, configuration)
    figures = servers.figures
    listener = ServerListener(servers, configuration)
    connections = Connections(
      servers, configuration, retryLimit: configuration.retryLimit, replicas: replicas,
      listener: listener)
    try connections.connect()
  }

  /// Whether a text is meant as a server's address, and not as a file's path.
  package static func isAddress(_ text: String) -> Bool { ServerAddress.isMeant(by: text) }

  /// The servers, database and user in an address of pairs, without secrets; nil for an address that can't be
  /// read.
  package static func places(ofPairs address: String) -> String? {
    try? ServerAddress(address).places
  }

  /// Closes the connections that aren't in use.
  public func releaseIdleConnections() { connections.releaseIdle() }

  /// The statistics of the servers: which one transactions run on, whether it can be reached, and the round
  /// trips to it. Those of connections and calls are in `statistics`.
  public var serverStatistics: ServerStatistics {
    figures.statistics(
      maximumConnections: max(1, configuration.connections), replicas: replicaStatistics)
  }

  // MARK: Failover

  /// Whether a transaction was committed, by the ``LarderSQLite/DatabaseError/commitToken`` of the error that
  /// its call threw. A transaction that wasn't committed by now never will be.
  ///
  /// The answer is valid for as long as tokens are kept: ten minutes, or four times
  /// ``PostgresConfiguration/retryLimit``.
  ///
  /// Throws ``LarderSQLite/DatabaseError`` if no server could be asked within
  /// ``PostgresConfiguration/retryLimit``, and `ResultCode.misuse` without
  /// ``PostgresConfiguration/commitTokens``.
  public func outcome(of token: UUID) throws -> Bool {
    var retry = Retry(limit: configuration.retryLimit, isTransient: SQLState.isTransient)
    while true {
      do {
        return try inDatabase { try $0.postgres.isCommitted(token) }
      } catch {
        BusyHandler.sleep(try retry.pause(after: error))
      }
    }
  }

  /// Async variant. Suspends the task while it waits.
  ///
  /// - Throws: `CancellationError` too, if the task is cancelled.
  public func outcome(of token: UUID) async throws -> Bool {
    var retry = Retry(limit: configuration.retryLimit, isTransient: SQLState.isTransient)
    while true {
      do {
        return try await inDatabase { try $0.postgres.isCommitted(token) }
      } catch {
        try await Task.sleep(for: retry.pause(after: error))
      }
    }
  }

  // MARK: Replicas

  private static func replicas(
    _ list: ServerList, _ configuration: PostgresConfiguration
  ) -> Replicas? {
    guard case .replicas(let wait) = configuration.reads else { return nil }
    var own = configuration
    // A standby allows no stricter isolation. A statement outside of a transaction uses the session's.
    own.isolation = .repeatableRead
    own.commitTokens = false
    // A read waits for this connection before it goes to the primary.
    own.connectTimeout = min(configuration.connectTimeout, .seconds(1) + wait.bounded)
    let replicas = list.servers.map { server in
      (
        name: server.name,
        connections: Connections(
          ServerList(standby: server), own, retryLimit: nil, replicas: nil,
          listener: nil)
      )
    }
    return Replicas(replicas, waitAtMost: wait, configuration.common, list.figures)
  }

  /// The statistics of reads on each of the address's servers, in its order, if
  /// ``PostgresConfiguration/reads-swift.property`` go to replicas. Those of the primary are in `statistics`.
  public var replicaStatistics: [ReplicaStatistics] { replicas?.statistics ?? [] }

  /// Runs a closure in a transaction, as `inTransaction` does, and also returns the position in the server's
  /// log after its commit. A read with this position (`read(notBefore:)`), even in another process, sees the
  /// commit.
  ///
  /// - Throws: what `inTransaction` throws; `DatabaseError` after the commit if the server can't be asked for
  ///   the position.
  public func inTransactionWithPosition<T>(
    label: StaticString = #function, line: UInt = #line, _ body: (Database) throws -> T
  ) throws -> (T, CommitPosition) {
    let value = try inTransaction(label: label, line: line, body)
    return (
      value,
      try replicas?.committed
        ?? inDatabase(label: label, line: line) { try $0.postgres.position() }
    )
  }

  /// Runs a closure in a transaction of this isolation, and otherwise as `inTransaction` does.
  ///
  /// Throws what `inTransaction` throws, and `DatabaseError` of the code `ResultCode.misuse` inside another
  /// scope's transaction.
  @discardableResult
  public func inTransaction<T>(
    isolation: PostgresConfiguration.Isolation, label: StaticString = #function,
    line: UInt = #line, _ body: (Database) throws -> T
  ) throws -> T {
    try inTransaction(label: label, line: line) { db in
      try db.postgres.isolate(isolation)
      return try body(db)
    }
  }

  /// Async variant. Suspends the task; cancelling it rolls back.
  ///
  /// - Throws: `CancellationError` too, if the task is cancelled.
  @discardableResult
  public func inTransaction<T: Sendable>(
    isolation: PostgresConfiguration.Isolation, label: StaticString = #function,
    line: UInt = #line, _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await inTransaction(label: label, line: line) { db in
      try db.postgres.isolate(isolation)
      return try body(db)
    }
  }

  /// Async variant. Suspends the task; cancelling it rolls back.
  ///
  /// - Throws: `CancellationError` too, if the task is cancelled.
  public func inTransactionWithPosition<T: Sendable>(
    label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> (T, CommitPosition) {
    let value = try await inTransaction(label: label, line: line, body)
    if let position = replicas?.committed { return (value, position) }
    return (value, try await inDatabase(label: label, line: line) { try $0.postgres.position() })
  }

  /// Runs a closure that reads, as `read` does, and sees at least everything that was committed at a
  /// position. It runs on a replica that catches up within the time of
  /// ``PostgresConfiguration/Reads-swift.enum/replicas(waitAtMost:)``, or else on the primary.
  ///
  /// A position may come from a client: a made-up one costs that time, and nothing else.
  ///
  /// - Throws: what `read` throws.
  public func read<T>(
    notBefore position: CommitPosition, label: StaticString = #function, line: UInt = #line,
    _ body: (Database) throws -> T
  ) throws -> T {
    guard let replicas else { return try read(label: label, line: line, body) }
    let standbys = ReplicasNotBefore(replicas: replicas, position: position)
    var result: T?
    try connections.read(from: standbys, ScopeCall(label, line)) { result = try body($0) }
    guard let result else { throw DatabaseError(.internal, "the scope has no result") }
    return result
  }

  /// Async variant. Suspends the task; cancelling it interrupts the read.
  ///
  /// - Throws: `CancellationError` too, if the task is cancelled.
  public func read<T: Sendable>(
    notBefore position: CommitPosition, label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    guard let replicas else { return try await read(label: label, line: line, body) }
    let standbys = ReplicasNotBefore(replicas: replicas, position: position)
    return try await connections.read(from: standbys, ScopeCall(label, line), body)
  }
}

extension Connections {
  fileprivate convenience init(
    _ servers: ServerList, _ configuration: PostgresConfiguration, retryLimit: Duration?,
    replicas: Replicas?, listener: ServerListener?
  ) {
    let retries = PostgresRetries(limit: retryLimit, servers, configuration)
    self.init(
      engine: PostgresDefinitions.engine, at: servers.places, maximum: configuration.connections,
      timeout: configuration.scopeTimeout, configuration: configuration.common, retries: retries,
      replicas: replicas, observation: listener
    ) {
      Database(
        try PostgresEngine(servers, configuration, retries: retries, replicas: replicas),
        configuration)
    }
  }
}

extension Database {
  /// One connection to a server, for one user at a time. Throws as ``PostgresPool`` does.
  ///
  /// - Parameter change: replaces the server's dialect by another.
  package static func postgres(
    _ address: String, configuration: PostgresConfiguration = .init(),
    written change: (any Dialect) -> any Dialect = { $0 }
  ) throws -> Database {
    let servers = try DatabaseError.converting { try ServerList(address) }
    return Database(
      try PostgresEngine(servers, configuration, change(PostgresDialect())), configuration)
  }

  fileprivate convenience init(_ engine: PostgresEngine, _ configuration: PostgresConfiguration) {
    self.init(
      engine: engine, path: "", at: engine.servers.places, configuration: configuration.common)
  }

  var postgres: PostgresEngine {
    get throws {
      guard let engine = engine as? PostgresEngine else {
        throw DatabaseError(.internal, "the connection isn't one of PostgreSQL")
      }
      return engine
    }
  }
}
