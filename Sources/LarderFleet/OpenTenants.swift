import Dispatch
import Glibc
import Larder

/// The open databases of a fleet, as threads and tasks use them: a caller acquires a database, waits until
/// it is open, and releases it.
///
/// The lock is never held while a file is opened, migrated, closed or removed. Each tenant's own worker
/// does that, independently of who waits for it. So two callers open a closed tenant once, nobody waits for
/// another tenant, and a database that a cancelled task had asked for is there for the next caller.
final class OpenTenants: Sendable {
  private let files: TenantFiles
  private let timeout: Duration
  private let idleTime: Duration
  private let state: Lock<State>
  private let processGeneration = ProcessGeneration.watch()

  private struct State {
    var fleet: FleetState
    /// Whether a check for tasks that have waited too long is scheduled.
    var isSwept = false
    /// Whether a check for databases that were idle for too long is scheduled.
    var isExpired = false
    var replication: FleetReplication?
  }

  init(_ files: TenantFiles, _ configuration: FleetConfiguration) {
    self.files = files
    timeout = configuration.database.scopeTimeout.bounded
    idleTime = configuration.idleTime.bounded
    state = Lock(
      State(
        fleet: FleetState(
          maximum: max(1, configuration.maximumOpen),
          createsDatabases: configuration.createsDatabases)))
  }

