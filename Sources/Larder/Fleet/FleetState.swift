import Dispatch
import LarderSQLite

/// Which databases of a fleet are open, who uses them and who waits: at most so many, the one closed first that
/// was unused for longest (LRU), and a FIFO line of those that wait for a place.
///
/// Nothing here takes longer than a microsecond: what does is an ``Action``, for outside of the lock.
struct FleetState {
  /// The most that are open.
  let maximum: Int
  /// The same as long as the process has no descriptors for more, and how many were opened since it was changed.
  private var limit: Int
  private var opened = 0
  private let createsDatabases: Bool
  /// All that are open, or that somebody waits for or holds.
  private(set) var tenants: [TenantKey: Tenant] = [:]
  /// How many places are taken: by those that are being opened, are open, or are being closed.
  private var places = 0
  /// How many of them are being closed.
  private var closing = 0
  /// Those that wait for a place.
  private var line = TenantList()
  /// Those that are open and not in use, the one unused for longest first.
  private var idle = TenantList()
  private var figures = FleetStatistics()
  private var ending: Ending?
  private(set) var isClosed = false
  private var actions: [Action] = []

  /// What is to be done outside of the lock.
  enum Action {
    case open(Tenant, creates: Bool)
    case close(Tenant, DatabaseQueue)
    case remove(Tenant)
    case tell(TenantWaiter)
    /// Nothing is open any more, or can't be closed.
    case end(DispatchSemaphore)
  }

  /// Who waits until nothing is open any more, and why that can't be.
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

  // MARK: Those who use them

  /// The tenant if it is open and may be used, or else the waiter waits for it.
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

  /// Throws where nobody is let in any more.
  func checkOpen() throws {
    guard ending == nil, !isClosed else { throw DatabaseError(.misuse, "the fleet is closed") }
  }

  private mutating func use(_ tenant: Tenant, for waiter: TenantWaiter) {
    if tenant.isListed { idle.remove(tenant) }
    tenant.users += 1
    switch waiter.use {
    case .scope: tenant.isKept = true
    case .migration, .removal: break
    }
    waiter.tenant = nil
  }

  /// - Parameter isStale: whether the file isn't what it was when it was opened.
  mutating func release(_ tenant: Tenant, isStale: Bool) {
    tenant.users -= 1
    if isStale { tenant.isStale = true }
    settle(tenant)
  }

  /// Has a tenant opened anew for its next use, as its file was made anew.
  mutating func forget(_ key: TenantKey) {
    guard let tenant = tenants[key], case .open = tenant.phase else { return }
    tenant.isStale = true
    settle(tenant)
  }

  /// Keeps a tenant's file from being removed; nil where that is under way.
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

  /// Takes one out that waits, with an error; false if it has its outcome already.
  mutating func refuse(_ waiter: TenantWaiter, _ error: any Error) -> Bool {
    guard let tenant = waiter.tenant, waiter.outcome == nil else { return false }
    tenant.waiting.removeAll { $0 === waiter }
    tenant.removing.removeAll { $0 === waiter }
    tell(waiter, .failure(error))
    settle(tenant)
    return true
  }

  /// Refuses the tasks that have waited too long, and says whether others wait.
  mutating func refuseLate(after timeout: Duration) -> Bool {
    let now = MonotonicClock.now
    var others = false
    for tenant in Array(tenants.values) {
      for waiter in tenant.waiting + tenant.removing where waiter.semaphore == nil {
        if waiter.isLate(at: now, after: timeout) {
          _ = refuse(waiter, timeoutError(for: tenant, timeout))
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

  // MARK: What was done

  /// The tenant was opened, or couldn't be.
  mutating func hasOpened(_ tenant: Tenant, _ result: Result<DatabaseQueue, any Error>) {
    switch result {
    case .success(let queue):
      figures.opened += 1
      tenant.phase = .open(queue)
      tenant.isStale = false
      opened += 1
      if limit < maximum, opened >= limit { (limit, opened) = (limit + 1, 0) }
    case .failure(is OutOfDescriptors) where places > 1:
      // Others hold some, which are closed before it is tried again. For the time being fewer are opened, so that
      // there are some left for other things.
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
      // One that may make the file has joined those that may not.
      let isMissing = if case FleetError.noDatabase = error { createsDatabases } else { false }
      tenant.waiting = isMissing ? waiting.filter(\.creates) : []
      for waiter in waiting where !isMissing || !waiter.creates { tell(waiter, .failure(error)) }
    }
    settle(tenant)
  }

  /// The tenant was closed, or couldn't be and is open still.
  mutating func hasClosed(_ tenant: Tenant, _ failure: (queue: DatabaseQueue, error: any Error)?) {
    closing -= 1
    if let (queue, error) = failure {
      tenant.phase = .open(queue)
      tenant.isKept = true
      ending?.failure = error
    } else {
      places -= 1
      tenant.phase = .closed
      tenant.isKept = false
    }
    settle(tenant)
  }

  mutating func hasRemoved(_ tenant: Tenant, _ error: (any Error)?) {
    tenant.phase = .closed
    for waiter in tenant.removing { tell(waiter, error.map { .failure($0) } ?? .success(nil)) }
    tenant.removing = []
    settle(tenant)
  }

  // MARK: What is next

  /// What comes next for a tenant, after something about it has changed.
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
      guard tenant.users == 0, !tenant.isListed || !tenant.isInvited else { return }
      if tenant.isListed { idle.remove(tenant) }
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
        actions.append(.remove(tenant))
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

  /// Gives places to those in the line, and has as many idle ones closed as are lacking.
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

  /// Closes what was unused for so long, and says when to look again, if ever.
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

  /// Whether anything is idle, which will be closed some time.
  var hasIdle: Bool { idle.count > 0 }

  // MARK: The end

  /// Lets nobody in any more, and closes all that nobody uses.
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

  /// Whether all is closed; if not, the fleet goes on, and this is why.
  mutating func finishEnding(_ timeout: Duration) -> (any Error)? {
    let failure = ending?.failure
    ending = nil
    isClosed = tenants.isEmpty
    if isClosed { return nil }
    return failure
      ?? DatabaseError(
        .busyTimeout, "waited longer than \(timeout) for the scopes of \(inUse) databases to end")
  }

  // MARK: Figures

  private var inUse: Int { tenants.values.count { $0.users > 0 || $0.holds > 0 } }

  var statistics: FleetStatistics {
    var figures = figures
    figures.open = places
    figures.inUse = tenants.values.count { $0.users > 0 }
    return figures
  }

  /// Why one that has waited for a tenant gives up.
  func timeoutError(for tenant: Tenant, _ timeout: Duration) -> DatabaseError {
    let reason =
      switch tenant.phase {
      case .inLine:
        """
        all \(maximum) databases that may be open are in use, and \(line.count) wait for a place; scopes of several \
        databases, one inside of another, hold a place each
        """
      case .opening: "it is still being opened or migrated"
      default: "others still use it"
      }
    return DatabaseError(
      .busyTimeout, "waited longer than \(timeout) for the database “\(tenant.key.text)”: \(reason)"
    )
  }
}
