// Telling of scopes: the errors that they throw, slow ones, and the statistics.

extension Connections {
  /// Counts an error that a scope throws to its caller, and tells the log of it unless a connection has.
  @inline(never)
  func reported(_ error: any Error, _ call: ScopeCall) -> any Error {
    guard var known = DatabaseError.naming(engine, in: error) as? DatabaseError else {
      if let conversion = error as? ConversionError { note(conversion, call) }
      return error
    }
    failures.wrappingAdd(1, ordering: .relaxed)
    if known.path == nil { known.path = place }
    if known.label == nil { known.label = call.name }
    return configuration.reporting(known)
  }

  /// Counts a value that doesn't convert, and tells the log of it. The error has no place for more.
  private func note(_ error: ConversionError, _ call: ScopeCall) {
    failures.wrappingAdd(1, ordering: .relaxed)
    var shown = error
    shown.sql = nil
    var event = DatabaseError(.mismatch, "\(shown)", sql: error.sql, engine: engine)
    (event.path, event.label) = (place, call.name)
    _ = configuration.reporting(event)
  }

  /// Runs a scope, and measures it.
  @inline(never)
  func runMeasured(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws {
    guard let timesReference else { return try runWatched(kind, call, body) }
    try timesReference._withUnsafeGuaranteedRef { times in
      try times.measure(call) { try runAnywhere(kind, call, body) }
    }
  }

  /// Runs a scope, measures it, and tells the log of it if it turns out slow.
  @inline(never)
  func runWatched(
    _ kind: ScopeKind, _ call: ScopeCall, from others: (any EngineReplicas)? = nil,
    _ body: (Database) throws -> Void
  ) throws {
    guard let measurement else { return try runAnywhere(kind, call, from: others, body) }
    if let timesReference {
      return try timesReference._withUnsafeGuaranteedRef { times in
        try times.measure(call) { try runAnywhere(kind, call, from: others, body) }
      }
    }
    let watched = watch(measurement)
    do {
      try runAnywhere(kind, call, from: others) { db in try watched.run(on: db, body) }
    } catch {
      tell(measurement, watched, call, error)
      throw error
    }
    tell(measurement, watched, call)
  }

  /// Async variant. Suspends the task while the scope waits.
  func performWatched<T: Sendable>(
    _ measurement: ScopeMeasurement, _ kind: ScopeKind, _ call: ScopeCall,
    from others: (any EngineReplicas)? = nil, _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    if let times = measurement.times, timesReference != nil {
      return try await times.measure(call) {
        try await performAnywhere(kind, call, from: others, body)
      }
    }
    let watched = watch(measurement)
    do {
      let result = try await performAnywhere(kind, call, from: others) { db in
        var result: T?
        try watched.run(on: db) { result = try body($0) }
        guard let result else { throw DatabaseError(.internal, "the scope has no result") }
        return result
      }
      tell(measurement, watched, call)
      return result
    } catch {
      tell(measurement, watched, call, error)
      throw error
    }
  }

  /// Runs a read on other replicas than the pool's own, or else on the primary.
  package func read(
    from others: any EngineReplicas, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws {
    do {
      try runWatched(.read, call, from: others, body)
    } catch {
      throw reported(error, call)
    }
  }

  /// Async variant. Suspends the task while the read waits.
  package func read<T: Sendable>(
    from others: any EngineReplicas, _ call: ScopeCall,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    do {
      guard let measurement else {
        return try await performAnywhere(.read, call, from: others, body)
      }
      return try await performWatched(measurement, .read, call, from: others, body)
    } catch {
      throw reported(error, call)
    }
  }

  // Functions of their own: with a parameter for the replicas, each scope took a tenth more instructions.
  /// Runs a scope; a read on other replicas than the pool's own if there are any.
  private func runAnywhere(
    _ kind: ScopeKind, _ call: ScopeCall, from others: (any EngineReplicas)?,
    _ body: (Database) throws -> Void
  ) throws {
    guard let others else { return try runAnywhere(kind, call, body) }
    if !isInside, try others.run(call, besides: self, body) { return }
    try runOnPrimary(kind, call, body)
  }

  /// Async variant. Suspends the task while the scope waits.
  private func performAnywhere<T: Sendable>(
    _ kind: ScopeKind, _ call: ScopeCall, from others: (any EngineReplicas)?,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    guard let others else { return try await performAnywhere(kind, call, body) }
    if let value = try await others.run(call, besides: self, body) { return value }
    return try await performOnPrimary(kind, call, body)
  }

  /// Begins to watch a scope that is about to be called.
  private func watch(_ measurement: ScopeMeasurement) -> WatchedScope {
    guard let lock = writer?.lock, lock.isHeld else {
      return WatchedScope(measurement, behind: nil, waiting: 0)
    }
    return WatchedScope(
      measurement, behind: lock.holderCall.description, waiting: lock.waitingCount)
  }

  /// Tells of a watched scope that has ended: the log if it was slow, and whoever takes its span.
  private func tell(
    _ measurement: ScopeMeasurement, _ watched: WatchedScope, _ call: ScopeCall,
    _ error: (any Error)? = nil
  ) {
    if let span = watched.end(call, of: engine, at: place, error) { measurement.spans?(span) }
    guard let slowScopeThreshold = measurement.slowScopeThreshold,
      let text = watched.explanation(of: call.description, from: slowScopeThreshold)
    else { return }
    var event = DatabaseError(.warning, text, engine: engine)
    (event.path, event.label) = (place, call.name)
    _ = configuration.reporting(event)
  }

  package var statistics: AccessStatistics {
    var statistics = writer?.statistics ?? AccessStatistics()
    pool?.describe(&statistics)
    statistics.retries = retries.load(ordering: .relaxed)
    engineRetries?.describe(&statistics)
    statistics.failures = failures.load(ordering: .relaxed)
    measurement?.times?.describe(&statistics)
    let now = MonotonicClock.now
    statistics.copies = companions.withLock { $0.list.compactMap(\.currentWork) }.map {
      AccessStatistics.Holder(label: $0.label, duration: now - $0.since)
    }
    let around = surroundings?.latest(looksForReaders: statistics.pendingFrames > 0)
    statistics.freeBytes = around?.freeBytes
    statistics.pinned = pinned(statistics, around, at: now)
    return statistics
  }

  /// Finds who keeps the log from being moved into the file.
  private func pinned(
    _ statistics: AccessStatistics, _ around: FileSurroundings.Findings?, at now: Duration
  ) -> AccessStatistics.Holder? {
    guard statistics.pendingFrames > 0, let checked = statistics.checkpoint.age else { return nil }
    // One that began after the last checkpoint couldn't be in its way.
    if let oldest = pool?.oldest, oldest.age > checked {
      return .init(label: "the read \(oldest.call)", duration: oldest.age)
    }
    if let reader = around?.reader {
      return .init(label: reader.name, duration: now - reader.since)
    }
    return statistics.copies.first
  }
}

extension WatchedScope {
  /// Runs the scope's body on its connection.
  func run(on database: Database, _ body: (Database) throws -> Void) rethrows {
    try run(
      on: database.connection,
      { database.cache.statistics.hits &+ database.cache.statistics.misses }
    ) {
      // Statements that the body leaves open are its own, too: they end while it is measured.
      defer { if database.hasOpenStatements { database.closeOpenStatements() } }
      try body(database)
    }
  }
}
