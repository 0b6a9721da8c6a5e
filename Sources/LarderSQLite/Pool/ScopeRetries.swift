import Synchronization

/// The retries of scopes: how long they go on, and which scopes take turns instead of colliding again.
///
/// An engine with concurrent writers fails some of them. The more often their closures run, the more they
/// collide, so that many writers of the same rows may get less done than one. So a transaction that was
/// refused a few times takes turns with others like it. A transaction that is called where most are refused
/// does so from its first attempt. SQLite's transactions, which lock the whole file, take no turns.
package final class ScopeRetries: Sendable {
  /// How long a transaction is retried; nil for not at all.
  fileprivate let limit: Duration?
  /// Whether an error has undone the whole scope, and another attempt may succeed; nil for SQLite.
  private let isTransient: (@Sendable (DatabaseError) -> Bool)?
  /// Whether the last attempt to connect has failed.
  private let isFailing: @Sendable () -> Bool
  /// Whether a scope has given up since the last success. Then the server is known to be gone, and no other
  /// scope waits as long again.
  private let hasGivenUp = Atomic<Bool>(false)
  private let crowds = Lock<[ScopeCall: Crowd]>([:])
  private let retries = Atomic<Int>(0)
  private let mostAttempts = Atomic<Int>(0)

  /// The transactions that are called at one place in the source.
  private struct Crowd {
    /// A score: up by 3 with each refusal, down by 1 with each success.
    var refusals = 0
    /// How many of the next transactions take turns.
    var left = 0
    /// How many take turns the next time that most are refused.
    var length = 32

    /// The score from which transactions take turns: more than a fourth are refused.
    static let mostRefusals = 9
    static let longest = 4_096

    mutating func noteRefusal() {
      refusals = min(refusals + 3, Self.mostRefusals)
      guard refusals == Self.mostRefusals, left == 0 else { return }
      left = length
      length = min(2 * length, Self.longest)
    }

    mutating func noteSuccess() {
      refusals = max(0, refusals - 1)
      if left > 0 {
        left -= 1
        // The next ones show whether they still collide.
        if left == 0 { refusals = Self.mostRefusals - 3 }
      } else if refusals == 0 {
        length = 32
      }
    }
  }

  /// The number of refusals after which a transaction takes turns with others.
  private static let patience = 3

  package init(
    limit: Duration?, isTransient: (@Sendable (DatabaseError) -> Bool)? = nil,
    isFailing: @escaping @Sendable () -> Bool = { false }
  ) {
    self.limit = limit
    self.isTransient = isTransient
    self.isFailing = isFailing
  }

  /// Counts a retry.
  package func noteRetry() { retries.add(1, ordering: .relaxed) }

  func describe(_ statistics: inout AccessStatistics) {
    statistics.retries = retries.load(ordering: .relaxed)
    statistics.mostAttempts = mostAttempts.load(ordering: .relaxed)
  }

  /// The attempts of one scope.
  struct Attempts {
    private let retries: ScopeRetries
    private let call: ScopeCall
    private let takesTurns: Bool
    private var retry: Retry
    private var count = 1
    private var refusals = 0
    /// Whether the next attempt waits for its turn, and runs alone among those that do so.
    private(set) var isAlone: Bool

    init(_ retries: ScopeRetries, _ kind: ScopeKind, _ call: ScopeCall) {
      self.retries = retries
      self.call = call
      takesTurns = kind.isTransaction && retries.isTransient != nil
      let isGone = retries.hasGivenUp.load(ordering: .relaxed) && retries.isFailing()
      retry = Retry(limit: isGone ? nil : retries.limit, isTransient: retries.isTransient)
      isAlone = takesTurns && retries.crowds.withLock { $0[call]?.left ?? 0 } > 0
    }

    /// The pause before the next attempt. Throws the error if there is to be no further attempt.
    mutating func pause(after error: any Error) throws -> Duration {
      let pause: Duration
      do {
        pause = try retry.pause(after: error)
      } catch {
        // An error that isn't retried says nothing about the server, even if a connection has just failed.
        if let known = error as? DatabaseError, retries.isTransient?(known) == true,
          retries.isFailing()
        {
          retries.hasGivenUp.store(true, ordering: .relaxed)
        }
        throw error
      }
      retries.noteRetry()
      count += 1
      guard takesTurns, (error as? DatabaseError)?.code == .busy else { return pause }
      refusals += 1
      // If others of this place run alone, another attempt beside them would collide with them.
      let isCrowded = retries.crowds.withLock { crowds in
        crowds[call, default: Crowd()].noteRefusal()
        return crowds[call].map { $0.left > 0 } ?? false
      }
      isAlone = isAlone || isCrowded || refusals >= ScopeRetries.patience
      // The wait for its turn replaces the pause.
      return isAlone ? .zero : pause
    }

    func noteSuccess() {
      if retries.hasGivenUp.load(ordering: .relaxed) {
        retries.hasGivenUp.store(false, ordering: .relaxed)
      }
      if retries.isTransient != nil, count > retries.mostAttempts.load(ordering: .relaxed) {
        retries.mostAttempts.store(count, ordering: .relaxed)
      }
      if takesTurns { retries.crowds.withLock { $0[call]?.noteSuccess() } }
    }
  }
}

extension Connections {
  /// Runs a scope, with retries.
  func runRetrying(
    _ retries: ScopeRetries, _ kind: ScopeKind, _ call: ScopeCall,
    _ body: (Database) throws -> Void
  ) throws {
    var attempts = ScopeRetries.Attempts(retries, kind, call)
    while true {
      do {
        let isAlone = attempts.isAlone
        try runOnce(kind, call) { database in
          if isAlone { try database.waitForTurn(retries.limit) }
          try body(database)
        }
        return attempts.noteSuccess()
      } catch {
        BusyHandler.sleep(try attempts.pause(after: DatabaseError.naming(engine, in: error)))
      }
    }
  }

  /// Async variant. Suspends the task.
  func performRetrying<T: Sendable>(
    _ retries: ScopeRetries, _ kind: ScopeKind, _ call: ScopeCall,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    var attempts = ScopeRetries.Attempts(retries, kind, call)
    while true {
      do {
        let isAlone = attempts.isAlone
        let value = try await performOnce(kind, call) { database in
          if isAlone { try database.waitForTurn(retries.limit) }
          return try body(database)
        }
        attempts.noteSuccess()
        return value
      } catch {
        let pause = try attempts.pause(after: DatabaseError.naming(engine, in: error))
        try await Task.sleep(for: pause)
      }
    }
  }
}

extension Database {
  /// Waits until no other transaction runs that has waited in this way, in this process or another.
  fileprivate func waitForTurn(_ limit: Duration?) throws {
    try connection.reporting {
      try engine?.waitForTurn(until: limit.map { MonotonicClock.now + $0.bounded })
    }
  }
}
