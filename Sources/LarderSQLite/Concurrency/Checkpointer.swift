import Dispatch
import Synchronization

/// Checkpoints of a pool's write-ahead log, by a connection of its own: no caller's commit has to do it.
///
/// After so many frames what can be moved into the file is moved (a passive checkpoint), beside readers and
/// writers. That bounds the log only where now and then nobody reads: the log can begin anew only when
/// all of it is in the file and no reader needs it. So past a quarter of
/// ``Configuration/journalSizeLimit`` new readers are kept waiting until those that read have ended, and
/// the log is made to begin anew. Readers wait for no more than 60 ms then (160 ms once the log is twice as long),
/// and for as long as it takes to move what the last of them had needed; where one takes longer, it is tried again
/// later, with back-off.
///
/// Writers may be faster than all that, where the disk or the processor is slow or busy. So once the log has
/// the limit's whole size, who writes reserves the writer lock for the checkpoint (back-pressure): no
/// commit follows until the log begins anew, or a reader has been waited for in vain.
///
/// Each of these checkpoints runs under a ``LogRestartGuard``, so that the log begins anew under none.
///
/// See [Write-Ahead Logging](https://www.sqlite.org/wal.html#avoiding_excessively_large_wal_files).
///
/// What makes it Sendable: it has no state but atomics; the rest is touched on its queue only.
final class Checkpointer: @unchecked Sendable {
  private let location: FileLocation?
  private let configuration: Configuration
  private let writer: WriterLock
  private let readers: Readers
  private let groupCommit: GroupCommit?
  private let worker = DispatchQueue(label: "larder.checkpoint")
  /// Opens the gate before the readers in time.
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
  /// The number of frames past which it is reserved again.
  private let reservation = Atomic<Int>(0)

  /// Held while a checkpoint is made, of which SQLite allows one at a time, by this or by a caller.
  let checkpoints = Lock(0)

  private var database: Database?
  private var isClosed = false
  private var failures = 0
  private var notBefore = Duration.zero

  /// How long others are kept waiting at most: for the readers, then for the writer, then for what is
  /// left to be moved.
  private static let patience = Duration.milliseconds(50)
  /// The same for readers, once the log is far too long, and for a scope that holds the writer lock then.
  private static let longestPatience = Duration.milliseconds(150)
  /// How long readers of other processes are waited for meanwhile.
  private static let foreignPatience = Duration.milliseconds(10)
  /// For how long readers are kept out beyond that at most, where the disk takes its time for what they had needed.
  private static let longestDelay = Duration.milliseconds(200)
  private static let call = ScopeCall("a checkpoint")

  init(
    location: FileLocation?, configuration: Configuration, pageSize: Int, writer: WriterLock,
    readers: Readers, groupCommit: GroupCommit?
  ) {
    self.location = location
    self.configuration = configuration
    self.writer = writer
    self.readers = readers
    self.groupCommit = groupCommit
    let bytes = (configuration.journalSizeLimit.flatMap { $0 >= 0 ? $0 : nil } ?? 64 << 20) / 4
    limit = max(1, bytes / max(512, pageSize))
  }

  /// Notes a commit. With the writer lock held.
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
    // After a failed sync the log is what the next process recovers from.
    guard !isClosed, groupCommit?.hasFailed != true, let database = open() else { return }
    // What it reports is nobody's error: the log stays, and a later commit has it tried again.
    guard let state = try? database.checkpoint(.passive) else { return }
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

  /// Makes the log begin anew in the turn of a writer, which was reserved for that.
  private func run(in turn: WaitingThread) {
    defer { isReserved.store(false, ordering: .relaxed) }
    // Where that fails, more is written before the lock is reserved again.
    var next = frames.load(ordering: .relaxed) + limit
    defer { reservation.store(next, ordering: .relaxed) }
    // A scope that goes on for longer, with commits of its own, keeps the lock.
    guard writer.redeem(turn, Self.call, within: Self.longestPatience) else { return }
    defer { writer.release() }
    guard !isClosed, groupCommit?.hasFailed != true, let database = open(),
      (try? database.checkpoint(.passive)) != nil
    else { return }
    defer { readers.letIn() }
    letInLater(within: Self.longestPatience)
    guard readers.keepOut(within: Self.longestPatience),
      (try? database.checkpoint(.restart)) != nil
    else { return }
    next = 0
    failures = 0
  }

