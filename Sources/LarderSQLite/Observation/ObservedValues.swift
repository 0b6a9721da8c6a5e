/// A value that follows the database: the result of a closure, which runs again after each commit that
/// touches what it has read. See `values(of:)` of a queue or pool.
public struct ObservedValues<Value: Sendable>: AsyncSequence, Sendable {
  fileprivate let access: any DatabaseAccess
  fileprivate let call: ScopeCall
  fileprivate let fetch: @Sendable (Database) throws -> Value

  /// Makes an iterator, which begins to observe when its first value is asked for.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(observation: ValueObservation(self))
  }

  /// An iterator over values. Releasing it ends the observation.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let observation: ValueObservation<Value>

    /// The next value; nil once the task is cancelled, the queue or pool is closed, or the closure has read
    /// nothing. Rethrows the closure's error, after which there is no further value.
    public mutating func next() async throws -> Value? { try await observation.next() }
  }
}

/// The observation of one consumer, which asks for one value after the other.
private final class ValueObservation<Value: Sendable> {
  private let source: ObservedValues<Value>
  private let observers: Observers
  private var id: Int?
  private var last: Value?
  private var isOver = false
  private var pace: FetchPace
  /// The duration of the last read, in nanoseconds.
  private var timeOfRead = Int.max
  /// Another engine's tables that were read, but whose commits aren't reported yet.
  private var unreported: Set<UInt32> = []
  /// The installation of the observers, which runs beside the first read while somebody writes.
  private var installing: Task<Void, any Error>?

  init(_ source: ObservedValues<Value>) {
    self.source = source
    observers = source.access.connections.observers
    pace = FetchPace(isOnServer: source.access.connections.engineObservation != nil)
  }

  func next() async throws -> Value? {
    if isOver { return nil }
    do {
      if let value = try await read() { return value }
    } catch {
      end()
      if error is CancellationError, Task.isCancelled { return nil }
      // A read on a server, or the call to have its commits reported, may come when the pool is closing.
      if isOnEngine, source.access.connections.isClosed { return nil }
      throw error
    }
    end()
    return nil
  }

  private var isOnEngine: Bool { source.access.connections.engineObservation != nil }

  private func read() async throws -> Value? {
    let id = try await begin()
    while true {
      let isBrief = timeOfRead <= ObserverThread.longest
      let thread = isBrief ? observers.thread : nil
      let outcome = try await withTaskExecutorPreference(thread) {
        try await readOnce(id, isOnOwnThread: isBrief)
      }
      switch outcome {
      case .value(let value): return value
      case .same: continue
      case .over: return nil
      }
    }
  }

  private enum Outcome: Sendable {
    case value(Value)
    /// The value equals the previous one.
    case same
    case over
  }

  /// Waits until there is something to read, and reads it.
  private func readOnce(_ id: Int, isOnOwnThread: Bool) async throws -> Outcome {
    if last != nil {
      try await endInstalling(id)
      if !unreported.isEmpty {
        try await beReported()
      } else if try await !observers.wait(for: id) {
        return .over
      }
    }
    try await pace.wait()
    let fetch = source.fetch
    var call = source.call
    call.isOnOwnThread = isOnOwnThread
    let (value, time, unreported) = try await source.access.connections.performForObserver(call) {
      [observers] db in
      // Called inside the scope: while it waits for a connection, the observer needn't be told of commits.
      observers.willRead(id)
      let start = MonotonicClock.nanoseconds
      let (value, region, unreported) = try db.recordingReads(fetch)
      observers.hasRead(region, id)
      return (value, MonotonicClock.nanoseconds &- start, unreported)
    }
    timeOfRead = time
    self.unreported = unreported
    if let last, Self.areEqual(last, value) { return .same }
    last = value
    return .value(value)
  }

  private func begin() async throws -> Int {
    if let id { return id }
    let id = observers.addObserver()
    self.id = id
    if try await observers.beginOnEngine(id) { return id }
    guard observers.readsBeforeInstalling else {
      try await observers.install()
      return id
    }
    installing = Task { [observers] in try await observers.install() }
    return id
  }

  /// Waits until commits are reported, then has the value read again: commits since the first read were
  /// missed.
  private func endInstalling(_ id: Int) async throws {
    guard let installing else { return }
    try await withTaskCancellationHandler {
      try await installing.value
    } onCancel: {
      installing.cancel()
    }
    self.installing = nil
    observers.readAgain(id)
  }

