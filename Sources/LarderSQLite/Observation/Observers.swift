import Glibc
import Synchronization

/// The observers of a queue or pool: those of values, and the feeds. Created when a queue or pool is first
/// observed; the writing connection tells it of each commit.
///
/// `@unchecked Sendable` is sound because the lock guards all state except the connections, which are
/// Sendable.
final class Observers: ScopeObserver, @unchecked Sendable {
  private weak var connections: Connections?
  private let state = Lock(ObserverRegistry())
  /// Whether the wanted rows have changed since the ``WriteFollower`` last asked.
  private let wishes = Atomic<Bool>(false)

  let thread = ObserverThread()

  private let process = ProcessGeneration.watch()

  /// The time since which the file has been missing or replaced; nil while it is in place.
  private let missingSince = Lock<Duration?>(nil)
  /// How long the file may be missing.
  private let patience: Duration

  init(_ connections: Connections, patience: Duration = .seconds(5)) {
    self.connections = connections
    self.patience = patience
  }

  deinit {
    if process == ProcessGeneration.current { state.withLock { $0.watcher?.stop() } }
  }

  // MARK: Coming and going

  /// Adds an observer of a value. It is told of every commit until its first read has ended.
  func addObserver() -> Int { state.withLock { $0.addObserver() } }

  /// Adds a feed. It follows nothing until it begins.
  func addFeed(limit: RowLog.Amount) -> Int {
    state.withLock { state in
      state.lastID += 1
      state.feeds[state.lastID] = Feed(limit: limit)
      return state.lastID
    }
  }

  func remove(_ id: Int) {
    // In a forked process the lock may be held for ever, by a thread that doesn't exist there.
    guard process == ProcessGeneration.current else { return }
    let (waiter, watcher) = state.withLock { state in
      let waiter = state.remove(id)
      wishes.store(true, ordering: .releasing)
      return (waiter, state.isUnused ? state.watcher.take() : nil)
    }
    watcher?.stop()
    waiter?.resume()
    connections?.engineObservation?.end(id)
  }

  /// Whether a value is better read before commits are reported: somebody writes now, and a reader can read
  /// meanwhile.
  var readsBeforeInstalling: Bool {
    guard let connections, connections.pool != nil, connections.writer?.lock.isHeld == true
    else { return false }
    return !state.withLock { $0.isInstalled }
  }

  /// Has another engine report its commits to an observer. Returns false if the engine is SQLite, or can't.
  func beginOnEngine(_ id: Int) async throws -> Bool {
    guard let observation = connections?.engineObservation else { return false }
    try await observation.begin(id) { [weak self] tables in
      self?.tell(tables.map { Region(tables: $0) } ?? .everything)
    }
    return true
  }

  /// Has another engine report commits to these tables from now on. Returns false if other transactions are
  /// in the way now.
  func reportCommits(to tables: Set<UInt32>) async throws -> Bool {
    struct IsInTheWay: Error {}
    do {
      try await connections?.perform(.transaction(.immediate), ScopeCall("observe()")) { db in
        guard try db.engine?.reportCommits(to: tables) != false else { throw IsInTheWay() }
      }
      return true
    } catch is IsInTheWay {
      return false
    }
  }

  /// Has the writing connection report its commits, and a feed begin. Throws ``UnsupportedByEngine`` if the
  /// engine isn't SQLite, and any error that keeps the feed from beginning.
  func install(
    _ feed: Int? = nil, following names: [String] = [],
    beginning: (@Sendable (Database) throws -> Void)? = nil
  ) async throws {
    if feed != nil || !state.withLock({ $0.isInstalled }) {
      try await connections?.perform(.plain, ScopeCall("observe()")) { [self] db in
        try WriteFollower.install(on: db, for: self)
        let follower = db.connection.follower as? WriteFollower
        let tables = Set(names.map { FollowedTable.name($0, on: db) })
        state.withLock { state in
          state.isInstalled = true
          state.path = follower?.path
          state.dateFormat = db.dateFormat
          if let feed { state.feeds[feed]?.tables = tables }
        }
        try follower?.configure(requiring: tables)
        if let feed { state.withLock { $0.feeds[feed]?.hasBegun = true } }
        try beginning?(db)
      }
    }
    let watcher = state.withLock { state -> FileWatcher? in
      guard !state.isClosed, !state.isUnused, state.watcher == nil, let path = state.path else {
        return nil
      }
      state.watcher = FileWatcher(path: path) { [weak self] in self?.lookForOthers() }
      return state.watcher
    }
    watcher?.start()
  }

