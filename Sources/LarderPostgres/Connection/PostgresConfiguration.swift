import LarderSQLite

/// How a ``PostgresPool`` connects, and what it allows.
public struct PostgresConfiguration: Sendable {
  /// Which transactions see what of each other; see
  /// [Transaction Isolation](https://www.postgresql.org/docs/current/transaction-iso.html).
  public enum Isolation: String, Hashable, Sendable {
    /// As if one transaction ran after the other, which is what SQLite does: the default. Those for which
    /// that can't be had fail, and are tried again (``PostgresConfiguration/retryLimit``).
    case serializable
    /// Each transaction sees one snapshot; two that read what the other writes both succeed.
    case repeatableRead = "repeatable read"
    /// Each statement sees what was committed before it: a value that was read may have been changed when
    /// it is written, and that change is lost.
    case readCommitted = "read committed"
  }

  /// Where reads run: scopes of `read`.
  public enum Reads: Hashable, Sendable {
    /// Where transactions run.
    case primary
    /// On those of the address's servers that are standbys, in turn, if they have what this pool has committed; they
    /// are waited for until then, but no longer than told. Otherwise on the primary. A standby that lags or can't be
    /// reached is left out for a time.
    case replicas(waitAtMost: Duration)
  }

  /// The most connections at a time; with replicas, to each server.
  public var connections = 8
  /// The isolation of transactions. Reads are repeatable read.
  public var isolation = Isolation.serializable
  /// For how long a transaction is tried again that others were in the way of, or whose connection was lost
  /// before its commit was sent; nil for not at all. Its closure runs again.
  public var retryLimit: Duration? = .seconds(30)
  /// How long a scope waits for a connection.
  public var scopeTimeout: Duration = .seconds(30)
  /// How long connecting may take.
  public var connectTimeout: Duration = .seconds(10)
  /// How long a connection is used at most before another takes its place, between scopes; nil for as long as it lasts.
  /// So a pool moves to servers that were added, and doesn't keep what a session's processes have gathered.
  public var longestConnectionLife: Duration? = .seconds(3600)
  /// How long a statement may run, from its first step; nil for ever. The deadline is the client's own,
  /// which holds also where the server doesn't answer.
  public var statementDeadline: Duration?
  /// Whether statements stay prepared on the server. A pooler that gives a server's connection to others
  /// between transactions, such as PgBouncer, can't have that.
  public var preparesStatements = true
  /// Functions of the database that leave nothing with a session, whatever they are called with: no setting, role, lock
  /// or temporary table. Their names, as in the catalog.
  ///
  /// A session is reset at the end of a scope that has called others than these and the server's own: see
  /// <doc:PostgreSQL#What-a-scope-leaves>.
  public var harmlessFunctions: Set<String> = []
  /// Whether each transaction writes a random token to the table `larder_commit`, with its COMMIT, in the same round
  /// trip. It tells what became of a commit whose answer never came, as when the primary fails: the transaction
  /// has been committed, or runs again. Without tokens such a call throws `sqlState` 08007.
  ///
  /// Where no server can be asked within ``retryLimit``, the call throws an error with a
  /// ``LarderSQLite/DatabaseError/commitToken``, for `PostgresPool.outcome(of:)`.
  ///
  /// `Migrator.migrate` makes the table; other roles than the one that migrates have to be granted SELECT, INSERT,
  /// UPDATE and DELETE on it. Tokens are kept for ten minutes, or four times ``retryLimit`` if that is longer.
  public var commitTokens = false
  /// Where reads run.
  public var reads = Reads.primary
  /// How many prepared statements a connection keeps at most.
  public var statementCacheCapacity = 128
  /// Told of each statement that took at least ``slowStatementThreshold``.
  public var trace: (@Sendable (TraceEvent) -> Void)?
  /// How long a statement takes at least that ``trace`` is told of; by default all are.
  public var slowStatementThreshold: Duration = .zero
  /// Told of each error.
  public var log: (@Sendable (DatabaseError) -> Void)?

  /// Whether values of all types but numbers, Booleans and blobs come as the server writes them: what is shown to
  /// people, or goes where there are no such types. No type is refused then.
  package var readsText = false

  /// How long the server has to answer when a statement is cancelled, before the connection is given up.
  var cancellationPatience = Duration.milliseconds(300)

  /// The defaults.
  public init() {}

  /// What of a configuration applies to all engines.
  var common: Configuration {
    var configuration = Configuration()
    configuration.statementCacheCapacity = statementCacheCapacity
    configuration.statementDeadline = statementDeadline
    configuration.trace = trace
    configuration.slowStatementThreshold = slowStatementThreshold
    configuration.log = log
    return configuration
  }
}
