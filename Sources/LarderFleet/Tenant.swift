import Dispatch
import Larder

/// A database of a fleet that is open, waited for, or held.
///
/// Sendable because its variables are accessed only under the lock of ``OpenTenants``.
final class Tenant: ListElement, @unchecked Sendable {
  var links = ListLinks<Tenant>()
  let key: TenantKey
  let path: String
  /// Opens, closes and removes the file. A serial queue of its own gets a thread even if those of the global
  /// queues are all busy with other tenants, or blocked.
  let worker = DispatchQueue(label: "larder.fleet")
  var phase = Phase.closed
  /// How many callers use its connection.
  var users = 0
  /// How many callers use the file without the connection, such as to copy it.
  var holds = 0
  /// The callers that wait until it is open.
  var waiting: [TenantWaiter] = []
  /// The callers that wait until it is removed.
  var removing: [TenantWaiter] = []
  /// Whether its files are being removed, after the check that nobody has them open.
  var losesFiles = false
  var openedAt = Duration.zero
  var idleSince = Duration.zero
  /// Whether the connection is outdated: the file was moved or replaced, or its content restored. Once
  /// nobody uses it, it is closed, and reopened and migrated for the next caller.
  var isStale = false
  /// Whether it stays open when nobody uses it.
  var isKept = false
  /// Whether migrations were applied since the last ``OpenTenants/takeMigrated(_:)``.
  var wasMigrated = false

  enum Phase {
    case closed
    /// Waiting for a place, in a line.
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

  /// Whether new callers may use the open connection.
  var isInvited: Bool { removing.isEmpty && !isStale }

  var isInLine: Bool { if case .inLine = phase { true } else { false } }
}

/// The tenants that are held by the scopes around a call: those of its thread, or of its task and the tasks
/// around that.
enum HeldTenants {
  @TaskLocal static var tenants: [Tenant] = []

  static func contains(_ tenant: Tenant) -> Bool { tenants.contains { $0 === tenant } }
}

/// A thread or task that waits for a tenant.
///
/// Sendable because its variables are accessed only under the lock of ``OpenTenants``, or before it waits
/// and after it was woken.
final class TenantWaiter: @unchecked Sendable {
  let start = MonotonicClock.now
  let use: Use
  /// The tenant that it waits for, as long as it waits.
  var tenant: Tenant?
  var outcome: Result<DatabaseQueue?, any Error>?
  var isCancelled = false
  /// Whether the check before a removal is, or was, made for it.
  var isChecked = false
  var continuation: UnsafeContinuation<DatabaseQueue?, any Error>?
  /// A waiting thread's semaphore; nil for a task.
  let semaphore: DispatchSemaphore?

  /// The purpose of acquiring a tenant.
  enum Use {
    /// A scope that uses the connection.
    case scope
    /// A migration. It creates no file and doesn't keep the tenant open, and opening may take any time.
    case migration
    /// The removal of the file.
    case removal
  }

  init(_ use: Use, isTask: Bool) {
    self.use = use
    semaphore = isTask ? nil : DispatchSemaphore(value: 0)
  }

  var creates: Bool { use == .scope }

  /// Whether it has waited too long. A migration may take its time once it has begun.
  func isLate(at time: Duration, after timeout: Duration) -> Bool {
    guard time - start >= timeout else { return false }
    return !isPatient || tenant?.isInLine == true
  }

  /// Whether it waits as long as it takes to open the tenant.
  var isPatient: Bool { use == .migration }

  func wake() {
    if let semaphore {
      semaphore.signal()
    } else if let outcome {
      continuation?.resume(with: outcome)
    }
  }
}
