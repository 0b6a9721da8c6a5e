/// Figures of what a queue or pool has done since it was opened, and of what it is doing now.
///
/// ```swift
/// let statistics = pool.statistics
/// metrics.gauge("database.waiting", statistics.waiting)
/// metrics.gauge("database.log", statistics.logFrames)
/// ```
public struct AccessStatistics: Hashable, Sendable {
  /// How many scopes have run on the writer, in a transaction or not.
  public internal(set) var transactions = 0
  /// How often the log was synced for committed transactions (see ``Configuration/groupCommit``); 0 if syncs
  /// aren't shared.
  public internal(set) var syncs = 0
  /// The most commits that shared one sync.
  public internal(set) var largestGroup = 0
  /// How many callers wait for the writer now.
  public internal(set) var waiting = 0
  /// The most callers that have waited for the writer at the same time.
  package internal(set) var mostWaiting = 0
  /// How many scopes have waited for the writer, and got it.
  public internal(set) var waits = 0
  /// The total time that these scopes have waited.
  public internal(set) var waited = Duration.zero
  /// The longest wait of a single scope.
  public internal(set) var longestWait = Duration.zero
  /// The time spent in COMMIT, for databases in files. The wait for a shared sync isn't included.
  public internal(set) var timeInCommit = Duration.zero
  /// The frames (pages) in the write-ahead log after the last commit of a pool, or of a queue that shares
  /// syncs; 0 for others.
  public internal(set) var logFrames = 0
  /// The age of a pool's oldest running read; nil if there is none. The log can't begin anew while it lasts.
  public internal(set) var oldestReaderAge: Duration?
  /// How many connections for reading are in use, in a pool.
  public internal(set) var busyReaders = 0
  /// How many connections for reading are open and idle, in a pool.
  public internal(set) var idleReaders = 0
  /// How often a transaction was tried again; see ``Configuration/retryLimit``.
  public package(set) var retries = 0
  /// The most attempts that a single transaction has taken on an engine other than SQLite: 1 if there were no
  /// conflicts. Always 0 for SQLite.
  package var mostAttempts = 0
}