  /// Whether nobody observes.
  var isUnused: Bool { state.withLock { $0.isUnused } }

  /// Whether nobody observes. If so, notes that commits are no longer reported, until they are installed
  /// anew.
  func uninstallIfUnused() -> Bool {
    state.withLock { state in
      if state.isUnused { state.isInstalled = false }
      return state.isUnused
    }
  }

  /// Ends all observations, because the queue or pool was closed.
  func hasClosed() {
    let (waiters, watcher) = state.withLock { state in
      state.isClosed = true
      let waiters =
        state.values.values.map { $0.waiter.take() } + state.feeds.values.map { $0.waiter.take() }
      return (waiters, state.watcher.take())
    }
    watcher?.stop()
    for waiter in waiters { waiter?.resume() }
  }

  /// Ends all observations with an error.
  func fail(_ error: DatabaseError) {
    state.withLock { $0.failure = error }
    hasClosed()
  }

  func check() throws {
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  /// The date format of the writing connection.
  var dateFormat: DateFormat { state.withLock { $0.dateFormat } }

  // MARK: Commits

  var hasNewWishes: Bool { wishes.load(ordering: .acquiring) }

  /// The tables of which changed row ids are wanted, and those of which whole rows are.
  var wantedRows: (rows: Set<Region.TableName>, tables: Set<Region.TableName>) {
    wishes.store(false, ordering: .releasing)
    return state.withLock { state in
      (state.tablesOfRows, state.feeds.values.reduce(into: []) { $0.formUnion($1.tables) })
    }
  }

  /// The limits on the changes of one transaction, over all feeds.
  var limits: RowLog.Limits {
    state.withLock { state in
      state.feeds.values.reduce(into: RowLog.Limits()) { $0.allow($1.limit, of: $1.tables) }
    }
  }

  /// Tells the observers and feeds of a commit. Returns what ``uninstallIfUnused()`` does.
  func hasCommitted(_ touched: Region, _ log: RowLog) -> Bool {
    let position = connections?.writer?.groupCommit?.position ?? 0
    let (waiters, later, isUnused) = state.withLock { state in
      if !state.feeds.isEmpty { state.number += 1 }
      let (waiters, later) = state.collect(state.tell(touched) + state.feed(log, position))
      if state.isUnused { state.isInstalled = false }
      return (waiters, later, state.isUnused)
    }
    wake(waiters)
    if let later { wakeLate(at: later) }
    return isUnused
  }

  /// Tells the observers of values of what commits on another engine have touched.
  private func tell(_ touched: Region) {
    let (waiters, later) = state.withLock { $0.collect($0.tell(touched)) }
    wake(waiters)
    if let later { wakeLate(at: later) }
  }

  private func wakeLate(at time: Int) {
    thread.run(at: time) { [self] in
      let (waiters, later) = state.withLock { $0.takeLate() }
      wake(waiters)
      if let later { wakeLate(at: later) }
    }
  }

  /// Wakes waiters, whose reads come before the next job of the thread.
  private func wake(_ waiters: [Waiter]) {
    let begin = waiters.count > 8 ? MonotonicClock.nanoseconds : nil
    for waiter in waiters { waiter.resume() }
    guard let begin else { return }
    thread.run { [self] in state.withLock { $0.haveRead(since: begin) } }
  }

  func hasCommittedElsewhere() {
    let waiters = state.withLock { state in
      if !state.feeds.isEmpty { state.number += 1 }
      return state.tell(.everything) + state.feedUnknown()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Looks for commits of others, in a task of its own, once the writing connection is free.
  private func lookForOthers() {
    Task {
      do {
        try await connections?.perform(.plain, ScopeCall("observe()")) { db in
          (db.connection.follower as? WriteFollower)?.lookForOthers()
        }
        missingSince.withLock { $0 = nil }
      } catch {
        noteMissing(error)
      }
      state.withLock { $0.watcher }?.hasLooked()
    }
  }

  /// Ends all observations if another file has replaced the database's, or it has been missing for longer
  /// than it takes to move a file away and back.
  private func noteMissing(_ error: any Error) {
    guard let error = error as? DatabaseError, error.extendedCode == .readOnlyMoved,
      let path = state.withLock({ $0.path })
    else { return }
    let now = MonotonicClock.now
    let since = missingSince.withLock { since in
      if since == nil { since = now }
      return since ?? now
    }
    // A link, log or index that is missing for a moment leaves the file where it is.
    let found = FileLocation.Identity(ofFileAt: path)
    let isReplaced = found != nil && found != connections?.writer?.location?.identity
    guard isReplaced || now - since >= patience else { return }
    fail(error)
  }

  // MARK: Values

  /// Called before an observer reads. Commits from now on may be missing from what it reads.
  func willRead(_ id: Int) { state.withLock { $0.begin(id) } }

  /// Called after an observer has read a region.
  func hasRead(_ region: Region, _ id: Int) {
    state.withLock { state in
      if state.end(id, region) { wishes.store(true, ordering: .releasing) }
    }
  }

  /// Has an observer read again whose first read may have preceded the reporting of commits.
  func readAgain(_ id: Int) { state.withLock { $0.makeDirty(id) } }

  /// Waits for a commit that touches what an observer has read. Returns false if there can be none any more:
  /// it has read nothing, the queue or pool is closed, or the task is cancelled.
  func wait(for id: Int) async throws -> Bool {
    let goesOn = await wait { state, waiter in
      guard let observer = state.values[id], !state.isClosed, !observer.region.isEmpty else {
        return false
      }
      guard !observer.isDirty else { return true }
      if let waiter { observer.waiter = waiter }
      return nil
    } cancel: {
      $0.values[id]?.waiter.take()
    }
    // A cancelled task isn't told of the failure.
    if !goesOn, !Task.isCancelled { try check() }
    return goesOn
  }

  // MARK: Feeds

  /// The next transaction of a feed; nil if there can be none any more. Waiting is limited by `pace`.
  func next(of id: Int, at pace: inout FetchPace) async throws -> FeedItem? {
    if Task.isCancelled { return nil }
    if let item = try takeNext(of: id) { return try await onDisk(item) }
    let goesOn = await wait { state, waiter in
      guard let feed = state.feeds[id] else { return false }
      if feed.hasNext { return true }
      if state.isClosed { return false }
      if let waiter { feed.waiter = waiter }
      return nil
    } cancel: {
      $0.feeds[id]?.waiter.take()
    }
    guard goesOn else {
      if !Task.isCancelled { try check() }
      return nil
    }
    try await pace.wait()
    guard let item = try takeNext(of: id) else { return nil }
    return try await onDisk(item)
  }

  private func takeNext(of id: Int) throws -> FeedItem? {
    try state.withLock { try $0.feeds[id]?.removeFirst() }
  }

  /// Waits until the transaction is on disk, as the scope that committed it does.
  private func onDisk(_ item: FeedItem) async throws -> FeedItem {
    if item.position > 0 {
      try await connections?.writer?.groupCommit?.wait(
        for: item.position, within: nil, isCancellable: true)
    }
    return item
  }

  typealias Waiter = CheckedContinuation<Void, Never>

  /// Waits until a closure, called under the lock, has an answer. Returns false if the task is cancelled.
  private func wait(
    _ answer: @escaping @Sendable (inout ObserverRegistry, Waiter?) -> Bool?,
    cancel: @escaping @Sendable (inout ObserverRegistry) -> Waiter?
  ) async -> Bool {
    while !Task.isCancelled {
      if let known = state.withLock({ answer(&$0, nil) }) { return known }
      await withTaskCancellationHandler {
        await withCheckedContinuation { (waiter: Waiter) in
          let isAnswered = state.withLock { state in
            // A cancellation before this point has found no waiter to wake.
            Task.isCancelled || answer(&state, waiter) != nil
          }
          if isAnswered { waiter.resume() }
        }
      } onCancel: {
        state.withLock { cancel(&$0) }?.resume()
      }
    }
    return false
  }
}

extension Connections {
  /// The observers of these connections, created on first use.
  var observers: Observers {
    observer.withLock { observer in
      if let known = observer as? Observers { return known }
      let new = Observers(self)
      observer = new
      return new
    }
  }
}
