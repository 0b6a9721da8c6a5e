import Dispatch
import Synchronization

/// Checkpoints a pool's write-ahead log by a connection of its own, so that no caller's commit has to do it.
///
/// After a number of frames, a passive checkpoint moves what it can into the file, beside readers and
/// writers. That bounds the log only if now and then nobody reads: the log can begin anew only when all of it
/// is in the file and no reader needs it. So past a quarter of ``Configuration/journalSizeLimit`` new readers
/// are kept waiting until the current ones have ended, and the log is made to begin anew. Readers then wait
/// at most 60 ms (160 ms once the log is twice as long), and as long as it takes to move what the last of
/// them had needed. If a reader takes longer, the checkpoint is tried again later, with back-off.
///
/// Writers may be faster than all that, if the disk or the processor is slow or busy. So once the log has the
/// limit's whole size, the commit reserves the writer lock for the checkpoint (back-pressure): no other
/// commit follows until the log begins anew, or a reader has been waited for in vain.
///
/// Each of these checkpoints runs under a ``LogRestartGuard``, so that the log doesn't begin anew meanwhile.
///
/// See [Write-Ahead Logging](https://www.sqlite.org/wal.html#avoiding_excessively_large_wal_files).
///
/// Sendable because it has no state except atomics; the rest is touched on its queue only.
final class Checkpointer: @unchecked Sendable {
  private let location: FileLocation?
  private let configuration: Configuration
  private let writer: WriterLock
  private let readers: ConnectionPool
  private let groupCommit: GroupCommit?
  private let logHolding: LogHolding
  private let checkpointWork: TimedWork
  private let worker = DispatchQueue(label: "larder.checkpoint")
  /// Opens the readers' gate again when the time is up.
  private let gate = DispatchQueue(label: "larder.checkpoint.gate")
  private let attempts = Atomic<Int>(0)
  private let isScheduled = Atomic<Bool>(false)
  /// The number of frames at which there is something to do.
  private let threshold = Atomic<Int>(0)
  private let frames = Atomic<Int>(0)
  /// The number of frames past which the log is to begin anew.
  private let limit: Int
  /// Whether the writer lock is reserved, or held, for a checkpoint.
  private let isReserved = Atomic<Bool>(false)
  /// The number of frames past which the writer lock is reserved again.
  private let reservation = Atomic<Int>(0)

  /// Held during a checkpoint, of this object or of a caller: SQLite allows one at a time.
  let checkpoints = Lock(0)

  private var database: Database?
  private var isClosed = false
  private var failures = 0
  private var notBefore = Duration.zero

  /// How long a checkpoint waits at most, for the writer lock and then for the readers.
  private static let patience = Duration.milliseconds(50)
  /// The same once the log is far too long, for the readers and for a scope that holds the writer lock.
  private static let longestPatience = Duration.milliseconds(150)
  /// How long a checkpoint then waits for the readers of other processes.
  private static let foreignPatience = Duration.milliseconds(10)
  /// How much longer readers are kept out at most, while a slow disk moves what they had needed.
  private static let longestDelay = Duration.milliseconds(200)
  private static let call = ScopeCall("a checkpoint")

  init(
    beside writer: Writer, _ readers: ConnectionPool, _ configuration: Configuration
  ) throws {
    location = writer.location
    self.configuration = configuration
    self.writer = writer.lock
    self.readers = readers
    groupCommit = writer.groupCommit
    logHolding = writer.logHolding
    checkpointWork = writer.checkpointWork
    let bytes = (configuration.journalSizeLimit.flatMap { $0 >= 0 ? $0 : nil } ?? 64 << 20) / 4
    limit = max(1, bytes / max(512, try writer.database.pageSize))
  }

