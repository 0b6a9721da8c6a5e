import Synchronization

/// How the scopes of another engine run again: for how long, and which of them wait for one another rather than be in
/// each other's way again.
///
/// An engine that lets several write at a time fails some of them; the more often their closures run, the more they are
/// in others' way, so that many that write the same may do less than one. So a transaction that was refused a few times
/// runs alone among those that were, and so does each from the beginning that is called where most are refused.
package final class EngineRetries: Sendable {
  /// For how long a transaction is tried again; nil for not at all.
  fileprivate let limit: Duration?
  /// Whether an error has undone all that the scope has done, and another attempt may not meet it.
  let isTransient: @Sendable (DatabaseError) -> Bool
  /// Whether there was no connection to be had when one was last asked for.
  private let isFailing: @Sendable () -> Bool
  /// Whether a scope has given up since one has succeeded: then it is known that the server is gone, and no other waits
  /// as long again.
  private let hasGivenUp = Atomic<Bool>(false)
  private let crowds = Lock<[ScopeCall: Crowd]>([:])
  private let retries = Atomic<Int>(0)
  private let mostAttempts = Atomic<Int>(0)

  /// Those that are called at one place.
  private struct Crowd {
    /// Goes up with each refusal, and down with each success.
    var refusals = 0
    /// How many run alone from now on.
    var left = 0
    /// How many do so the next time.
    var length = 32

    /// More than a fourth are refused.
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
        // The next ones show whether they get along.
        if left == 0 { refusals = Self.mostRefusals - 3 }
      } else if refusals == 0 {
        length = 32
      }
    }
  }

  /// After so many refusals a transaction runs alone.
  private static let patience = 3

  package init(
    limit: Duration?, isTransient: @escaping @Sendable (DatabaseError) -> Bool,
    isFailing: @escaping @Sendable () -> Bool = { false }
  ) {
    self.limit = limit
    self.isTransient = isTransient
    self.isFailing = isFailing
  }

  /// Counts something that runs again.
  package func noteRetry() { retries.add(1, ordering: .relaxed) }

  func describe(_ statistics: inout AccessStatistics) {
    statistics.retries += retries.load(ordering: .relaxed)
    statistics.mostAttempts = mostAttempts.load(ordering: .relaxed)
  }

  /// The attempts of one scope.
  struct Attempts {
    private let retries: EngineRetries
    private let call: ScopeCall
    private let isTransaction: Bool
    private var retry: Retry
    private var count = 1
    private var refusals = 0
    /// Whether the next attempt waits until no other does that waits, too.
    private(set) var isAlone: Bool

    fileprivate init(_ retries: EngineRetries, _ kind: ScopeKind, _ call: ScopeCall) {
      self.retries = retries
      self.call = call
      isTransaction = kind.isTransaction
      let isGone = retries.hasGivenUp.load(ordering: .relaxed) && retries.isFailing()
      retry = Retry(limit: isGone ? nil : retries.limit, isTransient: retries.isTransient)
      isAlone = isTransaction && retries.crowds.withLock { $0[call]?.left ?? 0 } > 0
    }

    /// How long to wait before the next attempt. Throws the error where there is to be none.
    mutating func pause(after error: any Error) throws -> Duration {
      let pause: Duration
      do {
        pause = try retry.pause(after: error)
      } catch {
        if retries.isFailing() { retries.hasGivenUp.store(true, ordering: .relaxed) }
        throw error
      }
      retries.noteRetry()
      count += 1
      guard isTransaction, (error as? DatabaseError)?.code == .busy else { return pause }
      refusals += 1
      // Where others run alone, too, another attempt beside them would be in their way.
      let isCrowded = retries.crowds.withLock { crowds in
        crowds[call, default: Crowd()].noteRefusal()
        return crowds[call].map { $0.left > 0 } ?? false
      }
      isAlone = isAlone || isCrowded || refusals >= EngineRetries.patience
      // It waits for its turn instead.
      return isAlone ? .zero : pause
    }

    func noteSuccess() {
      if retries.hasGivenUp.load(ordering: .relaxed) {
        retries.hasGivenUp.store(false, ordering: .relaxed)
      }
      if count > retries.mostAttempts.load(ordering: .relaxed) {
        retries.mostAttempts.store(count, ordering: .relaxed)
      }
      guard isTransaction else { return }
      retries.crowds.withLock { crowds in
        guard crowds[call] != nil else { return }
        crowds[call]?.noteSuccess()
      }
    }

    /// What runs in a scope, which waits first where it is to run alone.
    func running(_ body: @escaping (Database) throws -> Void) -> (Database) throws -> Void {
      guard isAlone else { return body }
      return { database in
        try database.waitForTurn(retries.limit)
        try body(database)
      }
    }
  }

  func attempts(_ kind: ScopeKind, _ call: ScopeCall) -> Attempts { Attempts(self, kind, call) }
}

extension Connections {
  /// Runs a scope of another engine, again where it has to.
  func runRetrying(
    _ retries: EngineRetries, _ kind: ScopeKind, _ call: ScopeCall,
    _ body: (Database) throws -> Void
  ) throws {
    var attempts = retries.attempts(kind, call)
    while true {
      do {
        try withoutActuallyEscaping(body) { try runOnce(kind, call, attempts.running($0)) }
        return attempts.noteSuccess()
      } catch {
        BusyHandler.sleep(try attempts.pause(after: DatabaseError.naming(engine, in: error)))
      }
    }
  }

  /// The same for a task.
  func performRetrying<T: Sendable>(
    _ retries: EngineRetries, _ kind: ScopeKind, _ call: ScopeCall,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    var attempts = retries.attempts(kind, call)
    while true {
      do {
        let isAlone = attempts.isAlone
        let limit = retries.limit
        let value = try await performOnce(kind, call) { database in
          if isAlone { try database.waitForTurn(limit) }
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
  /// Waits until no other transaction runs that has waited so, in this process or another.
  fileprivate func waitForTurn(_ limit: Duration?) throws {
    try connection.reporting {
      try engine?.waitForTurn(until: limit.map { MonotonicClock.now + $0.bounded })
    }
  }
}
