import CSQLite
import Dispatch
import Glibc
import LarderSQLite

/// Makes the copies of a ``ContinuousBackup``, one at a time, by a connection of its own on a queue of its own.
///
/// Sendable because its variables are touched on its queue only, except those that its lock guards.
final class BackupWorker: @unchecked Sendable {
  private let location: FileLocation
  private let configuration: Configuration
  private let plan: Plan
  private let name: String
  /// The identity in the names of the database's points.
  private let identity: String
  private let owner: PointOwner
  private let drafts: DraftFolder
  private let queue = DispatchQueue(label: "larder.backup")
  /// Runs the program's callbacks, which may call this object.
  private let reports = DispatchQueue(label: "larder.backup.report")
  private let state = Lock(State())
  private var database: Database?
  /// The value of `PRAGMA data_version` before the last copy. It changes with each commit of others.
  private var version: Int64?
  private var last: ContinuousBackup.Point?
  /// Incremented when the next copy is planned, which makes earlier plans void.
  private var turn = 0

  struct Plan {
    let interval: Duration
    let count: Int
    let check: CopyCheck
    let onFailure: (@Sendable (any Error) -> Void)?
  }

  private struct State {
    var statistics = ContinuousBackup.Statistics()
    var isPaused = false
    var hasEnded = false
    /// The handle that interrupts the check of a copy.
    var running: InterruptHandle?
    /// When the copy that is being made has begun.
    var since: Duration?
  }

  /// The longest pause after a failure.
  private static let longestPause = Duration.seconds(30)

  /// - Parameter another: gives the database another identity, if another file makes points with this one.
  init(
    of location: FileLocation, _ identity: DatabaseIdentity, _ configuration: Configuration,
    into folder: String, _ plan: Plan, another: () throws -> DatabaseIdentity
  ) throws {
    self.location = location
    self.plan = plan
    var configuration = configuration.forCopying
    configuration.optimizesOnClose = false
    // A small cache suffices, since each page is read once.
    configuration.cacheSize = 1 << 20
    self.configuration = configuration
    let path = try DraftFolder.make(folder, for: "a continuous backup")
    name = FileLocation.name(at: location.path)
    // A folder that can't be written to just now is reported by each copy.
    let owner = PointOwner(of: identity, at: location, in: path)
    let isOwn = (try? owner.claim(succeeds: true)) ?? true
    let ownIdentity = isOwn ? identity : try another()
    self.identity = ownIdentity.text
    let longest = try PointName(of: name, at: 0, owner: self.identity).text()
    guard longest.utf8.count <= NAME_MAX else {
      throw DatabaseError(
        .cannotOpen,
        "the name of the database file is too long for the names of its copies: \(name)")
    }
    self.owner = isOwn ? owner : PointOwner(of: ownIdentity, at: location, in: path)
    drafts = DraftFolder(path)
  }

  // MARK: When

  func begin() {
    queue.async { [weak self] in
      // A process that was killed after it had named a copy may have left one too many.
      self?.prune()
      self?.copyWhenDue()
    }
  }

  /// Makes the copy that is due, and plans the next one.
  private func copyWhenDue() {
    guard !isBarred else { return }
    let start = MonotonicClock.now
    let outcome = Result { try copy {} }
    guard !isBarred else { return }
    switch outcome {
    case .success: plan(at: start + plan.interval)
    case .failure(let error):
      report(error)
      plan(at: start + min(plan.interval, Self.longestPause))
    }
  }

  private func plan(at time: Duration) {
    turn += 1
    let turn = turn
    queue.asyncAfter(deadline: .now() + (time - MonotonicClock.now).dispatchInterval) {
      [weak self] in
      if let self, self.turn == turn { self.copyWhenDue() }
    }
  }

  /// Whether copies are barred: the worker has ended, or the queue or pool is just being closed.
  var isBarred: Bool { state.withLock { $0.isPaused || $0.hasEnded } }

  private func report(_ error: any Error) {
    let (configuration, onFailure, path) = (configuration, plan.onFailure, location.path)
    reports.async {
      if var error = error as? DatabaseError {
        if error.path == nil { error.path = path }
        _ = configuration.reporting(error)
      }
      onFailure?(error)
    }
  }

  func copyNow() throws -> ContinuousBackup.Point {
    try queue.sync { try copy {} }
  }

