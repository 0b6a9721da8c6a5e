import Dispatch
import LarderSQLite

/// A database that is open, or that somebody waits for.
///
/// What makes it Sendable: its variables are touched under the lock of ``OpenTenants`` only.
final class Tenant: @unchecked Sendable {
  let key: TenantKey
  let path: String
  /// Opens, closes and removes the file, one after the other. A serial queue of its own: it has a thread when
  /// those of the global queues are all busy with other tenants, or blocked.
  let worker = DispatchQueue(label: "larder.fleet")
  var phase = Phase.closed
  /// How many use its connection.
  var users = 0
  /// How many use the file without the connection, such as a copy of it.
  var holds = 0
  /// Who waits until it is open.
  var waiting: [TenantWaiter] = []
  /// Who waits until it is removed.
  var removing: [TenantWaiter] = []
  /// Since when nobody has used it.
  var idleSince = Duration.zero
  /// Whether what is open isn't what is to be used any more: the file was moved or replaced, or its content restored.
  /// Once nobody uses it, it is closed, and opened and migrated for the next.
  var isStale = false
  /// Whether it stays open when nobody uses it.
  var isKept = false
  /// Whether migrations were applied since somebody asked.
  var wasMigrated = false
  fileprivate(set) var next: Tenant?
  fileprivate unowned(unsafe) var previous: Tenant?
  fileprivate(set) var isListed = false

  enum Phase {
    case closed
    /// In the line of those that wait for a place.
    case inLine
    case opening
    case open(DatabaseQueue)
    case closing
    case removing
  }

  init(_ key: TenantKey, path: String) {
    self.key = key
    self.path = path
  }

  /// Whether who comes may use what is open.
  var isInvited: Bool { removing.isEmpty && !isStale }

  var isInLine: Bool { if case .inLine = phase { true } else { false } }
}

/// Tenants in an order: an intrusive doubly linked list, so that joining at the end, taking the first and
/// leaving from the middle cost O(1) each. The idle ones are in one, those that wait for a place in another;
/// none is in both.
struct TenantList {
  private(set) var first: Tenant?
  private unowned(unsafe) var last: Tenant?
  private(set) var count = 0

  mutating func append(_ tenant: Tenant) {
    tenant.isListed = true
    tenant.previous = last
    if let last { last.next = tenant } else { first = tenant }
    last = tenant
    count += 1
  }

  /// Takes one out, wherever it stands. It must be in this list.
  mutating func remove(_ tenant: Tenant) {
    let (previous, next) = (tenant.previous, tenant.next)
    if let previous { previous.next = next } else { first = next }
    if let next { next.previous = previous } else { last = previous }
    tenant.previous = nil
    tenant.next = nil
    tenant.isListed = false
    count -= 1
  }

  mutating func popFirst() -> Tenant? {
    guard let first else { return nil }
    remove(first)
    return first
  }
}

/// The tenants that the scopes around a call hold: of a thread, or of a task and those that it has begun.
enum HeldTenants {
  @TaskLocal static var tenants: [Tenant] = []

  static func contains(_ tenant: Tenant) -> Bool { tenants.contains { $0 === tenant } }
}

/// Who waits for a tenant: a thread or a task.
///
/// What makes it Sendable: its variables are touched under the lock of ``OpenTenants`` only, or before it waits
/// and after it has been told.
final class TenantWaiter: @unchecked Sendable {
  let start = MonotonicClock.now
  let use: Use
  /// What it waits for, as long as it does.
  var tenant: Tenant?
  var outcome: Result<DatabaseQueue?, any Error>?
  var isCancelled = false
  /// A task's.
  var continuation: UnsafeContinuation<DatabaseQueue?, any Error>?
  /// A thread's.
  let semaphore: DispatchSemaphore?

  /// What it wants of the tenant.
  enum Use {
    /// Its connection, for a scope.
    case scope
    /// That it is migrated: nothing is made that isn't there, nor kept open, and opening may take its time.
    case migration
    /// That it is gone.
    case removal
  }

  init(_ use: Use, isTask: Bool) {
    self.use = use
    semaphore = isTask ? nil : DispatchSemaphore(value: 0)
  }

  /// Whether a file may be made for it.
  var creates: Bool { if case .scope = use { true } else { false } }

  /// Whether it has waited too long. A migration may take its time once it has begun.
  func isLate(at time: Duration, after timeout: Duration) -> Bool {
    guard time - start >= timeout else { return false }
    return !isPatient || tenant?.isInLine == true
  }

  /// Whether it waits as long as it takes to open the tenant.
  var isPatient: Bool { if case .migration = use { true } else { false } }

  /// Has the thread or task go on, which has its outcome.
  func wake() {
    if let semaphore {
      semaphore.signal()
    } else if let outcome {
      continuation?.resume(with: outcome)
    }
  }
}
