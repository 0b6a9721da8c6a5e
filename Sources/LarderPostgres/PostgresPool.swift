import FoundationEssentials
import Glibc
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
///
/// The address may name several servers, `host=a,b,c`: transactions run on the one that can be written to, and where it
/// fails, on the one that takes its place (failover), once that is promoted. Reads may run on the others
/// (``PostgresConfiguration/reads-swift.property``).
public final class PostgresPool: DatabaseAccess {
  /// The connections.
  @_documentation(visibility: internal)
  public let connections: Connections

  private let servers: ServerList
  private let configuration: PostgresConfiguration

  /// Connects once, to see that the server is there.
  ///
  /// - Parameters:
  ///   - address: a [connection string](https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING):
  ///     a URL or `keyword=value` pairs. What it leaves out comes from the environment, `~/.pgpass` and
  ///     service files, as for all programs that use libpq. Of several servers the first is taken that can be written
  ///     to, unless `target_session_attrs` says otherwise.
  ///   - configuration: how to connect, and what to allow.
  ///
  /// Throws `DatabaseError`: `ResultCode.cannotOpen` where nobody answers, or the database isn't there,
  /// `ResultCode.authorization` for a wrong user or password. No error holds the password.
  public init(_ address: String, configuration: PostgresConfiguration = .init()) throws {
    servers = try Self.reading(address) { try ServerList($0) }
    self.configuration = configuration
    let replicas = try Self.replicas(servers, configuration)
    let retries = EngineRetries(
      limit: configuration.retryLimit, isTransient: SQLState.isTransient,
      isFailing: { [servers] in servers.isFailing })
    connections = Connections(
      engine: "PostgreSQL", maximum: configuration.connections, timeout: configuration.scopeTimeout,
      retries: retries, replicas: replicas
    ) { [servers] in
      let engine = try PostgresEngine(servers, configuration, replicas: replicas)
      engine.noteRetry = retries.noteRetry
      return Database(engine, configuration)
    }
    try connections.connect()
  }

  private static func reading<T>(_ address: String, _ body: (ServerAddress) throws -> T) throws -> T
  {
    do {
      return try body(ServerAddress(address))
    } catch let failure as PostgresFailure {
      throw DatabaseError(failure)
    }
  }

  /// Whether a text is meant as a server's address, and not as a file's path.
  package static func isAddress(_ text: String) -> Bool { ServerAddress.isMeant(by: text) }

  /// Where an address of pairs leads to, without secrets; nil for one that can't be read.
  package static func places(ofPairs address: String) -> String? {
    try? ServerAddress(address).places
  }

  /// Closes the connections that nobody uses.
  public func releaseIdleConnections() { connections.releaseIdle() }

  // MARK: Failover

  /// Whether a transaction was committed whose call threw an error with a
  /// ``LarderSQLite/DatabaseError/commitToken``. One that wasn't can't be any more.
  ///
  /// The answer is right for as long as tokens are kept: ten minutes, or four times
  /// ``PostgresConfiguration/retryLimit``.
  ///
  /// Throws ``LarderSQLite/DatabaseError`` where no server could be asked within
  /// ``PostgresConfiguration/retryLimit``, and `ResultCode.misuse` without
  /// ``PostgresConfiguration/commitTokens``.
  public func outcome(of token: UUID) throws -> Bool {
    var retry = Retry(limit: configuration.retryLimit, isTransient: SQLState.isTransient)
    while true {
      do {
        return try inDatabase { try $0.postgres.isCommitted(token) }
      } catch {
        usleep(UInt32(try retry.pause(after: error) / .microseconds(1)))
      }
    }
  }

