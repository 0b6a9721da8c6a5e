import CSQLite
import Dispatch
import Synchronization

/// What a scope runs in.
@usableFromInline
enum ScopeKind {
  /// No transaction but those that the body makes.
  case plain
  /// The same, with a body that is a savepoint as a whole.
  case savepoint
  /// A transaction.
  case transaction(TransactionKind)
  /// A snapshot that isn't written.
  case read

  /// Whether it can run again as a whole: all that it did is undone when it fails.
  var isTransaction: Bool {
    switch self {
    case .transaction, .savepoint: true
    case .plain, .read: false
    }
  }
}

/// A scope that waits to be run.
///
/// What makes it Sendable: its variables are touched by one thread at a time: first by the caller,
/// then, once it was handed over under the line's lock, by the thread that runs it, and by the caller
/// again after `settlement` has changed.
final class Job: @unchecked Sendable {
  let kind: ScopeKind
  let scope: Scope
  private var body: ((Database) throws -> Void)?
  /// When it was made, on the ``MonotonicClock``.
  let start = MonotonicClock.now
  private(set) var outcome: Result<Void, any Error> = .success(())
  /// The reader that it was given, in a pool.
  var reader: Reader?
  /// Whether the task of the caller was cancelled.
  let isCancelled = Atomic<Bool>(false)

  private let settlement = Atomic<Int>(0)
  /// What wakes the thread that waits, or nil if none does.
  private let semaphore: DispatchSemaphore?
  private var whenFinished: (@Sendable (Result<Void, any Error>) -> Void)?

  /// How waiting has ended.
  enum Settlement: Int {
    /// The caller has what it waited for, and runs the job.
    case leads = 1
    /// Somebody else has run it, or nobody ever will.
    case finished
  }

  /// - Parameter isAsynchronous: whether no thread waits for the job, which calls back instead.
  init(
    _ kind: ScopeKind, _ scope: Scope, isAsynchronous: Bool = false,
    body: @escaping (Database) throws -> Void
  ) {
    self.kind = kind
    self.scope = scope
    self.body = body
    semaphore = isAsynchronous ? nil : DispatchSemaphore(value: 0)
  }

  /// Sets what is called at the end, before the job is given to anybody.
  func whenFinished(_ call: @escaping @Sendable (Result<Void, any Error>) -> Void) {
    whenFinished = call
  }

  /// Whether no thread waits for it.
  var isAsynchronous: Bool { semaphore == nil }

  /// Says what became of it. The caller goes on.
  func finish(_ outcome: Result<Void, any Error>) {
    self.outcome = outcome
    // The caller's closure, which it has only lent, has to be given back before it goes on.
    body = nil
    settle(.finished)
    whenFinished?(outcome)
  }

  /// Calls the caller's closure.
  func call(_ database: Database) throws { try body?(database) }

  /// Tells the thread that waits to run it.
  func lead() { settle(.leads) }

  private func settle(_ how: Settlement) {
    settlement.store(how.rawValue, ordering: .releasing)
    semaphore?.signal()
  }

  /// Waits until it is settled; nil when the time is up before.
  ///
  /// A short wait turns round and round: putting a thread to sleep and waking it takes longer than
  /// most transactions.
  func wait(until deadline: Duration, spins: Int) -> Settlement? {
    guard let semaphore else { return nil }
    for _ in 0..<spins {
      if settlement.load(ordering: .relaxed) != 0 { break }
      larder_pause()
    }
    let left = deadline - MonotonicClock.now
    guard semaphore.wait(timeout: .now() + left.dispatchInterval) == .success else { return nil }
    return Settlement(rawValue: settlement.load(ordering: .acquiring))
  }

  /// Waits until it is settled, which must be certain to happen.
  func wait() -> Settlement {
    semaphore?.wait()
    return Settlement(rawValue: settlement.load(ordering: .acquiring)) ?? .finished
  }
}

extension Duration {
  /// The same for waiting: no less than nothing and no more than a century, which sums can hold.
  var dispatchInterval: DispatchTimeInterval {
    .nanoseconds(Int(min(max(self, .zero) / .nanoseconds(1), 3e18)))
  }
}
