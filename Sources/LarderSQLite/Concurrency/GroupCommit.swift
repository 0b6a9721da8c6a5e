import CSQLite
import Dispatch
import Glibc
import Synchronization

/// Group commit of syncs: transactions that commit at about the same time share the wait for the disk,
/// and nothing else.
///
/// Each commits by itself, as with synchronous NORMAL: its frames are written to the write-ahead log,
/// not synced. Without the writer lock its caller then waits until the log is synced past its
/// commit. Who finds no sync running is the leader and syncs for all who have committed by then; the
/// followers wait for that sync, or for the next. While the disk works, other transactions run. The idea
/// is PostgreSQL's (`commit_delay`), which shares the sync of its log in the same way.
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
  /// How many commits there are, with the one that is about to be made visible.
  private let announced = Atomic<Int>(0)
  /// How many there are that any sync from now on covers.
  private let committed = Atomic<Int>(0)
  /// How many are on disk.
  private let synced = Atomic<Int>(0)
  /// Whether somebody waits for a commit that is just being written.
  private let needsCommit = Atomic<Bool>(false)
  private let failed = Atomic<Bool>(false)
  /// Whether SQLite syncs by itself for now. Of the holder of the writer lock.
  private var isSuspended = true
  /// Whether it was suspended in this scope, for a change of the journal mode.
  private var mayResume = false
  private let state = Lock(State())
  /// Syncs for tasks, which no thread waits for.
  private let worker = DispatchQueue(label: "larder.sync")

  private struct State {
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

    func batch(for position: Int) -> SyncBatch {
      isSyncing && position <= upTo ? current : gathering
    }
  }

  /// Shares the syncs of a connection that writes durably to a write-ahead log; nil for any other.
  ///
  /// Without a file system that leaves the bytes beside a write alone, SQLite pads the log to whole
  /// sectors at each sync, which only its own synchronous FULL does.
  init?(sharing database: Database) {
    guard let handle = database.connection.usableHandle, larder_has_safe_overwrite(handle) != 0
    else { return nil }
    self.handle = handle
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
    suspend(database)
  }

  /// Syncs what there is, and leaves further syncs to SQLite: before it closes the file of the log. With
  /// the writer lock held.
  func suspend(_ database: Database) {
    guard !isSuspended else { return }
    // A failure is told by the next call.
    try? wait(for: committed.load(ordering: .acquiring))
    while state.withLock({ $0.isSyncing }) { usleep(50) }
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

  // MARK: Waiting

  /// Whether there is nothing to wait for: everything up to the position is on disk, or was announced
  /// and given up, and what came before is on disk.
  private func isDurable(_ position: Int) -> Bool {
    let synced = synced.load(ordering: .acquiring)
    return synced >= position || synced >= announced.load(ordering: .sequentiallyConsistent)
  }

  /// Blocks this thread until everything up to a position is on disk. Throws where that isn't known.
  func wait(for position: Int) throws {
    if synced.load(ordering: .acquiring) >= position { return }
    while true {
      switch state.withLock({ next(position, &$0) }) {
      case .done: return
      case .failed(let error): throw error
      case .lead: lead()
      case .sleep(let batch, let value):
        larder_futex_wait(batch.word, value, -1)
        let leads = state.withLock { state in
          batch.threadCount -= 1
          // It may be the one that was woken to lead.
          return isDurable(position) && !state.isSyncing && passesOn(&state)
        }
        if leads { worker.async { self.lead() } }
      }
    }
  }

  private enum Next {
    case done
    case failed(DatabaseError)
    case lead
    case sleep(SyncBatch, UInt32)
  }

  private func next(_ position: Int, _ state: inout State) -> Next {
    if isDurable(position) { return .done }
    if let failure = state.failure { return .failed(failure) }
    if canLead(&state) { return .lead }
    let batch = state.batch(for: position)
    batch.threadCount += 1
    return .sleep(batch, batch.word.pointee.load(ordering: .acquiring))
  }

  /// Makes the caller the leader of a sync, if none runs and there is something to sync.
  private func canLead(_ state: inout State) -> Bool {
    guard !state.isSyncing, state.failure == nil else { return false }
    if !hasUnsynced {
      // What the caller waits for is just being written. First says that it waits, then looks again:
      // the writer does it the other way round.
      needsCommit.store(true, ordering: .sequentiallyConsistent)
      guard hasUnsynced else { return false }
    }
    state.isSyncing = true
    state.upTo = -1
    return true
  }

  private var hasUnsynced: Bool {
    committed.load(ordering: .sequentiallyConsistent) > synced.load(ordering: .relaxed)
  }

  /// Suspends the task until everything up to a position is on disk. Throws where that isn't known.
  func wait(for position: Int) async throws {
    if synced.load(ordering: .acquiring) >= position { return }
    try await withUnsafeThrowingContinuation {
      add(SyncBatch.Waiter(position: position, continuation: $0))
    }
  }

  private func add(_ task: SyncBatch.Waiter) {
    let (outcome, leads): (Result<Void, any Error>?, Bool) = state.withLock { state in
      if isDurable(task.position) { return (.success(()), false) }
      if let failure = state.failure { return (.failure(failure), false) }
      state.batch(for: task.position).tasks.append(task)
      return (nil, canLead(&state))
    }
    if let outcome { task.continuation.resume(with: outcome) }
    if leads { worker.async { self.lead() } }
  }

  /// Makes those who wait look again, after a commit or when one was given up.
  private func lookAgain() {
    let (over, leads) = state.withLock { state in
      needsCommit.store(false, ordering: .sequentiallyConsistent)
      let over = state.gathering.takeTasks { isDurable($0.position) }
      state.gathering.wake(Int32.max)
      return (
        over, state.gathering.threadCount == 0 && state.gathering.isWaiting && canLead(&state)
      )
    }
    for task in over { task.continuation.resume() }
    if leads { worker.async { self.lead() } }
  }

  // MARK: Syncing

  /// Syncs the log for all who have committed, then tells them.
  private func lead() {
    awaitCompany()
    let (file, upTo) = state.withLock { state in
      state.current = state.gathering
      state.gathering = SyncBatch()
      state.upTo = committed.load(ordering: .sequentiallyConsistent)
      return (state.file, state.upTo)
    }
    let start = MonotonicClock.now
    let code = file.map { larder_sync_file($0) } ?? SQLITE_OK
    let time = MonotonicClock.now - start
    let (durable, failed, failure, leads) = state.withLock { state in
      state.isSyncing = false
      let batch = state.current
      if code == SQLITE_OK {
        state.lastSync = time
        state.company = upTo - synced.load(ordering: .relaxed)
        state.syncs += 1
        state.largestGroup = max(state.largestGroup, state.company)
        synced.store(upTo, ordering: .releasing)
      } else {
        _ = fail(&state)
      }
      let durable = batch.takeTasks { isDurable($0.position) }
      var failed: [SyncBatch.Waiter] = []
      if state.failure == nil {
        state.gathering.tasks += batch.tasks
        batch.tasks = []
      } else {
        failed = batch.takeTasks { _ in true } + state.gathering.takeTasks { _ in true }
      }
      batch.wake(Int32.max)
      return (durable, failed, state.failure, passesOn(&state))
    }
    for task in durable { task.continuation.resume() }
    if let failure { for task in failed { task.continuation.resume(throwing: failure) } }
    if leads { worker.async { self.lead() } }
  }

  /// Wakes a thread that waits, to lead the next sync; true where the worker is to lead, since only
  /// tasks wait.
  private func passesOn(_ state: inout State) -> Bool {
    guard state.gathering.isWaiting else { return false }
    guard state.gathering.threadCount == 0 else {
      state.gathering.wake(1)
      return false
    }
    return canLead(&state)
  }

  /// Where the last sync had company, waits for as many to commit again: at most a fifth of its time,
  /// and 200 µs. This is what makes two writers share a sync.
  private func awaitCompany() {
    let (company, lastSync) = state.withLock { ($0.company, $0.lastSync) }
    guard company > 1 else { return }
    let enough = synced.load(ordering: .relaxed) + company
    let deadline = MonotonicClock.now + min(lastSync / 5, .microseconds(200))
    while committed.load(ordering: .relaxed) < enough, MonotonicClock.now < deadline {
      for _ in 0..<50 { larder_pause() }
      sched_yield()
    }
  }

  /// Ends everything, after a sync that failed, here or in SQLite: wakes the threads that wait.
  private func fail(_ state: inout State) -> DatabaseError {
    let failure =
      state.failure
      ?? DatabaseError(
        .ioErrorFsync,
        """
        the log could not be synced: what was committed last is written, but not known to be durable; \
        close the database and open it anew
        """)
    state.failure = failure
    failed.store(true, ordering: .releasing)
    state.gathering.wake(Int32.max)
    return failure
  }

  /// Notes that SQLite itself could not sync: at the head of the log, or in a checkpoint.
  func hasFailedToSync() {
    let (tasks, failure) = state.withLock { state in
      let failure = fail(&state)
      return (state.gathering.takeTasks { _ in true }, failure)
    }
    for task in tasks { task.continuation.resume(throwing: failure) }
  }

  /// What was synced, for the statistics.
  func describe(_ statistics: inout AccessStatistics) {
    (statistics.syncs, statistics.largestGroup) = state.withLock { ($0.syncs, $0.largestGroup) }
  }

  /// Whether a sync has failed, so that nothing may be written any more.
  var hasFailed: Bool { failed.load(ordering: .relaxed) }
}
