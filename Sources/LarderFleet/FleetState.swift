import Dispatch
import Larder

/// The state of a fleet: which databases are open, who uses them, and who waits. Of the open ones the least
/// recently used is closed first (LRU), and databases wait for a place in a FIFO line.
///
/// Nothing here takes longer than a microsecond. Anything that does is an ``Action``, which runs outside
/// the lock.
struct FleetState {
  /// The most databases that may be open, as configured.
  let maximum: Int
  /// The most that may be open now: fewer than `maximum` after the process has run out of descriptors.
  private var limit: Int
  /// How many databases were opened since `limit` was last changed.
  private var opened = 0
  private let createsDatabases: Bool
  /// All databases that are open, waited for, or held.
  private(set) var tenants: [TenantKey: Tenant] = [:]
  /// How many places are taken, by databases that are being opened, open, or being closed.
  private var places = 0
  private var closing = 0
  /// The databases that wait for a place. None is also in the other list.
  private var line = LinkedList<Tenant>()
  /// The databases that are open and not in use, the least recently used first.
  private var idle = LinkedList<Tenant>()
  private var figures = FleetStatistics()
  private var ending: Ending?
  private(set) var isClosed = false
  private var actions: [Action] = []

  /// Work to be done outside the lock.
  enum Action {
    case open(Tenant, creates: Bool)
    case close(Tenant, DatabaseQueue)
    /// The check whether a tenant's file may be removed, for callers of which the last began to wait at a
    /// time; then its removal, if any of them still waits.
    case remove(Tenant, since: Duration)
    case tell(TenantWaiter)
    /// Signals that nothing is open any more, or that something can't be closed.
    case end(DispatchSemaphore)
  }

  /// The caller that waits until nothing is open any more, and the error if something can't be closed.
  private struct Ending {
    let semaphore: DispatchSemaphore
    var failure: (any Error)?
  }

  init(maximum: Int, createsDatabases: Bool) {
    self.maximum = maximum
    limit = maximum
    self.createsDatabases = createsDatabases
  }

  mutating func takeActions() -> [Action] {
    serve()
    endIfDone()
    defer { actions = [] }
    return actions
  }

  // MARK: Users

  /// Returns the tenant and its queue if it is open and may be used. Otherwise the waiter waits for it.
  mutating func join(
    _ waiter: TenantWaiter, _ key: TenantKey, path: (TenantKey) throws -> String
  ) throws -> (Tenant, DatabaseQueue?) {
    try checkOpen()
    let tenant = try tenants[key] ?? Tenant(key, path: path(key))
    tenants[key] = tenant
    waiter.tenant = tenant
    switch (waiter.use, tenant.phase) {
    case (.removal, _):
      tenant.removing.append(waiter)
    case (_, .open(let queue))
    where tenant.isInvited || tenant.users > 0 && HeldTenants.contains(tenant):
      use(tenant, for: waiter)
      return (tenant, queue)
    default:
      tenant.waiting.append(waiter)
    }
    figures.waiting += 1
    settle(tenant)
    return (tenant, nil)
  }

  /// Throws if the fleet is closed, or being closed.
  func checkOpen() throws {
    guard ending == nil, !isClosed else { throw DatabaseError(.misuse, "the fleet is closed") }
  }

  private mutating func use(_ tenant: Tenant, for waiter: TenantWaiter) {
    if tenant.links.isListed { idle.remove(tenant) }
    tenant.users += 1
    if waiter.use == .scope { tenant.isKept = true }
    waiter.tenant = nil
  }

  /// - Parameter isStale: whether the file was moved, replaced or restored since it was opened.
  mutating func release(_ tenant: Tenant, isStale: Bool) {
    tenant.users -= 1
    if isStale { tenant.isStale = true }
    settle(tenant)
  }

  /// Has a tenant reopened for its next use, because its file was created anew.
  mutating func forget(_ key: TenantKey) {
    guard let tenant = tenants[key], case .open = tenant.phase else { return }
    tenant.isStale = true
    settle(tenant)
  }

  /// Keeps a tenant's file from being removed. Returns nil if it is being removed already.
  mutating func hold(
    _ key: TenantKey, path: (TenantKey) throws -> String
  ) throws -> Tenant? {
    try checkOpen()
    let tenant = try tenants[key] ?? Tenant(key, path: path(key))
    if case .removing = tenant.phase { return nil }
    tenants[key] = tenant
    tenant.holds += 1
    return tenant
  }

  mutating func letGo(_ tenant: Tenant) {
    tenant.holds -= 1
    settle(tenant)
  }