  /// The same for a task.
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
  ) throws -> Replicas? {
    guard case .replicas(let wait) = configuration.reads else { return nil }
    var own = configuration
    // A standby can't have more, and a statement outside of a transaction has the session's.
    own.isolation = .repeatableRead
    own.commitTokens = false
    // Whoever reads waits for it before the primary is asked.
    own.connectTimeout = min(configuration.connectTimeout, .seconds(1) + wait.bounded)
    let replicas = list.servers.map { [own] server in
      let servers = ServerList(standby: server)
      let connections = Connections(
        engine: "PostgreSQL", maximum: own.connections, timeout: own.scopeTimeout,
        retries: EngineRetries(limit: nil, isTransient: SQLState.isTransient)
      ) { Database(try PostgresEngine(servers, own), own) }
      return (name: server.name, connections: connections)
    }
    return Replicas(
      replicas, waitAtMost: wait, isTransient: SQLState.isTransient,
      locate: { try $0.postgres.position() },
      catchUp: { db, position, deadline in
        try db.postgres.catchUp(to: position, until: deadline)
      })
  }

  /// What reads have had of each of the address's servers, in its order, where
  /// ``PostgresConfiguration/reads-swift.property`` go to replicas. That of the primary is in `statistics`.
  public var replicaStatistics: [ReplicaStatistics] { connections.replicas?.statistics ?? [] }

  /// Runs a closure in a transaction, as `inTransaction` does, and returns the place in the server's log behind its
  /// commit: whoever reads with it (`read(notBefore:)`), be it another process, sees the commit.
  public func inTransactionWithPosition<T>(
    label: StaticString = #function, line: UInt = #line, _ body: (Database) throws -> T
  ) throws -> (T, CommitPosition) {
    let value = try inTransaction(label: label, line: line, body)
    if let position = connections.replicas?.committed { return (value, CommitPosition(position)) }
    return (
      value, try inDatabase(label: label, line: line) { CommitPosition(try $0.postgres.position()) }
    )
  }

  /// Runs a closure in a transaction of another isolation than the pool's, and otherwise as `inTransaction` does.
  ///
  /// Throws `DatabaseError` of the code `ResultCode.misuse` inside of another scope's transaction.
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

  /// As the form that isn't asynchronous.
  public func inTransactionWithPosition<T: Sendable>(
    label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> (T, CommitPosition) {
    let value = try await inTransaction(label: label, line: line, body)
    if let position = connections.replicas?.committed { return (value, CommitPosition(position)) }
    return (
      value,
      try await inDatabase(label: label, line: line) { CommitPosition(try $0.postgres.position()) }
    )
  }

  /// Runs a closure that reads, as `read` does, and sees at least what was committed at a position: on a replica that
  /// has it within the time of ``PostgresConfiguration/Reads-swift.enum/replicas(waitAtMost:)``, or on the primary.
  ///
  /// A position may come from a client: one that is made up costs that time, and nothing else.
  public func read<T>(
    notBefore position: CommitPosition, label: StaticString = #function, line: UInt = #line,
    _ body: (Database) throws -> T
  ) throws -> T {
    try connections.read(notBefore: position.place, label, line, body)
  }

  /// As the form that isn't asynchronous.
  public func read<T: Sendable>(
    notBefore position: CommitPosition, label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await connections.read(notBefore: position.place, label, line, body)
  }
}

extension Database {
  /// One connection to a server, for one user at a time. Throws as ``PostgresPool`` does.
  ///
  /// - Parameter change: makes another dialect of the server's.
  package static func postgres(
    _ address: String, configuration: PostgresConfiguration = .init(),
    written change: (any Dialect) -> any Dialect = { $0 }
  ) throws -> Database {
    do {
      let engine = try PostgresEngine(
        ServerList(address), configuration, change(PostgresDialect()))
      return Database(engine, configuration)
    } catch let failure as PostgresFailure {
      throw DatabaseError(failure)
    }
  }

  fileprivate convenience init(_ engine: PostgresEngine, _ configuration: PostgresConfiguration) {
    self.init(engine: engine, path: "", configuration: configuration.common)
  }

  fileprivate var postgres: PostgresEngine {
    get throws {
      guard let engine = engine as? PostgresEngine else {
        throw DatabaseError(.internal, "the connection is of another engine")
      }
      return engine
    }
  }
}
