import LarderSQLite
import Synchronization

/// What is counted of a pool's connections to its servers, and whether one can be opened.
///
/// Each scope adds to two numbers, once it has ended. Only opening a connection takes the lock.
final class ServerFigures: Sendable {
  private let attempts = Atomic<Int>(0)
  private let roundTrips = Atomic<Int>(0)
  private let state = Lock(State())
  /// Whether an attempt to connect runs or has failed, so that a server's answer is news.
  private let isInDoubt = Atomic<Bool>(false)

  private struct State {
    var address: String?
    var connects = 0
    /// When the first attempt began since the last sign of life; nil if there was none.
    var since: Duration?
    var error: DatabaseError?
    /// Whether the log was told of the outage.
    var isTold = false

    mutating func noteAlive() {
      (since, error, isTold) = (nil, nil, false)
    }
  }

  /// How long an attempt to connect may run before it counts as an outage.
  private static let patience = Duration.seconds(1)

  // MARK: Counting

  /// Counts a scope that has ended.
  ///
  /// - Parameter isAlive: whether the server has answered, and the connection is open.
  func noteScope(roundTrips count: Int, isAlive: Bool) {
    attempts.wrappingAdd(1, ordering: .relaxed)
    roundTrips.wrappingAdd(count, ordering: .relaxed)
    if isAlive, isInDoubt.load(ordering: .relaxed) {
      isInDoubt.store(false, ordering: .relaxed)
      state.withLock { $0.noteAlive() }
    }
  }

  /// Notes that connecting begins.
  func noteConnecting() {
    isInDoubt.store(true, ordering: .relaxed)
    state.withLock { state in
      if state.since == nil { state.since = MonotonicClock.now }
    }
  }

  /// Notes a connection to a server of this host and port.
  func noteConnected(to address: String) {
    state.withLock { state in
      state.address = address
      state.connects += 1
      state.noteAlive()
    }
  }

  /// Notes that no server could be connected to. An attempt that its caller has stopped says nothing.
  func noteFailure(_ failure: PostgresFailure, at places: String) {
    isInDoubt.store(true, ordering: .relaxed)
    state.withLock { state in
      guard failure.sqlState != SQLState.canceled else {
        if state.error == nil { state.since = nil }
        return
      }
      var error = DatabaseError(failure)
      error.path = places
      state.error = error
      if state.since == nil { state.since = MonotonicClock.now }
    }
  }

  /// The error of an outage that the log hasn't been told of; nil if there is none.
  func takeNews() -> DatabaseError? {
    state.withLock { state in
      defer { state.isTold = true }
      return state.isTold ? nil : state.error
    }
  }

  // MARK: Reading

  /// The host and port of the server that the newest connection leads to.
  var address: String? { state.withLock { $0.address } }

  func statistics(
    maximumConnections: Int, replicas: [ReplicaStatistics]
  ) -> ServerStatistics {
    let now = MonotonicClock.now
    let state = state.withLock { $0 }
    let outage = state.since.map { max(.zero, now - $0) }
    return ServerStatistics(
      address: state.address, maximumConnections: maximumConnections,
      connects: state.connects, attempts: attempts.load(ordering: .relaxed),
      roundTrips: roundTrips.load(ordering: .relaxed),
      outage: state.error != nil || outage ?? .zero >= Self.patience ? outage : nil,
      error: state.error, replicas: replicas)
  }
}