  /// Ends a waiter's wait with an error. Returns false if it has an outcome already, or if files are being
  /// removed for it: a removal that has thrown must not remove anything.
  mutating func refuse(_ waiter: TenantWaiter, _ error: any Error) -> Bool {
    guard let tenant = waiter.tenant, waiter.outcome == nil else { return false }
    if waiter.use == .removal, tenant.losesFiles { return false }
    tenant.waiting.removeAll { $0 === waiter }
    tenant.removing.removeAll { $0 === waiter }
    tell(waiter, .failure(error))
    settle(tenant)
    return true
  }

  /// Refuses the tasks that have waited too long. Returns whether other tasks wait.
  mutating func refuseLate(after timeout: Duration) -> Bool {
    let now = MonotonicClock.now
    var others = false
    for tenant in Array(tenants.values) {
      for waiter in tenant.waiting + tenant.removing where waiter.semaphore == nil {
        if waiter.isLate(at: now, after: timeout) {
          _ = refuse(waiter, timeoutError(of: waiter, for: tenant, timeout))
        } else {
          others = true
        }
      }
    }
    return others
  }

  private mutating func tell(_ waiter: TenantWaiter, _ outcome: Result<DatabaseQueue?, any Error>) {
    waiter.outcome = outcome
    waiter.tenant = nil
    figures.waiting -= 1
    actions.append(.tell(waiter))
  }

  // MARK: Results of actions

  mutating func hasOpened(_ tenant: Tenant, _ result: Result<DatabaseQueue, any Error>) {
    switch result {
    case .success(let queue):
      figures.opened += 1
      tenant.phase = .open(queue)
      tenant.openedAt = MonotonicClock.now
      tenant.isStale = false
      opened += 1
      if limit < maximum, opened >= limit { (limit, opened) = (limit + 1, 0) }
    case .failure(is OutOfDescriptors) where places > 1:
      // Other databases hold descriptors, and are closed before this one is tried again. For now fewer may
      // be open, so that some descriptors are left for other uses.
      places -= 1
      (limit, opened) = (max(1, places - places / 8 - 1), 0)
      tenant.phase = .inLine
      line.append(tenant)
      return
    case .failure(let failure):
      let error = (failure as? OutOfDescriptors)?.underlying ?? failure
      places -= 1
      tenant.phase = .closed
      let waiting = tenant.waiting
      // A waiter that may create the file may have joined those that may not.
      let isMissing = if case FleetError.noDatabase = error { createsDatabases } else { false }
      tenant.waiting = isMissing ? waiting.filter(\.creates) : []
      for waiter in waiting where !isMissing || !waiter.creates { tell(waiter, .failure(error)) }
    }
    settle(tenant)
  }

  /// Has fewer databases open for now, so that descriptors are left for some more.
  mutating func leaveDescriptors(for count: Int) {
    (limit, opened) = (max(1, min(limit, places - count)), 0)
  }

  /// Notes that a tenant was closed, or couldn't be and is still open.
  mutating func hasClosed(
    _ tenant: Tenant, _ queue: DatabaseQueue, _ result: Result<Void, any Error>
  ) {
    closing -= 1
    switch result {
    case .success:
      places -= 1
      tenant.phase = .closed
      tenant.isKept = false
    case .failure(let error):
      tenant.phase = .open(queue)
      tenant.isKept = true
      ending?.failure = error
    }
    settle(tenant)
  }

  /// Notes that a tenant's file may be removed. Returns false if nobody waits for that any more; otherwise
  /// the callers that wait can't be refused until it is done.
  mutating func beginsRemoval(_ tenant: Tenant) -> Bool {
    tenant.losesFiles = !tenant.removing.isEmpty
    return tenant.losesFiles
  }

  /// Notes that a tenant's files were removed, or couldn't be. If all who waited for the check have given up
  /// meanwhile, nothing was removed, and those that came later get a check of their own.
  mutating func hasRemoved(_ tenant: Tenant, _ result: Result<Void, any Error>) {
    tenant.phase = .closed
    let hasFailed = if case .failure = result { true } else { false }
    let told = tenant.removing.filter { tenant.losesFiles || hasFailed && $0.isChecked }
    tenant.losesFiles = false
    tenant.removing.removeAll { waiter in told.contains { $0 === waiter } }
    for waiter in told { tell(waiter, result.map { nil }) }
    settle(tenant)
  }

  // MARK: Transitions

