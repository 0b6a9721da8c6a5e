import LarderSQLite

/// The commits that a server decodes of its log, for all observers of a pool: which tables are followed, and
/// which of the commits other sessions don't see yet.
///
/// A server decodes a commit as soon as it is on disk. Other sessions see it a little later; if a standby has
/// to confirm it, only after that. So observers are told once the session that listens sees it.
final class DecodedCommits: TableCoverage, Sendable {
  private let servers: ServerList
  private let configuration: PostgresConfiguration
  private let state = Lock(State())

  private struct State {
    var wake: (@Sendable () -> Void)?
    /// Why the server isn't asked any more; nil while it is.
    var failure: (any Error)?
    /// The tables to be followed.
    var wanted: Set<UInt32> = []
    /// The stamps of the tables that are followed, and the tables that can't be.
    var covered: [UInt32: Int64] = [:]
    var refused: Set<UInt32> = []
    /// The stream that follows, and those that are to take its place.
    var streams: [CommitStream] = []
    var current: CommitStream?
    var visibility = CommitVisibility()

    var isPreparing: Bool { streams.contains { $0 !== current } }
  }

  init(_ servers: ServerList, _ configuration: PostgresConfiguration) {
    self.servers = servers
    self.configuration = configuration
  }

  // MARK: The observers

  /// Begins for the first observer.
  ///
  /// - Parameter wake: wakes the thread that calls ``look(_:)``.
  func begin(_ wake: @escaping @Sendable () -> Void) {
    state.withLock { state in
      state = State()
      state.wake = wake
    }
  }

  /// Ends with the last observer.
  func end() {
    let streams = state.withLock { state in
      defer { state = State() }
      return state.streams
    }
    for stream in streams { stream.end() }
  }

  // MARK: The tables

  var countsTriggers: Bool { configuration.commitSource != .log }

  func isCovered(_ tables: [UInt32: Int64]) -> Bool {
    let (isCovered, isOutdated) = state.withLock { state in
      guard state.wake != nil, state.failure == nil,
        tables.keys.allSatisfy({ state.covered[$0] != nil })
      else { return (false, false) }
      // A publication that was changed since may leave commits out, and then nothing else would tell.
      let isSame = tables.allSatisfy { state.covered[$0.key] == $0.value }
      return (isSame, !isSame && !state.isPreparing)
    }
    if isOutdated { restart() }
    return isCovered
  }

  /// The tables that are followed.
  var followed: Set<UInt32> { state.withLock { Set($0.covered.keys) } }

  /// How long ``cover(_:)`` waits for the server, in nanoseconds.
  private static let patience = 200_000_000

  func cover(_ families: [UInt32: Set<UInt32>]) throws -> Set<UInt32>? {
    let limit = MonotonicClock.nanoseconds + Self.patience
    let members = families.values.reduce(into: Set<UInt32>()) { $0.formUnion($1) }
    while true {
      let (isDecided, refused, failure) = try state.withLock { state in
        if state.wake == nil || state.failure != nil { return (true, members, state.failure) }
        state.wanted.formUnion(members)
        if members.allSatisfy({ state.covered[$0] != nil || state.refused.contains($0) }) {
          return (true, state.refused, nil)
        }
        if !state.isPreparing { try startStream(&state) }
        return (false, [], nil)
      }
      if isDecided {
        let isLeft = { (family: Set<UInt32>) in
          failure != nil || !family.isDisjoint(with: refused)
        }
        let left = families.filter { isLeft($0.value) }
        if !left.isEmpty, !countsTriggers { throw unavailable(failure) }
        return Set(left.keys)
      }
      guard MonotonicClock.nanoseconds < limit else { return nil }
      BusyHandler.sleep(.milliseconds(2))
    }
  }

  private func unavailable(_ failure: (any Error)?) -> any Error {
    if let failure, !(failure is CommitsUnavailable) { return failure }
    let why =
      failure.map { "\($0)" } ?? "of a table without a key, that isn't logged, or of another role's"
    return PostgresDefinitions.unsupported("values of what is decoded from its log: \(why)")
  }

  private func startStream(_ state: inout State) throws {
    let stream = try CommitStream(self, servers, configuration)
    state.streams.append(stream)
    stream.start()
  }

