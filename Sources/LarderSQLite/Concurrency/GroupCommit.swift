import CSQLite
import Dispatch
import Glibc
import Synchronization

/// Group commit of syncs: transactions that commit at about the same time share the wait for the disk,
/// and nothing else.
///
/// Each transaction commits by itself, as with synchronous NORMAL: its frames are written to the write-ahead
/// log, not synced. After it has released the writer lock, its caller waits until the log is synced past its
/// commit. Another thread syncs for all who have committed by then; later ones wait for the next sync. While
/// the disk works, other transactions run. PostgreSQL shares the sync of its log in this way (`commit_delay`).
///
/// No caller syncs by itself: a thread can't give up a disk that doesn't answer once it has called it. So
/// every wait has a deadline, after which the caller is told that its commit is written and not known to be
/// durable.
///
/// A position counts commits. A scope's position is the number of commits that it may have seen or made; it
/// is durable once as many are synced. It is announced before SQLite makes the commit visible, so that no
/// reader can see one that isn't counted.
///
/// A failed sync isn't tried again: after it nobody knows what is on disk, since the kernel may have dropped
/// the pages. All who wait for it, and all who come later, get an error.
///
/// The log is synced by a descriptor of its own, opened by the same VFS. The kernel reports a failed write
/// once per descriptor, so that a failure that is reported to SQLite is reported here too.
///
/// Sendable because it has no state except atomics and what its lock guards. The log's file object is used by
/// one sync at a time, and is closed by ``suspend(_:within:)`` once no sync runs.
final class GroupCommit: @unchecked Sendable {
  private let handle: OpaquePointer
  private unowned let connection: Connection
  let patience: Duration
  /// The number of commits, including the one that is about to be made visible.
  let announced = Atomic<Int>(0)
  /// The number of commits that any sync from now on covers.
  let committed = Atomic<Int>(0)
  /// The number of commits on disk.
  let synced = Atomic<Int>(0)
  /// True while a caller waits for the commit that is being written.
  let needsCommit = Atomic<Bool>(false)
  let failed = Atomic<Bool>(false)
  /// Whether SQLite syncs by itself for now. Guarded by the writer lock.
  private var isSuspended = true
  /// Whether the sharing was suspended in this scope, for a change of the journal mode.
  private var mayResume = false
  let state = Lock(State())
  /// The syncs, and the callers' waits for them.
  let syncs = TimedWork()
  let waits = TimedWork()
  /// Runs the syncs, one after the other.
  let worker = StandbyThread()
  /// Checks the deadlines of waiting tasks.
  let clock = DispatchQueue(label: "larder.sync.deadlines")

  struct State {
    var file: UnsafeMutablePointer<sqlite3_file>?
    var isSyncing = false
    /// The position that the running sync covers; -1 as long as it hasn't begun.
    var upTo = -1
    /// The followers whom the running sync may cover, and those who come later.
    var current = SyncBatch()
    var gathering = SyncBatch()
    var failure: DatabaseError?
    /// How many commits the last sync covered, and how long it took.
    var company = 0
    var lastSync = Duration.zero
    var largestGroup = 0
    /// Whether a check of tasks' deadlines is scheduled.
    var isSwept = false

    func batch(for position: Int) -> SyncBatch {
      isSyncing && position <= upTo ? current : gathering
    }

    func takeTasks(where condition: (SyncBatch.Waiter) -> Bool) -> [SyncBatch.Waiter] {
      current.takeTasks(where: condition) + gathering.takeTasks(where: condition)
    }
  }

  /// Shares the syncs of a connection that writes durably to a write-ahead log; nil for any other.
  ///
  /// On a file system without powersafe overwrite, SQLite pads the log to whole sectors at each sync. Only
  /// its own synchronous FULL does that.
  ///
  /// - Parameter patience: how long a call waits for the disk.
  init?(sharing database: Database, patience: Duration) {
    guard let handle = database.connection.usableHandle, larder_has_safe_overwrite(handle) != 0
    else { return nil }
    self.handle = handle
    self.patience = patience
    connection = database.connection
    resume(database)
    guard !isSuspended else { return nil }
    connection.onAnnouncedCommit = { [unowned self] in takeBackAnnouncement() }
    connection.hooks.willCommit = { [unowned self] in willCommit() }
    connection.hooks.installCommitHook(on: handle)
  }

