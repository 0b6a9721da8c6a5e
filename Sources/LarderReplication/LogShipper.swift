import CSQLite
import Dispatch
import FoundationEssentials
import Glibc
import LarderSQLite

/// Ships the log of a database, one object at a time, on a queue of its own.
///
/// Nothing of it runs within a commit: once per interval it reads the header of the log's index, which takes a
/// microsecond. So an idle database costs as much, and commits of other processes are seen like those of this
/// one.
///
/// Sendable because its variables are touched on its queue only, except those that its lock guards.
final class LogShipper: @unchecked Sendable {
  let location: FileLocation
  let configuration: Configuration
  let plan: ReplicationPlan
  let sink: any LogSink
  /// The prefix of the database's objects.
  let prefix: String
  let identity: UInt64
  /// Waits until what was committed so far is on disk.
  let waitUntilDurable: @Sendable () throws -> Void
  let queue: DispatchQueue
  /// Moves the mark while the sink doesn't answer.
  private let marks: DispatchQueue
  private let upkeep: DispatchQueue
  /// Runs the program's callbacks, which may call this object.
  private let reports: DispatchQueue
  let state = Lock(State())
  var held: HeldLog? {
    didSet {
      let held = held
      holding.withLock { $0 = held }
    }
  }
  /// The same, for checkpoints on other threads.
  private let holding = Lock<HeldLog?>(nil)
  /// Whether the chain goes on with what is held.
  var isFollowing = false
  /// Whether nothing was committed since the log was held, nor before that isn't in the sink. Then the sink isn't asked
  /// for anything.
  var isUntouched = false
  var chain: LogChain?
  /// This shipper as the owner; nil before the start.
  var owner: LogOwner?
  /// When the sink was asked last for this owner's object.
  var lastWholeCheck = Duration.zero
  var table = PageTable()
  /// The object that is being sent, again and again until the sink has it.
  var pending: Pending? {
    didSet {
      let (bytes, since) = (pending?.bytes.count ?? 0, pending?.since)
      state.withLock { ($0.sentBytes, $0.sentSince) = (bytes, since) }
    }
  }
  var base: BaseProgress?
  /// The first page that isn't known to the table, where a look for such pages goes on.
  var sweep: UInt32 = 1
  var knownMigrations: Set<String>?
  /// When objects were merged and removed, and how much had been shipped by then; on the queue of its own.
  private var keptUp = (shipped: 0, at: Duration.zero)
  private var turn = 0
  /// How often shipping has failed in a row.
  var failures = 0
  private var nextSegment = Duration.zero
  private var lastForeignCheckpoint = Duration.zero

  struct State {
    var statistics = ReplicatedDatabase.Statistics()
    var isPaused = false
    var hasEnded = false
    /// When the running step has begun; nil if none runs.
    var since: Duration?
    /// Another owner has the log: nothing is shipped any more.
    var lost: DatabaseError?
    var requested = 0
    var served = 0
    var isKicked = false
    var beginnings = 0
    /// The owner's number; nil before the start.
    var epoch: Int?
    /// The bytes on their way to the sink, and since when the oldest of them have waited.
    var sentBytes = 0
    var sentSince: Duration?
    var waiters: [ShipRequest] = []
  }

  /// An object on its way, and what follows once the sink has it.
  struct Pending {
    let name: String
    let bytes: [UInt8]
    /// When the oldest change in it was noted; nil for none.
    var since: Duration?
    let completion: (LogShipper) -> Void
  }

  /// The pause between two moves of the mark while anything is committed.
  private static let shortPause = Duration.milliseconds(50)
  private static let upkeepInterval = Duration.seconds(600)
  /// After so many owners, objects are merged and removed at once.
  private static let epochsBetweenUpkeeps = 16
  /// The longest pause after a failure.
  private static let longestPause = Duration.seconds(30)

  init(
    of location: FileLocation, _ identity: DatabaseIdentity, _ configuration: Configuration,
    into sink: any LogSink, _ prefix: String, _ plan: ReplicationPlan,
    waitUntilDurable: @escaping @Sendable () throws -> Void
  ) {
    self.location = location
    self.configuration = configuration
    self.sink = sink
    self.prefix = prefix
    self.plan = plan
    self.identity = UInt64(identity.text, radix: 16) ?? 0
    self.waitUntilDurable = waitUntilDurable
    let queues = plan.threads?.queues() ?? ShippingQueues()
    (queue, marks, upkeep, reports) = (queues.shipping, queues.marks, queues.upkeep, queues.reports)
  }

