import CSQLite
import Dispatch
import Glibc
import Synchronization

/// Group commit of syncs: transactions that commit at about the same time share the wait for the disk,
/// and nothing else.
///
/// Each commits by itself, as with synchronous NORMAL: its frames are written to the write-ahead log,
/// not synced. Without the writer lock its caller then waits until the log is synced past its
/// commit. A thread of its own syncs for all who have committed by then; those who come later wait for the
/// next sync. While the disk works, other transactions run. The idea is PostgreSQL's (`commit_delay`), which
/// shares the sync of its log in the same way.
///
/// No caller syncs by itself: a disk that doesn't answer can't be given up by the thread that has asked it. So
/// every wait has a deadline, after which the caller is told that its commit is written and not known to be durable.
///
/// A position counts commits: that of a scope is how many commits it may have seen or made, and it
/// is durable once as many are synced. It is announced before SQLite makes the commit visible,
/// so that no reader can see one that isn't counted.
///
/// A failed sync isn't tried again: after it nobody knows what is on disk, since the kernel may have
/// dropped the pages. Everybody who waits for it, and who comes later, gets an error.
///
/// The log is synced by a descriptor of its own, opened by the same VFS: the kernel tells of a failed
/// write once for each descriptor, so that a failure which SQLite is told of is told here too.
///
/// What makes it Sendable: it has no state but atomics and what its lock guards. The log's file object
/// is used by one sync at a time, and is closed by ``suspend(_:)``, once no sync runs.
final class GroupCommit: @unchecked Sendable {
  private let handle: OpaquePointer
  private unowned let connection: Connection
  let patience: Duration
  /// How many commits there are, with the one that is about to be made visible.
  let announced = Atomic<Int>(0)
  /// How many there are that any sync from now on covers.
  let committed = Atomic<Int>(0)
  /// How many are on disk.
  let synced = Atomic<Int>(0)
  /// Whether somebody waits for a commit that is just being written.
  let needsCommit = Atomic<Bool>(false)
  let failed = Atomic<Bool>(false)
  /// Whether SQLite syncs by itself for now. Of the holder of the writer lock.
  private var isSuspended = true
  /// Whether it was suspended in this scope, for a change of the journal mode.
  private var mayResume = false
  let state = Lock(State())
  /// Syncs, one sync after the other.
  let worker = DispatchQueue(label: "larder.sync")
  /// Tells tasks that have waited too long.
  let clock = DispatchQueue(label: "larder.sync.deadlines")

  struct State {
    var file: UnsafeMutablePointer<sqlite3_file>?
    var isSyncing = false
    /// What the sync that runs covers; -1 as long as it hasn't begun.
    var upTo = -1
    /// Those whom the sync that runs may cover, and those who come later.
    var current = SyncBatch()
    var gathering = SyncBatch()
    var failure: DatabaseError?
    /// How many commits the last sync covered, and how long it took.
    var company = 0
    var lastSync = Duration.zero
    var syncs = 0
    var largestGroup = 0
    /// Whether the deadlines of tasks are looked at.
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
  /// Without a file system that leaves the bytes beside a write alone, SQLite pads the log to whole
  /// sectors at each sync, which only its own synchronous FULL does.
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

  /// Makes commits leave the sync to those who made them, where the log is a write-ahead log. With the
  /// writer lock held.
  private func resume(_ database: Database) {
    let file: UnsafeMutablePointer<sqlite3_file>? = connection.withoutAuthorizer { handle in
      // The log is opened when it is first read.
      guard Connection.text("SELECT count(*) FROM sqlite_schema", on: handle) != nil,
        Connection.text("PRAGMA journal_mode", on: handle) == "wal"
      else { return nil }
      return larder_open_log(handle)
    }
    guard let file else { return }
    // SQLite syncs the folder with its first sync of a log that it has made, which may be long after. The
    // folder is that of the file itself, wherever links and the program's own folder lead.
    guard let path = sqlite3_db_filename(handle, "main").map({ String(cString: $0) }),
      (try? NewFile.syncFolder(of: path)) != nil, connection.setSynchronous(.normal)
    else { return larder_close_log(file) }
    state.withLock { $0.file = file }
    isSuspended = false
    database.sharesSyncs = true
  }