  /// Makes commits leave the sync to their callers, if the journal mode is WAL. The caller holds the writer
  /// lock.
  private func resume(_ database: Database) {
    let file: UnsafeMutablePointer<sqlite3_file>? = connection.withoutAuthorizer { handle in
      // The log is opened when it is first read.
      guard Connection.text("SELECT count(*) FROM sqlite_schema", on: handle) != nil,
        Connection.text("PRAGMA journal_mode", on: handle) == "wal"
      else { return nil }
      return larder_open_log(handle)
    }
    guard let file else { return }
    // SQLite syncs the folder only with its first sync of a log that it has made, which may be long after.
    // The folder is that of the file itself, wherever links and the working directory lead.
    guard let path = sqlite3_db_filename(handle, "main").map({ String(cString: $0) }),
      (try? FileLocation.syncFolder(of: path)) != nil, connection.setSynchronous(.normal)
    else { return larder_close_log(file) }
    state.withLock { $0.file = file }
    isSuspended = false
    database.sharesSyncs = true
  }

  deinit { state.withLock { $0.file.map(larder_close_log) } }

  /// Suspends the sharing until the writer lock is released, before a change of the journal mode. Throws if
  /// SQLite can't be set to sync by itself.
  func suspendForNow(_ database: Database) throws {
    guard sqlite3_get_autocommit(handle) != 0 else { return }
    mayResume = true
    guard !isSuspended else { return }
    guard connection.setSynchronous(database.ownSynchronous) else {
      throw connection.error(sqlite3_errcode(handle))
    }
    try suspend(database, within: patience)
  }

  /// Syncs all commits, and leaves further syncs to SQLite. Called with the writer lock held, before SQLite
  /// closes the file of the log.
  ///
  /// Throws when the time is up, if the disk doesn't answer; then nothing has changed.
  func suspend(_ database: Database, within limit: Duration) throws {
    guard !isSuspended else { return }
    let deadline = MonotonicClock.now + limit
    // The next call throws the error of a failed sync.
    try? wait(for: committed.load(ordering: .acquiring), within: limit)
    while state.withLock({ $0.isSyncing }) {
      guard MonotonicClock.now < deadline else { throw Self.lateError }
      usleep(50)
    }
    // Closed without the lock, which readers of the statistics take.
    let file = state.withLock { state in
      defer { state.file = nil }
      return state.file
    }
    file.map(larder_close_log)
    isSuspended = true
    database.sharesSyncs = false
  }

  // MARK: Commits

  private func willCommit() {
    guard !isSuspended else { return }
    announced.store(committed.load(ordering: .relaxed) + 1, ordering: .sequentiallyConsistent)
    connection.afterSteps.insert(.announcedCommit)
  }

  /// Notes a commit that was written to the log of the main database, also one that SQLite didn't announce,
  /// such as the end of a restoration. The caller holds the writer lock.
  func hasCommitted() {
    guard !isSuspended else { return }
    let new = max(
      announced.load(ordering: .relaxed), committed.load(ordering: .relaxed) + 1)
    announced.store(new, ordering: .sequentiallyConsistent)
    committed.store(new, ordering: .sequentiallyConsistent)
    if needsCommit.load(ordering: .sequentiallyConsistent) { lookAgain() }
  }

  /// Takes back an announced commit that wasn't written to the log, such as that of a transaction that has
  /// changed nothing. Called after a statement, and before the writer lock is released.
  private func takeBackAnnouncement() {
    connection.afterSteps.remove(.announcedCommit)
    guard !isSuspended, !isSettled else { return }
    // A statement that was reset has committed without a call of the WAL hook; the next statement makes up
    // for it.
    sqlite3_exec(handle, "SELECT 1", nil, nil, nil)
    let committed = committed.load(ordering: .relaxed)
    guard !isSettled else { return }
    announced.store(committed, ordering: .sequentiallyConsistent)
    if needsCommit.load(ordering: .sequentiallyConsistent) { lookAgain() }
  }

  private var isSettled: Bool {
    announced.load(ordering: .relaxed) == committed.load(ordering: .relaxed)
  }

  /// Returns the position of what the scope has committed or seen. Called before the writer lock is released.
  func settle(_ database: Database) -> Int {
    if mayResume {
      mayResume = false
      resume(database)
      // The scope may have restored the synchronous level of shared syncs.
      if isSuspended { _ = connection.setSynchronous(database.ownSynchronous) }
    }
    takeBackAnnouncement()
    return committed.load(ordering: .relaxed)
  }

  /// The position up to which a reader may have seen commits until now.
  var position: Int { announced.load(ordering: .sequentiallyConsistent) }

  func check() throws {
    if failed.load(ordering: .acquiring), let failure = state.withLock({ $0.failure }) {
      throw failure
    }
  }

  func describe(_ statistics: inout AccessStatistics) {
    (statistics.largestGroup, statistics.error) = state.withLock { ($0.largestGroup, $0.failure) }
    statistics.sync = AccessStatistics.Timing(syncs)
    statistics.syncs = statistics.sync.count
    statistics.syncWait = AccessStatistics.Timing(waits)
  }

  var hasFailed: Bool { failed.load(ordering: .relaxed) }
}
