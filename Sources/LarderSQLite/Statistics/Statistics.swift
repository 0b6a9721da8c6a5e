/// Figures of what a queue or pool has done since it was opened, and of what it is doing now.
///
/// ```swift
/// let statistics = pool.statistics
/// metrics.gauge("database.waiting", statistics.waiting)
/// metrics.gauge("database.log", statistics.logFrames)
/// ```
public struct AccessStatistics: Hashable, Sendable {
  /// The count and times of work of one kind, such as syncs.
  public struct Timing: Hashable, Sendable {
    /// How often it has been done.
    public internal(set) var count = 0
    /// The total time that it has taken.
    public internal(set) var total = Duration.zero
    /// The longest time that it has taken.
    public internal(set) var longest = Duration.zero
    /// The time that it has taken the last time.
    public internal(set) var duration = Duration.zero
    /// The time since it has ended the last time; nil if it never has.
    public internal(set) var age: Duration?
    /// The time since the running one has begun; nil if none runs. It grows while a disk doesn't answer.
    public internal(set) var running: Duration?
    /// How many have taken how long: one count for each of ``limits``, of those that took at most as long and
    /// longer than the limit before; then one count of those that took longer than the last limit. Empty if
    /// there were none.
    public internal(set) var histogram: [Int] = []
    /// The limits of ``histogram``, from 10 µs to 10 s.
    public static var limits: [Duration] { Histogram.limits.map { .nanoseconds($0) } }
  }

  /// A holder of something that others wait for.
  public struct Holder: Hashable, Sendable {
    /// The label of its scope, or what it is.
    public let label: String
    /// How long it has been holding it. For the writer it may be longer: the time counts from when somebody
    /// first asked or waited.
    public let duration: Duration
  }

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
  /// The scopes that have waited for the writer, or in a server's pool for a connection, and got it.
  public internal(set) var wait = Timing()
  /// The calls of scopes by label, if ``Configuration/measuresCalls`` is on. Of the 129th label and later
  /// ones, all are under the label `other`.
  public internal(set) var calls: [String: Timing] = [:]
  /// The statements of scopes, if ``Configuration/measuresCalls`` is on: their time in SQLite.
  public internal(set) var statements = Timing()
  /// The time spent in COMMIT, for databases in files. The wait for a shared sync isn't included.
  public internal(set) var timeInCommit = Duration.zero
  /// The COMMITs of scopes, for databases in files. If syncs aren't shared, they contain those of SQLite.
  public internal(set) var commit = Timing()
  /// The shared syncs of the log; see ``Configuration/groupCommit``.
  public internal(set) var sync = Timing()
  /// The callers' waits for shared syncs. The number of commits that share one is about its count by that of
  /// ``sync``.
  public internal(set) var syncWait = Timing()
  /// The checkpoints of the log into the file, and their syncs with them.
  public internal(set) var checkpoint = Timing()
  /// How many frames of the log weren't in the file after the last checkpoint. If that stays above 0, see
  /// ``pinned``.
  public internal(set) var pendingFrames = 0
  /// Who kept the last checkpoint from moving all of the log: a read scope of the pool, a copy, or another
  /// process or connection. Nil if nothing is pending or nobody was found. Other processes are looked for in
  /// the background, after `statistics` was read.
  public internal(set) var pinned: Holder?
  /// The scope that holds the writer; nil if nobody does.
  public internal(set) var writer: Holder?
  /// The copies and replications that are at work: `ContinuousBackup` and others.
  public internal(set) var copies: [Holder] = []
  /// The error that writes throw until the database is opened anew, or the file is back: a sync has failed,
  /// or the file was moved, removed or replaced. Nil while all is well.
  public internal(set) var error: DatabaseError?
  /// How many `DatabaseError`s scopes have thrown to their callers.
  public internal(set) var failures = 0
  /// How many scopes have waited in vain for ``Configuration/scopeTimeout``.
  public internal(set) var refusals = 0
  /// The memory in bytes of the connections' page caches, schemas and statements. A connection is measured
  /// when it is next used after a reading, so that the first reading is too low.
  public internal(set) var bytes = 0
  /// The space in bytes that is free beside the file for this user. Measured in the background, at most
  /// twice a second, after a reading: nil for the first one, and for databases in memory.
  public internal(set) var freeBytes: Int?
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

extension AccessStatistics.Timing {
  init(_ work: TimedWork) { self.init(work.figures) }

  init(_ figures: TimedWork.Figures) {
    count = figures.count
    total = .nanoseconds(figures.total)
    longest = .nanoseconds(figures.longest)
    duration = .nanoseconds(figures.last)
    age = figures.age.map { .nanoseconds($0) }
    running = figures.running.map { .nanoseconds($0) }
    histogram = figures.count > 0 ? figures.histogram : []
  }

  /// Adds a duration that has ended just now.
  mutating func add(_ spent: Duration) {
    count += 1
    total += spent
    longest = max(longest, spent)
    duration = spent
    if histogram.isEmpty { histogram = Array(repeating: 0, count: Histogram.limits.count + 1) }
    histogram[Histogram.bucket(of: spent.inNanoseconds)] += 1
  }

  /// Adds the figures of work in several places.
  static func += (sum: inout Self, other: Self) {
    guard other.count > 0 else { return }
    sum.count += other.count
    sum.total += other.total
    sum.longest = max(sum.longest, other.longest)
    if let age = other.age, age <= sum.age ?? age {
      (sum.duration, sum.age) = (other.duration, age)
    }
    sum.histogram =
      sum.histogram.isEmpty ? other.histogram : zip(sum.histogram, other.histogram).map(+)
  }
}

extension AccessStatistics {
  mutating func note(commits: TimedWork) {
    commit = Timing(commits)
    timeInCommit = commit.total
  }
}