  deinit { state.withLock { $0.file.map(larder_close_log) } }

  /// Suspends the sharing until the writer lock, which is held, is released: before the journal
  /// mode is changed. Throws where SQLite can't be told to sync by itself.
  func suspendForNow(_ database: Database) throws {
    guard sqlite3_get_autocommit(handle) != 0 else { return }
    mayResume = true
    guard !isSuspended else { return }
    guard connection.setSynchronous(database.ownSynchronous) else {
      throw connection.error(sqlite3_errcode(handle))
    }
    try suspend(database, within: patience)
  }

  /// Syncs what there is, and leaves further syncs to SQLite: before it closes the file of the log. With
  /// the writer lock held.
  ///
  /// Throws after a while where the disk doesn't answer; then everything is as it was.
  func suspend(_ database: Database, within limit: Duration) throws {
    guard !isSuspended else { return }
    let deadline = MonotonicClock.now + limit
    // A failure is told by the next call.
    try? wait(for: committed.load(ordering: .acquiring), within: limit)
    while state.withLock({ $0.isSyncing }) {
      guard MonotonicClock.now < deadline else { throw Self.lateError }
      usleep(50)
    }
    state.withLock { state in
      state.file.map(larder_close_log)
      state.file = nil
    }
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
  /// such as the end of a restoration. With the writer lock held.
  func hasCommitted() {
    guard !isSuspended else { return }
    let new = max(
      announced.load(ordering: .relaxed), committed.load(ordering: .relaxed) + 1)
    announced.store(new, ordering: .sequentiallyConsistent)
    committed.store(new, ordering: .sequentiallyConsistent)
    if needsCommit.load(ordering: .sequentiallyConsistent) { lookAgain() }
  }

  /// After a statement, and before the writer lock is released: what was announced and not written to the
  /// log never will be, such as the commit of a transaction that has changed nothing.
  private func takeBackAnnouncement() {
    connection.afterSteps.remove(.announcedCommit)
    guard !isSuspended, !isSettled else { return }
    // A statement that was reset has committed without a call of the hook, which the next one makes up for.
    sqlite3_exec(handle, "SELECT 1", nil, nil, nil)
    let committed = committed.load(ordering: .relaxed)
    guard !isSettled else { return }
    announced.store(committed, ordering: .sequentiallyConsistent)
    if needsCommit.load(ordering: .sequentiallyConsistent) { lookAgain() }
  }

  private var isSettled: Bool {
    announced.load(ordering: .relaxed) == committed.load(ordering: .relaxed)
  }

  /// Before the writer lock is released: returns the position of what the scope has made or seen.
  func settle(_ database: Database) -> Int {
    if mayResume {
      mayResume = false
      resume(database)
      // A scope may have put back the level of shared syncs.
      if isSuspended { _ = connection.setSynchronous(database.ownSynchronous) }
    }
    takeBackAnnouncement()
    return committed.load(ordering: .relaxed)
  }

  /// The position of what a reader may have seen until now.
  var position: Int { announced.load(ordering: .sequentiallyConsistent) }

  /// Throws where a sync has failed.
  func check() throws {
    if failed.load(ordering: .acquiring), let failure = state.withLock({ $0.failure }) {
      throw failure
    }
  }

  /// What was synced, for the statistics.
  func describe(_ statistics: inout AccessStatistics) {
    (statistics.syncs, statistics.largestGroup) = state.withLock { ($0.syncs, $0.largestGroup) }
  }

  /// Whether a sync has failed, so that nothing may be written any more.
  var hasFailed: Bool { failed.load(ordering: .relaxed) }
}