  func copyNow() async throws -> ContinuousBackup.Point {
    let isCancelled = Lock(false)
    return try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { continuation in
        queue.async {
          continuation.resume(
            with: Result {
              try self.copy { if isCancelled.withLock({ $0 }) { throw CancellationError() } }
            })
        }
      }
    } onCancel: {
      isCancelled.withLock { $0 = true }
    }
  }

  // MARK: How

  /// Makes a copy, unless nothing has changed since the last one.
  ///
  /// - Parameter checkCaller: throws if the caller doesn't want the copy any more.
  private func copy(_ checkCaller: () throws -> Void) throws -> ContinuousBackup.Point {
    func check() throws {
      guard !isBarred else { throw DatabaseError(.misuse, "the continuous backup has ended") }
      try checkCaller()
    }
    do {
      try check()
      let point = try copyIfChanged(check)
      state.withLock { $0.statistics.error = nil }
      return point
    } catch {
      // The connection may be at fault.
      close()
      try check()
      state.withLock { state in
        state.statistics.failures += 1
        state.statistics.error = error
      }
      throw error
    }
  }

  private func copyIfChanged(_ check: () throws -> Void) throws -> ContinuousBackup.Point {
    let database = try open()
    _ = try database.fileLocation()
    // Read before the snapshot, so that a commit in between is copied twice rather than never.
    let version = try database.value("PRAGMA data_version", as: Int64.self)
    if let last, version == self.version, access(last.path, F_OK) == 0 {
      state.withLock { $0.statistics.unchanged += 1 }
      return last
    }
    let start = MonotonicClock.now
    state.withLock { $0.since = start }
    defer { state.withLock { $0.since = nil } }
    let draft = try drafts.draft()
    defer { drafts.discard(draft) }
    try checkOwner()
    let time = Self.now
    defer { state.withLock { $0.running = nil } }
    try database.copy(verifiedBy: plan.check, into: draft) { handle in
      state.withLock { $0.running = handle }
    } progress: { _, _ in
      try check()
    }
    try check()
    let point = try publish(draft, at: time)
    (self.version, last) = (version, point)
    state.withLock { state in
      state.statistics.copies += 1
      state.statistics.duration = MonotonicClock.now - start
    }
    prune()
    // The allocator would keep the memory of the copy's connections.
    larder_trim_memory()
    return point
  }

  /// Throws if another database makes points with this identity by now.
  private func checkOwner() throws {
    guard try !owner.claim(succeeds: false) else { return }
    throw DatabaseError(
      .cannotOpen,
      """
      another file with the same identity has its copies in \(drafts.path) by now; \
      begin this backup anew, and it gets another identity
      """)
  }

  private static var now: Int {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
  }

  private func open() throws -> Database {
    if let database { return database }
    var configuration = configuration
    configuration.log = nil
    let opened = try Database(at: location, configuration: configuration)
    version = nil
    database = opened
    return opened
  }

  private func close() {
    database?.closeEverything()
    database = nil
  }

  /// Gives a copy its name. If the clock was set back, the copy's time is just after the newest one's. A copy
  /// of another process that was begun later and finished sooner stays the newer one.
  private func publish(_ draft: String, at time: Int) throws -> ContinuousBackup.Point {
    let newest = try kept().last?.milliseconds ?? time
    var name = pointName(at: newest > Self.now ? newest + 1 : time)
    while try !NewFile.publish(draft, as: drafts.path + "/" + name.text()) {
      name = pointName(at: name.milliseconds + 1)
    }
    guard let point = name.point(in: drafts.path) else {
      throw DatabaseError(.cannotOpen, "the copy is gone: \(try name.text())")
    }
    return point
  }

  private func pointName(at milliseconds: Int) -> PointName {
    PointName(of: name, at: milliseconds, owner: identity)
  }

  /// The beginning of the year 9000. Names with later times are ignored, since a copy just after them might
  /// have no name.
  private static let endOfTimes = 221_845_392_000_000

  /// The copies of this database in the folder, the oldest first. Copies of other databases are left alone,
  /// even if these have the same name.
  private func kept() throws -> [PointName] {
    var kept = try drafts.names().compactMap { PointName($0) }.filter {
      $0.owner == identity && $0.database.isSame(as: name) && $0.milliseconds < Self.endOfTimes
    }
    .sorted { $0.milliseconds < $1.milliseconds }
    // Nor can a copy be dated after those that leave no time before the end.
    var end = Self.endOfTimes
    while let last = kept.last, last.milliseconds >= end - 1 {
      end = last.milliseconds
      kept.removeLast()
    }
    return kept
  }

  /// Removes the oldest copies beyond the number to keep. A copy that can't be removed is tried again after
  /// the next one.
  private func prune() {
    // If the record can't be written, there is no other one in it.
    guard let kept = try? kept(), (try? owner.claim(succeeds: false)) != false else { return }
    for name in kept.dropLast(plan.count) {
      guard let text = try? name.text() else { continue }
      NewFile.remove("\(drafts.path)/\(text)")
    }
  }

  func points() throws -> [ContinuousBackup.Point] {
    try kept().compactMap { $0.point(in: drafts.path) }
  }

  var statistics: ContinuousBackup.Statistics { state.withLock { $0.statistics } }

  // MARK: The end

  /// Begins no more copies, and gives up the one that is being made.
  func end() {
    bar { $0.hasEnded = true }
    queue.async {
      self.close()
      self.drafts.close()
    }
  }

  private func bar(_ change: (inout State) -> Void) {
    let running = state.withLock { state in
      change(&state)
      return state.running
    }
    running?.interrupt()
  }

  /// Waits until no copy is under way.
  func wait() { queue.sync {} }
}

extension BackupWorker: AccessCompanion {
  var currentWork: (label: String, since: Duration)? {
    state.withLock { $0.since }.map { ("a continuous backup", $0) }
  }

  func pause() {
    bar { $0.isPaused = true }
    queue.sync { close() }
  }

  func resume() {
    state.withLock { $0.isPaused = false }
    begin()
  }

  func abandon() { end() }
}