  /// Changes the state, then runs the actions that follow from that.
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
    case .close(let tenant, let queue):
      let replication = state.withLock { $0.replication }
      let worker = replication?.closers.next ?? tenant.worker
      worker.async { self.close(tenant, queue) }
    case .remove(let tenant, let start): tenant.worker.async { self.remove(tenant, start) }
    case .tell(let waiter): waiter.wake()
    case .end(let semaphore): semaphore.signal()
    }
  }

  // MARK: On a tenant's worker

  private func open(_ tenant: Tenant, _ creates: Bool) {
    let replication = state.withLock { $0.replication }
    let result = Result {
      try files.open(tenant.path, tenant.key, creates: creates) { queue in
        try replication?.begin(tenant.key, opening: queue, tenant.path)
      }
    }
    _ = try? change { fleet in
      if case .success(let opened) = result, opened.wasMigrated { tenant.wasMigrated = true }
      fleet.hasOpened(tenant, result.map(\.queue))
    }
  }

  private func close(_ tenant: Tenant, _ queue: DatabaseQueue) {
    let outcome = Result { try queue.close() }
    if case .success = outcome { state.withLock { $0.replication }?.hasClosed(tenant.key) }
    _ = try? change { $0.hasClosed(tenant, queue, outcome) }
  }

  /// - Parameter start: when the last of the callers began to wait, who wait for the scope timeout.
  private func remove(_ tenant: Tenant, _ start: Duration) {
    let outcome = Result {
      try files.checkUnused(
        tenant.path, patience: max(.zero, start + timeout - MonotonicClock.now))
      if try change({ $0.beginsRemoval(tenant) }) { try files.remove(tenant.path) }
    }
    _ = try? change { $0.hasRemoved(tenant, outcome) }
  }

  // MARK: Threads

  /// Has a tenant opened or removed, and waits for it on this thread. An opened tenant has to be released.
  func acquire(_ key: String, for use: TenantWaiter.Use) throws -> (Tenant, DatabaseQueue?) {
    let waiter = TenantWaiter(use, isTask: false)
    let (tenant, queue) = try change {
      try $0.join(waiter, TenantKey(key), path: files.path(of:))
    }
    if let queue { return (tenant, queue) }
    while waiter.semaphore?.wait(timeout: .now() + left(for: waiter).dispatchInterval) == .timedOut
    {
      let isRefused = try change { fleet in
        guard waiter.outcome != nil || waiter.isLate(at: MonotonicClock.now, after: timeout) else {
          return false
        }
        return fleet.refuse(waiter, fleet.timeoutError(of: waiter, for: tenant, timeout))
      }
      // Otherwise it got its outcome at the last moment, or is patient.
      if isRefused { break }
    }
    return (tenant, try waiter.outcome?.get())
  }

  /// The time until the next check whether the waiter is late.
  private func left(for waiter: TenantWaiter) -> Duration {
    max(
      waiter.start + timeout - MonotonicClock.now,
      waiter.isPatient ? .milliseconds(100) : .milliseconds(1))
  }

  func release(_ tenant: Tenant, _ queue: DatabaseQueue? = nil) {
    let isStale = queue?.connections.isOutdated ?? false
    _ = try? change { $0.release(tenant, isStale: isStale) }
  }

  /// Has a tenant reopened whose file was created anew.
  func forget(_ key: String) throws { try change { $0.forget(TenantKey(key)) } }

  /// Returns whether migrations were applied to a tenant since the last call.
  func takeMigrated(_ tenant: Tenant) throws -> Bool {
    try change { _ in
      defer { tenant.wasMigrated = false }
      return tenant.wasMigrated
    }
  }

  /// Whether a tenant that is in use was opened before a time.
  func isOpened(_ tenant: Tenant, before time: Duration) -> Bool {
    state.withLock { _ in tenant.openedAt < time }
  }

  /// Calls a closure that opens files besides those of the open tenants. If the process has no descriptors
  /// left, idle tenants are closed, and it is called again.
  func withDescriptors<T>(_ body: () throws -> T) throws -> T {
    // A copy takes about eight at a time, and some are made at once.
    let needed = 16
    var attempts = 0
    while true {
      do {
        return try body()
      } catch let error as DatabaseError where error.code == .cannotOpen {
        let isShort = TenantFiles.areDescriptorsShort(for: needed)
        attempts += 1
        guard attempts == 1 || isShort && attempts < 8 else { throw error }
        if isShort { try change { $0.leaveDescriptors(for: needed / 2) } }
        usleep(2000 << UInt32(attempts))
      }
    }
  }

  /// Keeps a tenant's file from being removed during a closure. Returns nil if it is being removed already.
  func holding<T>(_ key: String, _ body: (String) throws -> T) throws -> T? {
    guard let tenant = try change({ try $0.hold(TenantKey(key), path: files.path(of:)) }) else {
      return nil
    }
    defer { _ = try? change { $0.letGo(tenant) } }
    return try body(tenant.path)
  }

  // MARK: Tasks

  /// Async variant, in which no thread waits. A task that is cancelled leaves the line.
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
        // A task that doesn't wait yet checks `isCancelled` itself.
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
    // An outcome from before the continuation was set couldn't be delivered.
    if waiter.continuation == nil, let outcome = waiter.outcome {
      continuation.resume(with: outcome)
    }
    if sweeps { sweep() }
  }

  /// Refuses tasks that have waited too long, repeatedly while any wait.
  private func sweep() {
    let timeout = timeout
    DispatchQueue.global(qos: .utility).repeats(after: min(timeout, .milliseconds(250))) {
      [weak self] in
      let goesOn = try? self?.changeAll { state in
        state.isSwept = state.fleet.refuseLate(after: timeout)
        return state.isSwept
      }
      return goesOn ?? false
    }
  }

  /// Closes databases that were idle for too long, repeatedly while any are idle.
  private func expire(after time: Duration) {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + time.dispatchInterval) {
      [weak self, idleTime] in
      let next = try? self?.changeAll { state in
        let next = state.fleet.expire(after: idleTime)
        state.isExpired = next != nil
        return next
      }
      if let next = next ?? nil { self?.expire(after: next) }
    }
  }

  // MARK: Closing

  func close() throws {
    let semaphore = DispatchSemaphore(value: 0)
    guard try change({ try $0.beginEnding(semaphore) }) else { return }
    _ = semaphore.wait(timeout: .now() + timeout.dispatchInterval)
    if let error = try change({ $0.finishEnding(timeout) }) { throw error }
  }

  func close() async throws {
    try await onOwnThread { try self.close() }
  }

  /// Has databases replicated that are opened from now on. Throws if there are some.
  func replicate(_ replication: FleetReplication) throws {
    try changeAll { state in
      try state.fleet.checkOpen()
      guard state.replication == nil, state.fleet.statistics.count == 0 else {
        throw DatabaseError(.misuse, "a fleet is replicated once, before its databases are opened")
      }
      state.replication = replication
    }
  }

  var isClosed: Bool { state.withLock { $0.fleet.isClosed } }

  func checkOpen() throws { try change { try $0.checkOpen() } }

  var statistics: FleetStatistics {
    var (statistics, replication) = state.withLock { ($0.fleet.statistics, $0.replication) }
    statistics.descriptors = statistics.count * files.descriptorsOfEach
    if let replication {
      statistics.descriptors += statistics.count * FleetReplication.descriptorsOfEach
      replication.describe(&statistics)
    }
    return statistics
  }
}
