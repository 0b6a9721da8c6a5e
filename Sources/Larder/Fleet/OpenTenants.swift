import Dispatch
import LarderSQLite

/// The databases of a fleet for threads and tasks: each has it opened, or waits for it, and says when it is
/// done.
///
/// The lock is never held while a file is opened, migrated, closed or removed. That is done by each tenant's
/// own worker, whoever waits for it: two callers of a cold tenant open it once, none waits for what another
/// tenant does, and what a task gave up is of use to the next.
final class OpenTenants: Sendable {
  private let files: TenantFiles
  private let timeout: Duration
  private let idleTime: Duration
  private let state: Lock<State>
  private let processGeneration = ProcessGeneration.watch()

  private struct State {
    var fleet: FleetState
    /// Whether somebody looks for tasks that have waited too long.
    var isSwept = false
    /// Whether somebody looks for what was idle for too long.
    var isExpired = false
  }

  init(_ files: TenantFiles, _ configuration: FleetConfiguration) {
    self.files = files
    timeout = Self.bounded(configuration.database.scopeTimeout)
    idleTime = Self.bounded(configuration.idleTime)
    state = Lock(
      State(
        fleet: FleetState(
          maximum: max(1, configuration.maximumOpen),
          createsDatabases: configuration.createsDatabases)))
  }

  /// No less than nothing and no more than a century, so that sums can't overflow.
  private static func bounded(_ time: Duration) -> Duration {
    min(max(time, .zero), .seconds(100 * 366 * 86_400))
  }

  /// Changes the state, then does what follows from that.
  private func change<T>(_ body: (inout FleetState) throws -> T) throws -> T {
    try changeAll { try body(&$0.fleet) }
  }

  private func changeAll<T>(_ body: (inout State) throws -> T) throws -> T {
    try checkProcess()
    let (result, actions, expires) = try state.withLock { state in
      let result = try body(&state)
      let actions = state.fleet.takeActions()
      let expires = state.fleet.hasIdle && !state.isExpired
      if expires { state.isExpired = true }
      return (result, actions, expires)
    }
    for action in actions { run(action) }
    if expires { expire(after: idleTime) }
    return result
  }

  private func checkProcess() throws {
    guard processGeneration == ProcessGeneration.current else {
      throw DatabaseError(
        .misuse, "the fleet was opened before a fork; open another one in this process")
    }
  }

  private func run(_ action: FleetState.Action) {
    switch action {
    case .open(let tenant, let creates): tenant.worker.async { self.open(tenant, creates) }
    case .close(let tenant, let queue): tenant.worker.async { self.close(tenant, queue) }
    case .remove(let tenant): tenant.worker.async { self.remove(tenant) }
    case .tell(let waiter): waiter.wake()
    case .end(let semaphore): semaphore.signal()
    }
  }

  // MARK: On a tenant's worker

  private func open(_ tenant: Tenant, _ creates: Bool) {
    let result = Result { try files.open(tenant.path, tenant.key, creates: creates) }
    _ = try? change { fleet in
      if case .success(let opened) = result, opened.wasMigrated { tenant.wasMigrated = true }
      fleet.hasOpened(tenant, result.map(\.queue))
    }
  }

  private func close(_ tenant: Tenant, _ queue: DatabaseQueue) {
    let outcome = Result { try queue.close() }
    _ = try? change { fleet in
      switch outcome {
      case .success: fleet.hasClosed(tenant, nil)
      case .failure(let error): fleet.hasClosed(tenant, (queue, error))
      }
    }
  }

  private func remove(_ tenant: Tenant) {
    let outcome = Result { try files.remove(tenant.path) }
    _ = try? change { fleet in
      if case .failure(let error) = outcome {
        fleet.hasRemoved(tenant, error)
      } else {
        fleet.hasRemoved(tenant, nil)
      }
    }
  }

  // MARK: Threads

  /// Has a tenant opened or removed, and waits for it on this thread. What was opened has to be released.
  func acquire(_ key: String, for use: TenantWaiter.Use) throws -> (Tenant, DatabaseQueue?) {
    let waiter = TenantWaiter(use, isTask: false)
    let (tenant, queue) = try change {
      try $0.join(waiter, TenantKey(key), path: files.path(of:))
    }
    if let queue { return (tenant, queue) }
    while waiter.semaphore?.wait(timeout: .now() + left(for: waiter).dispatchTime) == .timedOut {
      let isRefused = try change { fleet in
        guard waiter.outcome != nil || waiter.isLate(at: MonotonicClock.now, after: timeout) else {
          return false
        }
        return fleet.refuse(waiter, fleet.timeoutError(for: tenant, timeout))
      }
      // Otherwise it was told at the last moment, or may take its time.
      if isRefused { break }
    }
    return (tenant, try waiter.outcome?.get())
  }

