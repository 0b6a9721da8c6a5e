import LarderSQLite
import Synchronization

/// The retries of scopes: how long they go on, and which scopes take turns instead of colliding again.
///
/// A server with concurrent writers fails some of them. The more often their closures run, the more they
/// collide, so that many writers of the same rows may get less done than one. So a transaction that was
/// refused a few times takes turns with others like it. A transaction that is called where most are refused
/// does so from its first attempt.
final class PostgresRetries: EngineRetries {
  /// How long a transaction is retried; nil for not at all.
  private let limit: Duration?
  let servers: ServerList
  /// Its log is told of an outage, during which calls are retried and throw nothing.
  private let configuration: Configuration
  /// How to connect, for the feeds.
  let settings: PostgresConfiguration
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

  init(limit: Duration?, _ servers: ServerList, _ settings: PostgresConfiguration) {
    self.settings = settings
    configuration = settings.common
    self.limit = limit
    self.servers = servers
  }

  /// Counts a retry.
  func noteRetry() { retries.wrappingAdd(1, ordering: .relaxed) }

  /// Tells the log, once in an outage, that no connection can be opened.
  private func tellOfOutage() {
    guard servers.isFailing, let error = servers.figures.takeNews() else { return }
    var event = DatabaseError(
      .warning, "no connection can be opened, and calls are retried: \(error.message)",
      engine: "PostgreSQL")
    event.path = error.path
    _ = configuration.reporting(event)
  }

  func describe(_ statistics: inout AccessStatistics) {
    statistics.retries += retries.load(ordering: .relaxed)
    statistics.mostAttempts = mostAttempts.load(ordering: .relaxed)
  }

  /// The attempts of one scope.
  private struct Attempts {
    private let retries: PostgresRetries
    private let call: ScopeCall
    private let isTransaction: Bool
    private var retry: Retry
    private var count = 1
    private var refusals = 0
    /// Whether the next attempt waits for its turn, and runs alone among those that do so.
    private(set) var isAlone: Bool

    init(_ retries: PostgresRetries, _ kind: ScopeKind, _ call: ScopeCall) {
      self.retries = retries
      self.call = call
      isTransaction = kind.isTransaction
      let isGone = retries.hasGivenUp.load(ordering: .relaxed) && retries.servers.isFailing
      retry = Retry(limit: isGone ? nil : retries.limit, isTransient: SQLState.isTransient)
      isAlone = isTransaction && retries.crowds.withLock { $0[call]?.left ?? 0 } > 0
    }

    /// The pause before the next attempt. Throws the error if there is to be no further attempt.
    mutating func pause(after error: any Error) throws -> Duration {
      let pause: Duration
      do {
        pause = try retry.pause(after: error)
      } catch {
        // An error that isn't retried says nothing about the server, even if a connection has just failed.
        if let known = error as? DatabaseError, SQLState.isTransient(known),
          retries.servers.isFailing
        {
          retries.hasGivenUp.store(true, ordering: .relaxed)
        }
        throw error
      }
      retries.noteRetry()
      retries.tellOfOutage()
      count += 1
      guard isTransaction, (error as? DatabaseError)?.code == .busy else { return pause }
      refusals += 1
      // If others of this place run alone, another attempt beside them would collide with them.
      let isCrowded = retries.crowds.withLock { crowds in
        crowds[call, default: Crowd()].noteRefusal()
        return crowds[call].map { $0.left > 0 } ?? false
      }
      isAlone = isAlone || isCrowded || refusals >= PostgresRetries.patience
      // The wait for its turn replaces the pause.
      return isAlone ? .zero : pause
    }

    func noteSuccess() {
      if retries.hasGivenUp.load(ordering: .relaxed) {
        retries.hasGivenUp.store(false, ordering: .relaxed)
      }
      if count > retries.mostAttempts.load(ordering: .relaxed) {
        retries.mostAttempts.store(count, ordering: .relaxed)
      }
      if isTransaction { retries.crowds.withLock { $0[call]?.noteSuccess() } }
    }
  }

  // MARK: Running

  func run(
    _ kind: ScopeKind, _ call: ScopeCall, on connections: Connections,
    _ body: (Database) throws -> Void
  ) throws {
    var attempts = Attempts(self, kind, call)
    while true {
      do {
        try connections.runOnce(kind, call) { database in
          if attempts.isAlone { try database.waitForTurn(limit) }
          try body(database)
        }
        return attempts.noteSuccess()
      } catch {
        BusyHandler.sleep(
          try attempts.pause(after: DatabaseError.naming(connections.engine, in: error)))
      }
    }
  }

  func run<T: Sendable>(
    _ kind: ScopeKind, _ call: ScopeCall, on connections: Connections,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    var attempts = Attempts(self, kind, call)
    while true {
      do {
        let isAlone = attempts.isAlone
        let value = try await connections.performOnce(kind, call) { [limit] database in
          if isAlone { try database.waitForTurn(limit) }
          return try body(database)
        }
        attempts.noteSuccess()
        return value
      } catch {
        try await Task.sleep(
          for: attempts.pause(after: DatabaseError.naming(connections.engine, in: error)))
      }
    }
  }
}