  // MARK: When

  /// Begins to ship. Throws what keeps it from taking the mark, or the sink's errors at the start.
  func start() throws {
    guard plan.isLazy else { return try queue.sync { _ = try open() } }
    // Nobody else has this object yet, and others' work on its queue may wait for their sinks.
    let held = try HeldLog(of: location, configuration)
    self.held = held
    isUntouched =
      held.length == 0 && access(PageTable.path(for: location.path), F_OK) == 0
      && access(Self.unshippedPath(for: location.path), F_OK) != 0
  }

  func begin() {
    queue.async { [weak self] in self?.work() }
    let beginning = state.withLock { state in
      state.beginnings += 1
      return state.beginnings
    }
    upkeep.repeats(after: Self.upkeepInterval) { [weak self] in self?.keepUp(beginning) ?? false }
    moveMarks(beginning, soon: 0)
  }

  /// Moves the mark, whatever the sink does: it holds up other processes' checkpoints, which in their turn hold up
  /// writers. So the mark moves once per interval, and more often while anything is committed.
  ///
  /// - Parameter soon: how many of the next times are early ones. A checkpoint of the kind RESTART waits up to
  ///   three times: for the end of the log, for a mark of an empty one, and for the pages in between.
  private func moveMarks(_ beginning: Int, soon: Int) {
    let pause = soon > 0 ? min(plan.interval, Self.shortPause) : plan.interval
    marks.asyncAfter(deadline: .now() + pause.dispatchInterval) { [weak self] in
      guard let self else { return }
      var hasNews = false
      if let held = holding.withLock({ $0 }) {
        hasNews = (try? held.hasNews) ?? false
        held.moveMark()
        // A log that can't be followed isn't held up to the next attempt to ship.
        if held.hasFailed { held.close() }
        describe(held)
      }
      let goesOn = state.withLock {
        !($0.isPaused || $0.hasEnded || $0.lost != nil) && $0.beginnings == beginning
      }
      if goesOn { moveMarks(beginning, soon: hasNews ? 3 : max(0, soon - 1)) }
    }
  }

  /// Merges and removes objects, if any were added since the last time. Returns whether to go on.
  private func keepUp(_ beginning: Int) -> Bool {
    let (goesOn, shipped) = state.withLock {
      (
        !$0.hasEnded && $0.lost == nil && $0.beginnings == beginning,
        $0.statistics.segments + $0.statistics.generations
      )
    }
    let now = MonotonicClock.now
    guard goesOn, shipped != keptUp.shipped || now - keptUp.at > .seconds(86_400) else {
      return goesOn
    }
    do {
      try keepUp(asAt: HeldLog.milliseconds)
      keptUp = (shipped, now)
    } catch {
      // It is tried again next time.
      report(error)
    }
    return true
  }

  /// Has objects merged and removed at once if it is this owner's turn: databases of a fleet may never be open for as long
  /// as the interval between such times.
  func keepUpSoon(_ epoch: Int) {
    guard plan.isLazy, epoch % Self.epochsBetweenUpkeeps == 0 else { return }
    upkeep.async {
      do {
        try self.keepUp(asAt: HeldLog.milliseconds)
      } catch {
        self.report(error)
      }
    }
  }

  /// Merges and removes objects as if it were a moment, in milliseconds since 1970.
  func keepUp(asAt now: Int) throws {
    let (found, owner, pendingBase) = queue.sync { (chain, self.owner, base?.start) }
    guard let found, let owner, found.hasBase else { return }
    let done = try LogUpkeep(
      sink: sink, prefix: prefix, keeping: plan.keeping, owner: owner,
      current: found.position, pendingBase: pendingBase, now: now
    ).run()
    // A merged chain is shorter, so that the next whole copy can wait.
    guard let done else { return }
    queue.sync {
      guard let chain, chain.generation == found.generation, base == nil, pendingBase == nil,
        done.base.start == chain.baseStart
      else { return }
      self.chain?.bytesSinceBase = done.chain + chain.bytesSinceBase - found.bytesSinceBase
    }
  }

  /// Has the next segment cut at once.
  func kick() {
    let isFirst = state.withLock { state in
      defer { state.isKicked = true }
      return !state.isKicked
    }
    guard isFirst else { return }
    queue.async { [weak self] in
      self?.state.withLock { $0.isKicked = false }
      self?.nextSegment = .zero
      self?.work()
    }
  }

  var isBarred: Bool { state.withLock { $0.isPaused || $0.hasEnded || $0.lost != nil } }