  /// Notes a commit. The caller holds the writer lock.
  func hasCommitted(frames count: Int, interval: Int) {
    let step = min(interval, limit)
    if count < frames.load(ordering: .relaxed) {
      threshold.store(0, ordering: .relaxed)
      reservation.store(0, ordering: .relaxed)
    }
    frames.store(count, ordering: .relaxed)
    if step > 0, count >= max(4 * limit, reservation.load(ordering: .relaxed)),
      !isReserved.exchange(true, ordering: .relaxed)
    {
      let turn = writer.reserve()
      return worker.async { self.run(in: turn) }
    }
    guard step > 0, count >= max(step, threshold.load(ordering: .relaxed)),
      !isScheduled.exchange(true, ordering: .relaxed)
    else { return }
    worker.async { [weak self] in self?.run(step) }
  }

  private func run(_ step: Int) {
    defer { isScheduled.store(false, ordering: .relaxed) }
    // After a failed sync, the next process recovers from the log.
    guard !isClosed, groupCommit?.hasFailed != true, let database = open() else { return }
    // A failed checkpoint is retried later, so its error isn't thrown: the log stays, and a later commit
    // tries again.
    guard let state = reporting({ try database.checkpoint(.passive) }) else { return }
    threshold.store(state.logFrames + step, ordering: .relaxed)
    guard state.logFrames >= limit, MonotonicClock.now >= notBefore,
      !isReserved.load(ordering: .relaxed)
    else { return }
    if beginAnew(database, state.logFrames, step) {
      failures = 0
      threshold.store(0, ordering: .relaxed)
    } else {
      failures += 1
      notBefore = MonotonicClock.now + .milliseconds(20 << min(failures, 4))
    }
  }

  /// Makes the log begin anew, in a turn of the writer lock that was reserved for that.
  private func run(in turn: WaitingThread) {
    defer { isReserved.store(false, ordering: .relaxed) }
    // If that fails, more is written before the lock is reserved again.
    var next = frames.load(ordering: .relaxed) + limit
    defer { reservation.store(next, ordering: .relaxed) }
    // A scope that lasts longer, with commits of its own, keeps the lock.
    guard writer.redeem(turn, Self.call, within: Self.longestPatience) else { return }
    defer { writer.release() }
    guard !isClosed, groupCommit?.hasFailed != true, let database = open(),
      (try? checkpointWithoutReaders(database, .restart, within: Self.longestPatience)) != nil
    else { return }
    next = 0
    failures = 0
  }

  /// Makes the log begin anew while everybody else is kept waiting.
  private func beginAnew(_ database: Database, _ frames: Int, _ step: Int) -> Bool {
    // Recent commits are moved beforehand, so that little is left to do while others wait.
    for _ in 0..<3 {
      guard let state = try? database.checkpoint(.passive) else { return false }
      if state.logFrames - state.checkpointed < step { break }
    }
    let patience = frames < 2 * limit ? Self.patience : Self.longestPatience
    return (try? checkpointAlone(database, .restart, within: patience)) != nil
  }

  /// Makes a checkpoint while nobody reads or writes; throws if they don't end in time.
  private func checkpointAlone(
    _ database: Database, _ mode: CheckpointMode, within patience: Duration
  ) throws -> (logFrames: Int, checkpointed: Int) {
    guard (try? writer.acquire(Self.call, within: Self.patience)) != nil else {
      throw DatabaseError(.busy, "writers kept the checkpoint from running")
    }
    defer { writer.release() }
    return try checkpointWithoutReaders(database, mode, within: patience)
  }

  /// Makes a checkpoint while nobody reads; throws if they don't end in time. The caller holds the writer
  /// lock. Readers wait as briefly as possible: a passive checkpoint moves and syncs what it can beside them.
  private func checkpointWithoutReaders(
    _ database: Database, _ mode: CheckpointMode, within patience: Duration
  ) throws -> (logFrames: Int, checkpointed: Int) {
    _ = try database.checkpoint(.passive)
    defer {
      attempts.wrappingAdd(1, ordering: .relaxed)
      readers.letIn()
    }
    letInLater(within: patience)
    guard readers.keepOut(within: patience) else {
      throw DatabaseError(.busy, "readers kept the checkpoint from running")
    }
    return try database.checkpoint(mode)
  }

