import Dispatch
import LarderSQLite
import Synchronization

/// Read replicas of a server. Reads go to them in turn (round robin), and see the pool's own earlier writes.
///
/// A replica that lags behind what is to be read, or can't be reached, is left out for a time that doubles (a
/// circuit breaker), and comes back once it has passed a probe, for which no caller waits.
final class Replicas: EngineReplicas {
  /// Why a replica can't be read from now.
  enum Refusal: Error, CustomStringConvertible {
    /// The replica didn't reach the wanted position in time.
    case lags
    /// The replica is on an older timeline: it follows another primary, or doesn't follow the new one yet.
    case isBehind
    /// The server isn't a replica any more.
    case isPrimary

    var description: String {
      switch self {
      case .lags: "it lags behind the primary"
      case .isBehind: "it doesn't follow the primary"
      case .isPrimary: "it is the primary"
      }
    }
  }

  private let replicas: [Replica]
  private let next = Atomic<Int>(0)
  /// The position that reads have to see.
  private let needed = Lock(Needed())
  private let wait: Duration
  private let prober = DispatchQueue(label: "larder.replicas")
  /// Its log is told of replicas that are left out.
  private let configuration: Configuration
  /// Knows which of the servers is the primary.
  private let figures: ServerFigures

  private struct Needed {
    /// The position behind the last commit that was noted.
    var position = CommitPosition()
    /// The number of commits whose position isn't known.
    var unknown = 0
    /// How many of these commits are known to be before ``position``.
    var located = 0
  }

  /// - Parameters:
  ///   - replicas: the connections to each, and its name.
  ///   - wait: how long a read waits for a replica that lags.
  ///   - configuration: its log is told of replicas that are left out.
  ///   - figures: what is known of the server that transactions run on.
  init(
    _ replicas: [(name: String, connections: Connections)], waitAtMost wait: Duration,
    _ configuration: Configuration, _ figures: ServerFigures
  ) {
    self.configuration = configuration
    self.figures = figures
    self.replicas = replicas.map { Replica(name: $0.name, connections: $0.connections) }
    self.wait = max(.zero, wait.bounded)
  }

  /// Notes a commit, which reads see from now on; nil for one whose position in the log isn't known.
  func note(commitAt new: CommitPosition?) {
    needed.withLock { needed in
      if let new { needed.position = max(needed.position, new) } else { needed.unknown += 1 }
    }
  }

  /// The position behind the commits that were noted; nil if the primary has to be asked for it.
  var committed: CommitPosition? {
    needed.withLock { $0.located == $0.unknown ? $0.position : nil }
  }

  /// Asks a connection to the primary for the position behind the commits that were noted.
  private func locate(_ db: Database) throws -> CommitPosition {
    let unknown = needed.withLock { $0.unknown }
    let position = try db.postgres.position()
    return needed.withLock { needed in
      needed.position = max(needed.position, position)
      needed.located = max(needed.located, unknown)
      return needed.position
    }
  }

  // MARK: Reads

  func run(
    _ call: ScopeCall, besides primary: Connections, _ body: (Database) throws -> Void
  ) throws -> Bool { try run(call, notBefore: CommitPosition(), besides: primary, body) }

  /// Runs a read on a replica. False if no replica can run it now, so that it has to run elsewhere, from its
  /// beginning.
  ///
  /// - Parameter known: a further position that the read has to see. It comes from elsewhere, so that a
  ///   replica that hasn't reached it isn't left out for that.
  func run(
    _ call: ScopeCall, notBefore known: CommitPosition, besides primary: Connections,
    _ body: (Database) throws -> Void
  ) throws -> Bool {
    var own = committed
    if own == nil { try primary.runOnPrimary(.read, call) { own = try locate($0) } }
    let attempt = Attempt(self, own ?? known, notBefore: known)
    while let replica = attempt.next() {
      do {
        try replica.connections.runOnce(.read, call) { db in
          try attempt.catchUp(db, replica)
          try body(db)
        }
        replica.note()
        return true
      } catch {
        try attempt.failed(replica, error)
      }
    }
    return false
  }