  /// Moves a tenant on after a change.
  private mutating func settle(_ tenant: Tenant) {
    switch tenant.phase {
    case .open(let queue):
      if tenant.isInvited {
        for waiter in tenant.waiting {
          use(tenant, for: waiter)
          tell(waiter, .success(queue))
        }
        tenant.waiting = []
      }
      guard tenant.users == 0, !tenant.links.isListed || !tenant.isInvited else { return }
      if tenant.links.isListed { idle.remove(tenant) }
      tenant.idleSince = MonotonicClock.now
      if tenant.isInvited, tenant.isKept, ending?.failure != nil || ending == nil {
        idle.append(tenant)
      } else {
        close(tenant, queue)
      }
    case .closed:
      if !tenant.removing.isEmpty {
        guard tenant.holds == 0 else { return }
        tenant.phase = .removing
        for waiter in tenant.removing { waiter.isChecked = true }
        let since = tenant.removing.map(\.start).max() ?? .zero
        actions.append(.remove(tenant, since: since))
      } else if !tenant.waiting.isEmpty {
        tenant.phase = .inLine
        line.append(tenant)
      } else if tenant.holds == 0 {
        tenants[tenant.key] = nil
      }
    case .inLine:
      guard tenant.waiting.isEmpty else { return }
      line.remove(tenant)
      tenant.phase = .closed
      settle(tenant)
    case .opening, .closing, .removing: break
    }
  }

  /// Gives places to the databases in the line, and closes as many idle ones as places are lacking.
  private mutating func serve() {
    while places < limit, let tenant = line.popFirst() {
      places += 1
      tenant.phase = .opening
      actions.append(.open(tenant, creates: tenant.waiting.contains(where: \.creates)))
    }
    while closing < max(line.count, places - limit), let tenant = idle.popFirst(),
      case .open(let queue) = tenant.phase
    {
      figures.evicted += 1
      close(tenant, queue)
    }
  }

  private mutating func close(_ tenant: Tenant, _ queue: DatabaseQueue) {
    closing += 1
    tenant.phase = .closing
    actions.append(.close(tenant, queue))
  }

  /// Closes what was idle for so long. Returns the time until the next check; nil if nothing is idle.
  mutating func expire(after time: Duration) -> Duration? {
    let now = MonotonicClock.now
    while let tenant = idle.first, case .open(let queue) = tenant.phase {
      guard now - tenant.idleSince >= time else { return tenant.idleSince + time - now }
      idle.remove(tenant)
      figures.expired += 1
      close(tenant, queue)
    }
    return nil
  }

  var hasIdle: Bool { idle.count > 0 }

  // MARK: Closing

  /// Refuses new calls, and closes idle databases. Returns false if the fleet is closed already.
  mutating func beginEnding(_ semaphore: DispatchSemaphore) throws -> Bool {
    if isClosed { return false }
    guard ending == nil else {
      throw DatabaseError(.busy, "the fleet is being closed by another thread")
    }
    ending = Ending(semaphore: semaphore)
    while let tenant = idle.popFirst(), case .open(let queue) = tenant.phase {
      close(tenant, queue)
    }
    return true
  }

  private mutating func endIfDone() {
    guard let ending, tenants.isEmpty || ending.failure != nil else { return }
    actions.append(.end(ending.semaphore))
  }

  /// Returns nil if all databases are closed, or the reason why not: the fleet then stays open.
  mutating func finishEnding(_ timeout: Duration) -> (any Error)? {
    let failure = ending?.failure
    ending = nil
    isClosed = tenants.isEmpty
    if isClosed { return nil }
    return failure
      ?? DatabaseError(
        .busyTimeout, "waited longer than \(timeout) for the scopes of \(inUse) databases to end")
  }

  // MARK: Statistics

  private var inUse: Int { tenants.values.count { $0.users > 0 || $0.holds > 0 } }

  var statistics: FleetStatistics {
    var figures = figures
    figures.count = places
    figures.inUse = tenants.values.count { $0.users > 0 }
    return figures
  }

  func timeoutError(
    of waiter: TenantWaiter, for tenant: Tenant, _ timeout: Duration
  ) -> DatabaseError {
    if case (.removing, .removal) = (tenant.phase, waiter.use) {
      return TenantFiles.inUseElsewhere(tenant.path)
    }
    let reason =
      switch tenant.phase {
      case .inLine:
        """
        all \(maximum) databases that may be open are in use, and \(line.count) wait for a place; \
        nested scopes of several databases take a place each
        """
      case .opening: "it is still being opened or migrated"
      case .removing: "it is being removed"
      default: "other scopes still use it"
      }
    return DatabaseError(
      .busyTimeout, "waited longer than \(timeout) for the database “\(tenant.key.text)”: \(reason)"
    )
  }
}