  /// Lets others read again even if the disk takes its time. Then this checkpoint may be in vain.
  private func letInLater(within patience: Duration) {
    let attempt = attempts.wrappingAdd(1, ordering: .relaxed).newValue
    let limit = patience + Self.longestDelay
    gate.asyncAfter(deadline: .now() + limit.dispatchInterval) { [weak self] in
      guard let self, attempts.load(ordering: .relaxed) == attempt else { return }
      readers.letIn()
    }
  }

  /// Makes a checkpoint for a caller. Waits for readers and writers up to the busy timeout, and keeps them
  /// waiting for a fifth of a second at a time.
  func checkpoint(_ mode: CheckpointMode) throws -> (logFrames: Int, checkpointed: Int) {
    let deadline = MonotonicClock.now + configuration.busyTimeout
    while true {
      do {
        return try runOnWorker(until: deadline) { [self] in
          guard !isClosed else { throw DatabaseError(.misuse, "database is closed") }
          try groupCommit?.check()
          guard let database = open() else {
            throw DatabaseError(.cannotOpen, "the log can't be opened")
          }
          _ = try database.checkpoint(.passive)
          return try checkpointAlone(database, mode, within: Self.longestPatience)
        }
      } catch let error as DatabaseError where error.isBusy && MonotonicClock.now < deadline {
        BusyHandler.sleep(.milliseconds(10))
      }
    }
  }

  /// Calls a closure on the worker, and waits for it until little after a deadline, since the disk may not
  /// answer.
  private func runOnWorker(
    until deadline: Duration,
    _ body: @escaping @Sendable () throws -> (logFrames: Int, checkpointed: Int)
  ) throws -> (logFrames: Int, checkpointed: Int) {
    let outcome = Lock<Result<(logFrames: Int, checkpointed: Int), any Error>?>(nil)
    let work = DispatchWorkItem {
      let result = Result { try body() }
      outcome.withLock { $0 = result }
    }
    worker.async(execute: work)
    let limit = max(.zero, deadline - MonotonicClock.now) + .milliseconds(500)
    guard work.wait(timeout: .now() + limit.dispatchInterval) == .success,
      let result = outcome.withLock({ $0 })
    else {
      work.cancel()
      throw DatabaseError(
        .busyTimeout, "the checkpoint still waits for the disk, or for another checkpoint")
    }
    return try result.get()
  }

  /// Calls a closure for nobody who would get its error: only the log does, unless it is a lock in the way.
  private func reporting<T>(_ body: () throws -> T) -> T? {
    do {
      return try body()
    } catch {
      if var error = error as? DatabaseError, !error.isBusy {
        error.label = Self.call.name
        _ = configuration.reporting(error)
      }
      return nil
    }
  }

  private func open() -> Database? {
    if database == nil, let location {
      var configuration = configuration
      configuration.prepareDatabase = nil
      configuration.authorizer = nil
      configuration.statementDeadline = nil
      configuration.trace = nil
      configuration.log = nil
      configuration.busyTimeout = Self.foreignPatience
      database = try? Database(at: location, configuration: configuration)
      database?.checkpoints = checkpoints
      database?.connection.checkpointWork = checkpointWork
      database?.connection.keepsRestartGuard = true
      database?.connection.logHolding = logHolding
      database?.connection.onSyncFailure = { [groupCommit] in groupCommit?.hasFailedToSync() }
    }
    return database
  }

  /// Waits for a running checkpoint, and closes the connection.
  ///
  /// - Parameter makesNoMore: whether that is final; if not, the next checkpoint opens it anew.
  func close(makesNoMore: Bool) {
    worker.sync {
      if makesNoMore { isClosed = true }
      database?.closeEverything()
      database = nil
    }
  }
}