  func run<T: Sendable>(
    _ call: ScopeCall, besides primary: Connections,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T? {
    try await run(call, notBefore: CommitPosition(), besides: primary, body)
  }

  /// Async variant. Nil if no replica can run the read now.
  func run<T: Sendable>(
    _ call: ScopeCall, notBefore known: CommitPosition, besides primary: Connections,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T? {
    let own =
      if let committed { committed } else {
        try await primary.performOnPrimary(.read, call) { try self.locate($0) }
      }
    let attempt = Attempt(self, own, notBefore: known)
    while let replica = attempt.next() {
      do {
        let value = try await replica.connections.performOnce(.read, call) { db in
          try attempt.catchUp(db, replica)
          return try body(db)
        }
        replica.note()
        return value
      } catch {
        try attempt.failed(replica, error)
      }
    }
    return nil
  }

  /// One read, which goes from replica to replica.
  private final class Attempt: Sendable {
    private let replicas: Replicas
    private let own: CommitPosition
    private let known: CommitPosition
    private let deadline: Duration
    private let first: Int
    /// The number of replicas that were considered so far.
    private let count = Atomic<Int>(0)

    init(_ replicas: Replicas, _ own: CommitPosition, notBefore known: CommitPosition) {
      self.replicas = replicas
      self.own = own
      self.known = known
      deadline = MonotonicClock.now + replicas.wait
      first = replicas.next.wrappingAdd(1, ordering: .relaxed).newValue & .max
    }

    func next() -> Replica? {
      let all = replicas.replicas
      while case let index = count.wrappingAdd(1, ordering: .relaxed).oldValue, index < all.count {
        let replica = all[(first &+ index) % all.count]
        if !replica.isLeftOut { return replica }
      }
      return nil
    }

    func catchUp(_ db: Database, _ replica: Replica) throws {
      let needed = max(known, own)
      guard needed > CommitPosition() else { return }
      let engine = try db.postgres
      // Compared with the pool's own position, since one from elsewhere may be made up.
      defer { replica.note(replayed: engine.replayed, of: own) }
      try engine.catchUp(to: needed, until: deadline)
    }

    /// Leaves a replica out if the error is the replica's own. Throws other errors.
    func failed(_ replica: Replica, _ error: any Error) throws {
      switch error {
      case let refusal as Refusal:
        // The read's time is used up, so no other replica is tried.
        if case .lags = refusal { count.store(.max / 2, ordering: .relaxed) }
        if case .isPrimary = refusal { break }
        if known > own { return replica.noteElsewhere() }
      case let error as DatabaseError where SQLState.isTransient(error): break
      default: throw error
      }
      replicas.leaveOut(replica, error)
    }
  }

  // MARK: Leaving out

  private func leaveOut(_ replica: Replica, _ error: any Error) {
    let isPrimary = isPrimary(replica, error)
    guard let pause = replica.leaveOut(error, isPrimary: isPrimary) else { return }
    probe(replica, in: pause)
    guard !isPrimary else { return }
    let reason = (error as? DatabaseError)?.message ?? "\(error)"
    var event = DatabaseError(
      .warning, "reads leave out the server \(replica.name): \(reason)", engine: "PostgreSQL")
    event.path = replica.name
    _ = configuration.reporting(event)
  }

  /// Whether a server is left out because it is the primary. Connecting to it as a standby fails, too.
  private func isPrimary(_ replica: Replica, _ error: any Error) -> Bool {
    if case Refusal.isPrimary = error { return true }
    return replica.name == figures.address
  }

  /// Probes a replica, which comes back once it has what reads have to see.
  private func probe(_ replica: Replica, in pause: Duration) {
    prober.asyncAfter(deadline: .now() + pause.dispatchInterval) { [weak self] in
      guard let self, !replica.connections.isClosed else { return }
      do {
        try replica.connections.runOnce(.read, ScopeCall("probe(_:in:)")) { db in
          let needed = max(self.needed.withLock { $0.position }, CommitPosition(bytes: 1))
          let engine = try db.postgres
          defer { replica.note(replayed: engine.replayed, of: needed) }
          try engine.catchUp(to: needed, until: MonotonicClock.now + self.wait)
        }
        replica.comeBack()
      } catch {
        let isPrimary = self.isPrimary(replica, error)
        self.probe(replica, in: replica.staysOut(error, isPrimary: isPrimary))
      }
    }
  }

  // MARK: All of them

  var statistics: [ReplicaStatistics] { replicas.map(\.statistics) }

  func interrupt() { for replica in replicas { replica.connections.interrupt() } }

  func releaseIdle() { for replica in replicas { replica.connections.releaseIdle() } }

  func close() throws { for replica in replicas { try replica.connections.close() } }
}

/// A replica, and whether it is read from.
private final class Replica: Sendable {
  let connections: Connections
  let name: String
  private let reads = Atomic<Int>(0)
  private let state = Lock(State())
  private let isOut = Atomic<Bool>(false)
  /// How many bytes of the log it lacked when it was last asked.
  private let pendingBytes = Atomic<Int>(0)

  private struct State {
    /// The number of failures in a row.
    var failures = 0
    var fallbacks = 0
    var lastError: String?
    /// Since when it has been left out; nil if it isn't, or because it is the primary.
    var since: Duration?
  }

  init(name: String, connections: Connections) {
    self.name = name
    self.connections = connections
  }

  var isLeftOut: Bool { isOut.load(ordering: .acquiring) }

  func note() { reads.wrappingAdd(1, ordering: .relaxed) }

  /// Notes how far it has replayed the log, of which a part is needed. Nothing is known if it didn't answer.
  func note(replayed: CommitPosition, of needed: CommitPosition) {
    guard replayed.bytes > 0 else { return }
    pendingBytes.store(Int(max(0, needed.bytes - replayed.bytes)), ordering: .relaxed)
  }

  /// Counts a read that had to go to another server.
  func noteElsewhere() { state.withLock { $0.fallbacks += 1 } }

  /// Leaves the replica out. Returns the time until it is probed; nil if it was left out already.
  func leaveOut(_ error: any Error, isPrimary: Bool) -> Duration? {
    noteElsewhere()
    guard !isOut.exchange(true, ordering: .acquiringAndReleasing) else { return nil }
    return staysOut(error, isPrimary: isPrimary)
  }

  /// The time until the next probe: exponential back-off with jitter, up to 6.4 seconds.
  func staysOut(_ error: any Error, isPrimary: Bool) -> Duration {
    state.withLock { state in
      state.failures += 1
      state.lastError = "\(error)"
      state.since = isPrimary ? nil : state.since ?? MonotonicClock.now
      let longest = 50 << min(state.failures, 7)
      return .milliseconds(Int.random(in: longest / 2...longest))
    }
  }

  func comeBack() {
    state.withLock { state in
      state.failures = 0
      state.since = nil
    }
    isOut.store(false, ordering: .releasing)
  }

  var statistics: ReplicaStatistics {
    let state = state.withLock { $0 }
    let used = connections.statistics
    return ReplicaStatistics(
      name: name, reads: reads.load(ordering: .relaxed), fallbacks: state.fallbacks,
      isLeftOut: isLeftOut, error: state.lastError,
      outage: state.since.map { max(.zero, MonotonicClock.now - $0) },
      pendingBytes: pendingBytes.load(ordering: .relaxed), busyReaders: used.busyReaders,
      idleReaders: used.idleReaders)
  }
}

/// Replicas for reads that have to see a position in the log.
struct ReplicasNotBefore: EngineReplicas {
  let replicas: Replicas
  let position: CommitPosition

  func run(
    _ call: ScopeCall, besides primary: Connections, _ body: (Database) throws -> Void
  ) throws -> Bool {
    try replicas.run(call, notBefore: position, besides: primary, body)
  }

  func run<T: Sendable>(
    _ call: ScopeCall, besides primary: Connections,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T? {
    try await replicas.run(call, notBefore: position, besides: primary, body)
  }

  func interrupt() { replicas.interrupt() }
  func releaseIdle() { replicas.releaseIdle() }
  func close() throws { try replicas.close() }
}
