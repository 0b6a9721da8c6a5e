import LarderSQLite

/// The settings of a ``PostgresPool``: how it connects, and what it allows.
public struct PostgresConfiguration: Sendable {
  /// The isolation level of transactions; see
  /// [Transaction Isolation](https://www.postgresql.org/docs/current/transaction-iso.html).
  public enum Isolation: String, Hashable, Sendable {
    /// Transactions act as if one ran after the other, as in SQLite: the default. A transaction for which the
    /// server can't guarantee that fails, and is retried (``PostgresConfiguration/retryLimit``).
    case serializable
    /// Each transaction sees one snapshot. Two transactions that read what the other writes both succeed.
    case repeatableRead = "repeatable read"
    /// Each statement sees what was committed before it. A value that was read may have changed when it is
    /// written, and that change is lost.
    case readCommitted = "read committed"
  }

  /// The servers on which scopes of `read` run.
  public enum Reads: Hashable, Sendable {
    /// The server on which transactions run.
    case primary
    /// The address's standbys, in turn. A read waits for a standby to have what this pool has committed, but
    /// no longer than told, and then runs on the primary. A standby that lags or can't be reached is left out
    /// for a time.
    case replicas(waitAtMost: Duration)
  }

  /// What tells observed values of commits; see <doc:Observing#Values-on-a-server>.
  public enum CommitSource: Hashable, Sendable {
    /// The server's log where the server permits it, and triggers for all else.
    case automatic
    /// The server's log, by logical decoding: writers do nothing for it. It needs `wal_level = logical`, a role
    /// that may replicate, and tables with a key.
    case log
    /// Triggers that Larder installs, which notify (`NOTIFY`) with each transaction.
    case triggers
  }

  /// The maximum number of connections; with replicas, to each server.
  public var connections = 8
  /// The isolation of transactions. Reads are repeatable read.
  public var isolation = Isolation.serializable
  /// How long a transaction is retried after a conflict, or after its connection was lost before the commit
  /// was sent; nil for no retries. Its closure runs again.
  public var retryLimit: Duration? = .seconds(30)
  /// How long a scope waits for a connection.
  public var scopeTimeout: Duration = .seconds(30)
  /// How long connecting may take.
  public var connectTimeout: Duration = .seconds(10)
  /// The maximum age of a connection, after which it is replaced between scopes; nil for no limit. A pool
  /// thus moves to servers that were added, and doesn't keep what a session's server processes accumulate.
  public var longestConnectionLife: Duration? = .seconds(3600)
  /// How long a statement may run, from its first step; nil for no limit. The deadline is the client's own,
  /// and holds even if the server doesn't answer.
  public var statementDeadline: Duration?
  /// Whether statements stay prepared on the server. A pooler that gives a server's connection to others
  /// between transactions, such as PgBouncer, may not support that.
  ///
  /// If it is false, the address counts as a pooler's: statements that are only of use for their session, such
  /// as SET, throw outside of transactions. See <doc:PostgreSQL#Poolers>.
  public var preparesStatements = true
  /// Names, as in the catalog, of database functions that leave nothing with a session, whatever their
  /// arguments: no setting, role, lock or temporary table.
  ///
  /// A session is reset at the end of a scope that has called any other function, except the server's own:
  /// see <doc:PostgreSQL#What-a-scope-leaves>.
  public var harmlessFunctions: Set<String> = []
  /// Whether each transaction writes a random token to the table `larder_commit`, in the round trip of its
  /// COMMIT. The token tells the outcome of a commit whose answer was lost, as when the primary fails: the
  /// transaction has been committed, or runs again. Without tokens such a call throws `sqlState` 08007.
  ///
  /// If no server can be asked within ``retryLimit``, the call throws an error with a
  /// ``LarderSQLite/DatabaseError/commitToken``, for `PostgresPool.outcome(of:)`.
  ///
  /// `Migrator.migrate` makes the table. Roles other than the one that migrates have to be granted SELECT,
  /// INSERT, UPDATE and DELETE on it. Tokens are kept for ten minutes, or four times ``retryLimit`` if that
  /// is longer.
  public var commitTokens = false
  /// The servers on which reads run.
  public var reads = Reads.primary
  /// What tells observed values of commits.
  public var commitSource = CommitSource.automatic
  /// The maximum number of prepared statements that a connection keeps.
  public var statementCacheCapacity = 128
  /// A closure that is called for each statement that took at least ``slowStatementThreshold``.
  public var trace: (@Sendable (TraceEvent) -> Void)?
  /// The shortest duration of a statement for which ``trace`` is called; by default it is called for all.
  public var slowStatementThreshold: Duration = .zero
  /// A closure that is called for each error that the server reports, and for each other `DatabaseError` that a
  /// scope throws, once. Equal ones are counted, as with `Configuration.log`.
  public var log: (@Sendable (DatabaseError) -> Void)? { didSet { reporting.log = log } }
  /// Whether the log and the trace get SQL with `?` in place of its literals.
  public var masksLiterals = false
  /// The shortest time a scope takes for ``log`` to be told where its time went; nil for none.
  public var slowScopeThreshold: Duration?
  /// Whether the calls of scopes and their statements are timed, for `AccessStatistics.calls` and
  /// `AccessStatistics.statements`.
  public var measuresCalls = false
  /// A closure that is called with the times of each scope when it has ended, on the caller's thread or in its
  /// task.
  public var spans: (@Sendable (ScopeSpan) -> Void)?
  /// Holds the log, so that all connections count equal errors together.
  private var reporting = Configuration()

  /// Whether values of all types but numbers, Booleans and blobs are read as the server's text, for display,
  /// or for databases without such types. No type is refused then.
  package var readsText = false

  /// How often the connection that listens looks whether it is alive, and whether observed tables are what
  /// they were.
  var listeningInterval = Duration.seconds(5)

  /// How long the server has to answer when a statement is cancelled, before the connection is given up.
  var cancellationPatience = Duration.milliseconds(300)

  /// The defaults.
  public init() {}

  /// The settings that apply to all engines.
  var common: Configuration {
    var configuration = reporting
    configuration.masksLiterals = masksLiterals
    configuration.slowScopeThreshold = slowScopeThreshold
    configuration.measuresCalls = measuresCalls
    configuration.spans = spans
    configuration.statementCacheCapacity = statementCacheCapacity
    configuration.statementDeadline = statementDeadline
    configuration.trace = trace
    configuration.slowStatementThreshold = slowStatementThreshold
    return configuration
  }
}