  /// Has commits to the tables reported that were read. The value is read again after it, since commits
  /// before it were missed. If others are in the way, that is tried again with each read, at intervals.
  private func beReported() async throws {
    if try await observers.reportCommits(to: unreported) { return }
    try await Task.sleep(for: Self.retryInterval)
  }

  private static var retryInterval: Duration { .milliseconds(250) }

  private func end() {
    isOver = true
    last = nil
    installing?.cancel()
    installing = nil
    if let id { observers.remove(id) }
    id = nil
  }

  deinit {
    installing?.cancel()
    if let id { observers.remove(id) }
  }

  private static func areEqual(_ first: Value, _ second: Value) -> Bool {
    func isEqual<T: Equatable>(_ first: T) -> Bool { first == second as? T }
    return (first as? any Equatable).map { isEqual($0) } ?? false
  }
}

extension DatabaseAccess {
  /// A value that follows the database: the closure runs now, and again after each commit that touches the
  /// tables, columns or, if records are found by their integer key, rows that it has read.
  ///
  /// ```swift
  /// for try await count in pool.values(of: { db in
  ///   try db.value("SELECT count(*) FROM city", as: Int.self)
  /// }) { print(count ?? 0) }
  /// ```
  ///
  /// The closure runs in a read scope: once at first (on a pool, even while somebody writes), then whenever a
  /// value is asked for and something was committed. So a slow consumer gets the newest value and no queue
  /// grows. Commits that follow one another closely are read together, a quarter of a millisecond after the
  /// first; if many observers read then, the next pause is four times as long as their reads. `Equatable`
  /// values that equal the previous one are skipped; the type decides, and Swift's strings, also in
  /// ``DatabaseValue``, are equal if they look the same.
  ///
  /// Commits of other processes count too, within 50 ms if the file system reports writes (inotify),
  /// otherwise within a second. Nobody knows which tables they have changed, so everything is read again. The
  /// same holds after each commit for PRAGMAs and their functions, `dbstat`, and virtual tables of modules
  /// that aren't SQLite's.
  ///
  /// The sequence ends when its task is cancelled, when the queue or pool is closed, and after a closure that
  /// has read nothing of this database. It rethrows the closure's errors, such as `ResultCode.readOnly` for
  /// writing. It throws `ResultCode.readOnlyMoved` if another file has replaced the database's, or there has
  /// been none for five seconds. Each loop over it observes independently.
  ///
  /// On a PostgreSQL server, values follow the tables that the closure has read, whoever changes them: see
  /// <doc:Observing#Values-on-a-server>.
  public func values<Value: Sendable>(
    of fetch: @escaping @Sendable (Database) throws -> Value,
    label: StaticString = #function, line: UInt = #line
  ) -> ObservedValues<Value> {
    ObservedValues(access: self, call: ScopeCall(label, line), fetch: fetch)
  }

  /// Callback variant. Calls `onValue` with one value after the other, in a task of its own, until the
  /// returned observation is cancelled or released.
  ///
  /// It can be called inside a scope of the same queue or pool: the first value is read in another scope
  /// later. In a forked process it fails at once, by `onError` with `ResultCode.misuse`. Observations that
  /// the parent has begun end silently in the fork, and go on in the parent.
  ///
  /// - Parameters:
  ///   - fetch: reads the value.
  ///   - label: names the scope in the errors of scopes that wait for it.
  ///   - line: the scope's line, for the same purpose.
  ///   - onError: is called with the error that ends the observation, if any, unless it was cancelled.
  ///   - onValue: is called with each value. The next one isn't read before it returns.
  public func values<Value: Sendable>(
    of fetch: @escaping @Sendable (Database) throws -> Value,
    label: StaticString = #function, line: UInt = #line,
    onError: @escaping @Sendable (any Error) -> Void,
    onValue: @escaping @Sendable (Value) -> Void
  ) -> Observation {
    // A forked process has no threads that would run a task.
    guard connections.isOfThisProcess else {
      onError(Connection.processError)
      return Observation {}
    }
    let values = values(of: fetch, label: label, line: line)
    let process = ProcessGeneration.current
    let task = Task.detached {
      do {
        for try await value in values {
          if Task.isCancelled { break }
          onValue(value)
        }
      } catch {
        if !Task.isCancelled { onError(error) }
      }
    }
    return Observation { if process == ProcessGeneration.current { task.cancel() } }
  }
}