  private func work() {
    guard !isBarred else { return }
    state.withLock { $0.since = MonotonicClock.now }
    defer { state.withLock { $0.since = nil } }
    do {
      let isBusy = try step()
      failures = 0
      state.withLock { $0.statistics.error = nil }
      plan(after: isBusy ? .zero : max(.zero, nextSegment - MonotonicClock.now))
    } catch {
      guard !isBarred else {
        // After the loss of the log, it isn't held any more either.
        if state.withLock({ $0.lost != nil }) { releaseMark() }
        return
      }
      if held?.hasFailed == true {
        releaseMark()
        base = nil
      }
      note(error)
      failures += 1
      plan(
        after: min(
          max(plan.interval, .milliseconds(50)) * (1 << min(failures - 1, 10)), Self.longestPause))
    }
  }

  private func plan(after pause: Duration) {
    turn += 1
    let turn = turn
    queue.asyncAfter(deadline: .now() + pause.dispatchInterval) { [weak self] in
      if let self, self.turn == turn { self.work() }
    }
  }

  func note(_ error: any Error) {
    state.withLock { state in
      state.statistics.failures += 1
      state.statistics.error = error
    }
    report(error)
  }

  func report(_ error: any Error) {
    let (configuration, onFailure, path) = (configuration, plan.onFailure, location.path)
    reports.async {
      if var error = error as? DatabaseError {
        if error.path == nil { error.path = path }
        _ = configuration.reporting(error)
      }
      onFailure?(error)
    }
  }

  // MARK: Steps

  /// Ships what there is, and a part of a whole copy. Returns whether there is more to do at once.
  private func step() throws -> Bool {
    try sendPending()
    let request = state.withLock { $0.requested }
    let isAsked = state.withLock { $0.requested > $0.served }
    if isUntouched, !isAsked {
      nextSegment = MonotonicClock.now + plan.interval
      checkWhetherTouched()
      if isUntouched { return false }
      nextSegment = .zero
    }
    let held = try open()
    try held.checkFile()
    if isAsked || MonotonicClock.now >= nextSegment {
      nextSegment = MonotonicClock.now + plan.interval
      try ship(held)
      if chain?.hasBase == true {
        // Another owner may have begun while the last object was on its way, and not have found that.
        if isAsked { try checkOwner(isQuick: false) }
        serve(upTo: request)
      }
      checkpointIfLong(held)
      beginBaseIfLong()
    }
    return try continueBase(held) || continueTable(held)
  }

  /// Ships all that has changed, as one segment or, if that is too large, several of which the last is a
  /// commit.
  func ship(_ held: HeldLog) throws {
    try held.advance()
    defer { describe(held) }
    while held.backlog.pages > 0 {
      guard !isBarred else { return }
      let pages = try held.take(atMost: max(1, plan.objectSize / held.pageSize))
      try checkMigrations(held)
      try prepareSegment(pages)
      try sendPending()
      if pages.isCommit { return }
      // Pages may have changed again meanwhile.
      try held.advance()
    }
  }

  /// Has the log begin anew if it is too long. The queue's or pool's own checkpoints do that as a rule; but if
  /// only other processes write, nobody asks for one.
  private func checkpointIfLong(_ held: HeldLog) {
    let limit = (configuration.journalSizeLimit.flatMap { $0 >= 0 ? $0 : nil } ?? 64 << 20) / 2
    guard held.length * held.pageSize > limit,
      MonotonicClock.now - lastForeignCheckpoint > .seconds(1)
    else { return }
    lastForeignCheckpoint = MonotonicClock.now
    var configuration = configuration.forCopying
    configuration.prepareDatabase = nil
    configuration.extensions = []
    configuration.trace = nil
    configuration.log = nil
    configuration.busyTimeout = .milliseconds(10)
    guard let database = try? Database(at: location, configuration: configuration) else { return }
    defer { database.closeEverything() }
    database.connection.logHolding = LogHolding(self)
    // If somebody is in the way, this is tried again.
    _ = try? database.checkpoint(.restart)
  }

  private func describe(_ held: HeldLog) {
    let (pages, since) = held.backlog
    let bytes = pages * held.pageSize
    state.withLock { state in
      state.statistics.pendingBytes = bytes + state.sentBytes
      state.statistics.pendingSince = state.sentSince ?? since
    }
  }
}

extension LogShipper: LogHolder {
  func moveMark() { holding.withLock { $0 }?.moveMark() }
}