  /// How long to wait before the next look whether it has waited too long.
  private func left(for waiter: TenantWaiter) -> Duration {
    max(
      waiter.start + timeout - MonotonicClock.now,
      waiter.isPatient ? .milliseconds(100) : .milliseconds(1))
  }

  /// Says that a scope has ended.
  func release(_ tenant: Tenant, _ queue: DatabaseQueue? = nil) {
    let isStale = queue?.connections.isOutdated ?? false
    _ = try? change { $0.release(tenant, isStale: isStale) }
  }

  /// Has a tenant opened anew whose file was made anew.
  func forget(_ key: String) throws { try change { $0.forget(TenantKey(key)) } }

  /// Whether migrations were applied to a tenant since this was asked.
  func takeMigrated(_ tenant: Tenant) throws -> Bool {
    try change { _ in
      defer { tenant.wasMigrated = false }
      return tenant.wasMigrated
    }
  }

  /// Calls a closure while a tenant's file isn't removed; nil where it is just being removed.
  func holding<T>(_ key: String, _ body: (String) throws -> T) throws -> T? {
    guard let tenant = try change({ try $0.hold(TenantKey(key), path: files.path(of:)) }) else {
      return nil
    }
    defer { _ = try? change { $0.letGo(tenant) } }
    return try body(tenant.path)
  }

  // MARK: Tasks

  /// The same for tasks, none of whose threads waits. A task that is cancelled leaves the line.
  func acquire(_ key: String, for use: TenantWaiter.Use) async throws -> (Tenant, DatabaseQueue?) {
    try Task.checkCancellation()
    let waiter = TenantWaiter(use, isTask: true)
    return try await withTaskCancellationHandler {
      let (tenant, queue) = try change {
        try $0.join(waiter, TenantKey(key), path: files.path(of:))
      }
      if let queue { return (tenant, queue) }
      let given = try await withUnsafeThrowingContinuation { continuation in
        wait(waiter, continuation)
      }
      return (tenant, given)
    } onCancel: {
      _ = try? change { fleet in
        waiter.isCancelled = true
        // Before it waits, it finds that out by itself.
        if waiter.continuation != nil { _ = fleet.refuse(waiter, CancellationError()) }
      }
    }
  }

  private func wait(
    _ waiter: TenantWaiter, _ continuation: UnsafeContinuation<DatabaseQueue?, any Error>
  ) {
    var sweeps = false
    _ = try? changeAll { state in
      if waiter.isCancelled { _ = state.fleet.refuse(waiter, CancellationError()) }
      guard waiter.outcome == nil else { return }
      waiter.continuation = continuation
      sweeps = !state.isSwept
      state.isSwept = true
    }
    // What has come before couldn't be told.
    if waiter.continuation == nil, let outcome = waiter.outcome {
      continuation.resume(with: outcome)
    }
    if sweeps { sweep() }
  }

  /// Looks for tasks that have waited too long, again and again while any wait.
  private func sweep() {
    later(min(timeout, .milliseconds(250))) { tenants in
      let timeout = tenants.timeout
      let goesOn = try? tenants.changeAll { state in
        state.isSwept = state.fleet.refuseLate(after: timeout)
        return state.isSwept
      }
      if goesOn == true { tenants.sweep() }
    }
  }

  /// Closes what was idle for too long, again and again while anything is open.
  private func expire(after time: Duration) {
    later(time) { tenants in
      let idleTime = tenants.idleTime
      let next = try? tenants.changeAll { state in
        let next = state.fleet.expire(after: idleTime)
        state.isExpired = next != nil
        return next
      }
      if let next = next ?? nil { tenants.expire(after: next) }
    }
  }

  private func later(_ time: Duration, _ body: @escaping @Sendable (OpenTenants) -> Void) {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + time.dispatchTime) {
      [weak self] in
      if let self { body(self) }
    }
  }

  // MARK: The end

  /// Waits for the scopes that were called before, and closes all.
  func close() throws {
    let semaphore = DispatchSemaphore(value: 0)
    guard try change({ try $0.beginEnding(semaphore) }) else { return }
    _ = semaphore.wait(timeout: .now() + timeout.dispatchTime)
    if let error = try change({ $0.finishEnding(timeout) }) { throw error }
  }

  /// The same for tasks: a thread of its own waits.
  func close() async throws {
    try await onOwnThread { try self.close() }
  }

  /// Throws where the fleet is closed.
  func checkOpen() throws { try change { try $0.checkOpen() } }

  var statistics: FleetStatistics {
    var statistics = state.withLock { $0.fleet.statistics }
    statistics.descriptors = statistics.open * files.descriptorsOfEach
    return statistics
  }
}

extension Duration {
  fileprivate var dispatchTime: DispatchTimeInterval { .nanoseconds(min(inNanoseconds, Int(3e18))) }
}