  /// Looks anew at what is to be followed: commits may have been missed.
  func restart() {
    let (ended, failure) = state.withLock { state -> ([CommitStream], (any Error)?) in
      guard state.wake != nil, state.failure == nil, !state.wanted.isEmpty else { return ([], nil) }
      let ended = state.streams.filter { $0 !== state.current }
      state.streams.removeAll { $0 !== state.current }
      (state.covered, state.refused) = ([:], [])
      do { try startStream(&state) } catch { return (ended, error) }
      return (ended, nil)
    }
    for stream in ended { stream.end() }
    if let failure { fail(failure) }
  }

  // MARK: The streams

  /// Called when a stream has a connection, before its slot is made. Returns the tables to be followed.
  ///
  /// Making the slot may take as long as the longest transaction. If nothing follows meanwhile, values are
  /// read again and again.
  func prepare(_ stream: CommitStream) -> Set<UInt32> {
    let (wanted, wake) = state.withLock { state in
      let isGap = state.current == nil && !state.covered.isEmpty
      if isGap {
        state.covered = [:]
        state.visibility.isUnknown = true
      }
      return (state.wanted, isGap ? state.wake : nil)
    }
    wake?()
    return wanted
  }

  /// Called when a stream's slot was made: no later commit to these tables is missed. Returns false if the
  /// stream isn't wanted any more.
  func begin(
    _ stream: CommitStream, _ wanted: Set<UInt32>, _ published: [UInt32: Int64]
  ) throws -> Bool {
    let (isWanted, replaced, wake) = try state.withLock { state in
      guard state.streams.contains(where: { $0 === stream }), !stream.isEnded else {
        return (false, [CommitStream](), state.wake)
      }
      let replaced = state.streams.filter { $0 !== stream }
      state.streams = [stream]
      state.current = stream
      state.covered = published
      state.refused = wanted.subtracting(published.keys)
      state.visibility.isStartingAnew = true
      // Others have been read meanwhile.
      if wanted != state.wanted { try startStream(&state) }
      return (true, replaced, state.wake)
    }
    for other in replaced { other.end() }
    if isWanted { wake?() }
    return isWanted
  }

  func note(_ commits: [LoggedCommit]) {
    let wake = state.withLock { state in
      state.visibility.pending += commits
      state.visibility.nextLook = 0
      return state.wake
    }
    wake?()
  }

  /// Called when a stream has lost its connection, which it makes again.
  func noteLoss(of stream: CommitStream, _ error: any Error) {
    let isFirst = state.withLock { state in
      guard state.current === stream else { return false }
      state.current = nil
      return true
    }
    guard isFirst else { return }
    _ = configuration.common.reporting(
      DatabaseError(
        .warning,
        "the connection that follows the server's log was lost, and is made again: \(error)",
        engine: PostgresDefinitions.engine))
  }

  /// Called when the server can't be asked. Triggers take the log's place.
  func fail(_ error: any Error) {
    let (streams, wake) = state.withLock { state in
      guard state.wake != nil else { return ([CommitStream](), state.wake) }
      state.failure = error
      state.covered = [:]
      state.current = nil
      state.visibility = CommitVisibility()
      state.visibility.isUnknown = true
      defer { state.streams = [] }
      return (state.streams, state.wake)
    }
    for stream in streams { stream.end() }
    wake?()
  }

  /// How many commits were decoded that other sessions don't see yet.
  var pendingCount: Int { state.withLock { $0.visibility.pending.count } }

  // MARK: The session that listens

  /// When ``look(_:)`` is to be called, in nanoseconds of the `MonotonicClock`.
  var nextLook: Int { state.withLock { $0.visibility.due } }

  /// Looks which commits other sessions see by now. Returns the tables to which they have written; nil if
  /// commits may have been missed.
  ///
  /// - Parameter session: asks the server.
  func look(_ session: VisibilitySession) throws -> Set<UInt32>? {
    let work = state.withLock { $0.visibility.take() }
    do {
      switch work {
      case .nothing: return []
      case .unknown: return nil
      case .anew:
        let running = try session.running()
        state.withLock { $0.visibility.giveBack(running, seen: true) }
        return nil
      case .commits(let commits):
        let snapshot = try session.snapshot()
        let seen = commits.filter { snapshot.sees($0.transaction) }
        let left = commits.filter { !snapshot.sees($0.transaction) }
        state.withLock { $0.visibility.giveBack(left, seen: !seen.isEmpty) }
        return seen.reduce(into: Set<UInt32>?([])) { tables, commit in
          if let touched = commit.tables { tables?.formUnion(touched) } else { tables = nil }
        }
      }
    } catch {
      // Whoever looks next has lost nothing.
      state.withLock { $0.visibility.isStartingAnew = true }
      throw error
    }
  }
}