  /// Makes the log begin anew, with everybody else kept waiting.
  private func beginAnew(_ database: Database, _ frames: Int, _ step: Int) -> Bool {
    // What has come meanwhile is moved beforehand, so that little is left to do while others wait.
    for _ in 0..<3 {
      guard let state = try? database.checkpoint(.passive) else { return false }
      if state.logFrames - state.checkpointed < step { break }
    }
    let patience = frames < 2 * limit ? Self.patience : Self.longestPatience
    return (try? alone(database, within: patience) { try database.checkpoint(.restart) }) != nil
  }

  /// Calls a closure while nobody reads or writes; throws where they don't end in time. Readers wait for the
  /// shortest time: what can be moved and synced beside them is, once nobody writes any more.
  private func alone<T>(
    _ database: Database, within patience: Duration, _ body: () throws -> T
  ) throws -> T {
    guard (try? writer.acquire(Self.call, within: Self.patience)) != nil else {
      throw DatabaseError(.busy, "writers are in the way of a checkpoint")
    }
    defer { writer.release() }
    _ = try database.checkpoint(.passive)
    defer {
      attempts.add(1, ordering: .relaxed)
      readers.letIn()
    }
    letInLater(within: patience)
    guard readers.keepOut(within: patience) else {
      throw DatabaseError(.busy, "readers are in the way of a checkpoint")
    }
    return try body()
  }

  /// Lets others read again also where the disk takes its time: then this checkpoint may be in vain.
  private func letInLater(within patience: Duration) {
    let attempt = attempts.add(1, ordering: .relaxed).newValue
    let limit = patience + Self.longestDelay
    gate.asyncAfter(deadline: .now() + limit.dispatchInterval) { [weak self] in
      guard let self, attempts.load(ordering: .relaxed) == attempt else { return }
      readers.letIn()
    }
  }

  /// Makes a checkpoint for a caller, which waits for readers and writers: up to the busy timeout, while
  /// these are kept waiting for a fifth of a second at a time.
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
          return try alone(database, within: Self.longestPatience) {
            try database.checkpoint(mode)
          }
        }
      } catch let error as DatabaseError where error.isBusy && MonotonicClock.now < deadline {
        BusyHandler.sleep(.milliseconds(10))
      }
    }
  }

  /// Calls a closure on the worker, and waits for it for little longer than until a deadline: it may be the disk that
  /// doesn't answer.
  private func runOnWorker<T: Sendable>(
    until deadline: Duration, _ body: @escaping @Sendable () throws -> T
  ) throws -> T {
    let outcome = Lock<Result<T, any Error>?>(nil)
    let isGivenUp = Lock(false)
    let group = DispatchGroup()
    group.enter()
    worker.async {
      if !isGivenUp.withLock({ $0 }) {
        let result = Result { try body() }
        outcome.withLock { $0 = result }
      }
      group.leave()
    }
    let limit = max(.zero, deadline - MonotonicClock.now) + .milliseconds(500)
    guard group.wait(timeout: .now() + limit.dispatchInterval) == .success,
      let result = outcome.withLock({ $0 })
    else {
      isGivenUp.withLock { $0 = true }
      throw DatabaseError(.busyTimeout, "the checkpoint waits for the disk, or for another one")
    }
    return try result.get()
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
      database?.connection.keepsRestartGuard = true
      database?.connection.onSyncFailure = { [groupCommit] in groupCommit?.hasFailedToSync() }
    }
    return database
  }

  /// Closes the connection, until the next checkpoint.
  func release() {
    worker.sync {
      database?.closeEverything()
      database = nil
    }
  }

  /// Waits for a checkpoint that runs, and makes no more.
  func close() {
    worker.sync {
      isClosed = true
      database?.closeEverything()
      database = nil
    }
  }
}
