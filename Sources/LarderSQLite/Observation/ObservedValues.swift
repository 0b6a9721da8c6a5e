/// A value that follows the database: what a closure reads, and again after each commit that touches what it
/// has read. See `values(of:)` of a queue or pool.
public struct ObservedValues<Value: Sendable>: AsyncSequence, Sendable {
  fileprivate let access: any DatabaseAccess
  fileprivate let call: ScopeCall
  fileprivate let fetch: @Sendable (Database) throws -> Value

  /// Begins to observe, when the first value is asked for.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(observation: ValueObservation(self))
  }

  /// Values one after the other; ends the observation when it is let go of.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let observation: ValueObservation<Value>

    /// The next value; nil at the end, which is where the task is cancelled, the queue or pool is closed, or
    /// the closure has read nothing. Throws what the closure throws, after which there is no further value.
    public mutating func next() async throws -> Value? { try await observation.next() }
  }
}

/// One observation of a value: of one consumer, which asks for the values one after the other.
private final class ValueObservation<Value: Sendable> {
  private let source: ObservedValues<Value>
  private let observers: Observers
  private var id: Int?
  private var last: Value?
  private var isOver = false
  private var pace = FetchPace()
  /// How long the last read took, in nanoseconds.
  private var timeOfRead = Int.max
  /// What goes on beside the first read, where somebody writes just then.
  private var installing: Task<Void, any Error>?

  init(_ source: ObservedValues<Value>) {
    self.source = source
    observers = source.access.connections.observers
  }

  func next() async throws -> Value? {
    if isOver { return nil }
    do {
      if let value = try await read() { return value }
    } catch {
      end()
      if error is CancellationError, Task.isCancelled { return nil }
      throw error
    }
    end()
    return nil
  }

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
    /// The value is the one before.
    case same
    case over
  }

  /// Waits until there is something to read, and reads it.
  private func readOnce(_ id: Int, isOnOwnThread: Bool) async throws -> Outcome {
    if last != nil {
      try await endInstalling(id)
      if try await !observers.wait(for: id) { return .over }
    }
    try await pace.wait()
    let fetch = source.fetch
    var call = source.call
    call.isOnOwnThread = isOnOwnThread
    let (value, time) = try await source.access.connections.perform(.read, call) {
      [observers] db in
      // In the scope: who waits for a connection need not be told of what is committed meanwhile.
      observers.willRead(id)
      let start = MonotonicClock.nanoseconds
      let (value, region) = try db.recordingReads(fetch)
      observers.hasRead(region, id)
      return (value, MonotonicClock.nanoseconds &- start)
    }
    timeOfRead = time
    if let last, Self.areEqual(last, value) { return .same }
    last = value
    return .value(value)
  }

  private func begin() async throws -> Int {
    if let id { return id }
    let id = observers.addObserver()
    self.id = id
    guard observers.readsBeforeInstalling else {
      try await observers.install()
      return id
    }
    installing = Task { [observers] in try await observers.install() }
    return id
  }

  /// Waits until commits are told. What was committed since the first read wasn't.
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
  /// A value that follows the database: what the closure reads now, and again after each commit that touches
  /// the tables, columns or, where records are found by their integer key, rows that it has read.
  ///
  /// ```swift
  /// for try await count in pool.values(of: { db in
  ///   try db.value("SELECT count(*) FROM city", as: Int.self)
  /// }) { print(count ?? 0) }
  /// ```
  ///
  /// The closure runs in a read scope, once at first, beside who writes just then on a pool, and then when a value is
  /// asked for and something was committed: a slow consumer gets the newest value and no queue grows, and of commits that follow one another
  /// within less than a quarter of a millisecond the newest is read. Values that are `Equatable` and equal
  /// to the one before are left out. Commits of other processes count too, within 50 ms where the file system
  /// tells of writing (inotify) and a second where it doesn't; what they have changed nobody knows, so
  /// that everything is read again. So is what PRAGMAs and their functions, `dbstat`, and virtual tables of modules that
  /// SQLite hasn't have read, after each commit. Whether values are equal is the type's own to say: Swift's strings are
  /// where they look the same, those of ``DatabaseValue`` too.
  ///
  /// The sequence ends when its task is cancelled, when the queue or pool is closed, and after a closure that
  /// has read nothing of this database. It throws what the closure throws, as `ResultCode.readOnly` for
  /// writing; `ResultCode.readOnlyMoved` when another file has taken the place of the database's, or nothing has been there
  /// for five seconds; and
  /// ``UnsupportedByEngine`` where the engine isn't SQLite. Each loop over it observes by itself.
  public func values<Value: Sendable>(
    of fetch: @escaping @Sendable (Database) throws -> Value,
    label: StaticString = #function, line: UInt = #line
  ) -> ObservedValues<Value> {
    ObservedValues(access: self, call: ScopeCall(label, line), fetch: fetch)
  }

  /// The same with a callback, called with one value after the other in a task of its own, until the
  /// observation that is returned is cancelled or released.
  ///
  /// It can be begun inside of a scope of the same queue or pool: the first value is read in a turn of its own. In a
  /// process that was forked it is refused at once, by `onError` with `ResultCode.misuse`; what the
  /// parent has begun to observe ends there without a word, and goes on in the parent.
  ///
  /// - Parameters:
  ///   - fetch: reads the value.
  ///   - label: names the scope in errors of those who wait for it.
  ///   - line: likewise.
  ///   - onError: is called with what ends the observation, if that is an error; not after it was cancelled.
  ///   - onValue: is called with each value; the next one isn't read before it returns.
  public func values<Value: Sendable>(
    of fetch: @escaping @Sendable (Database) throws -> Value,
    label: StaticString = #function, line: UInt = #line,
    onError: @escaping @Sendable (any Error) -> Void,
    onValue: @escaping @Sendable (Value) -> Void
  ) -> Observation {
    // After a fork there is nobody who would run a task.
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
