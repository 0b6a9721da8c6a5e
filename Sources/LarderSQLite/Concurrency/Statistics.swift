/// What a queue or pool has done since it was opened, and what it is doing now.
///
/// ```swift
/// let statistics = pool.statistics
/// metrics.gauge("database.waiting", statistics.waiting)
/// metrics.gauge("database.log", statistics.logFrames)
/// ```
public struct AccessStatistics: Hashable, Sendable {
  /// How many scopes have had the writer, in a transaction or not.
  public internal(set) var transactions = 0
  /// How often the log was synced for those who had committed (see ``Configuration/groupCommit``); 0
  /// where syncs aren't shared.
  public internal(set) var syncs = 0
  /// The most commits that shared one sync.
  public internal(set) var largestGroup = 0
  /// How many callers wait for the writer now.
  public internal(set) var waiting = 0
  /// The most callers that have waited for the writer at a time.
  public internal(set) var mostWaiting = 0
  /// How many scopes have waited for the writer, and got it.
  public internal(set) var waits = 0
  /// How long all of them together have waited.
  public internal(set) var waited = Duration.zero
  /// The longest that one has waited.
  public internal(set) var longestWait = Duration.zero
  /// The time spent in COMMIT, for databases in files. The wait for a sync that is shared isn't in it.
  public internal(set) var timeInCommit = Duration.zero
  /// The frames (pages) in the write-ahead log after the last commit of a pool, or of a queue that shares
  /// syncs; 0 for others.
  public internal(set) var logFrames = 0
  /// How long the scope has been reading that has read for longest, in a pool; nil if none reads. As
  /// long as it does, the log can't begin anew.
  public internal(set) var oldestReaderAge: Duration?
  /// How many connections for reading are in use, in a pool.
  public internal(set) var busyReaders = 0
  /// How many are open and not in use.
  public internal(set) var idleReaders = 0
  /// How often a transaction was tried again; see ``Configuration/retryLimit``.
  public internal(set) var retries = 0
  /// The most attempts that one transaction has taken, on another engine than SQLite: 1 where none was in another's
  /// way; 0 for SQLite.
  public internal(set) var mostAttempts = 0

  /// Counts one who has waited, and got what it waited for.
  mutating func noteWait(_ time: Duration) {
    waits += 1
    waited += time
    longestWait = max(longestWait, time)
  }
}
