import Dispatch
import FoundationEssentials
import LarderSQLite

/// A continuous log of a database: what is committed is in another place about a second later, and the database
/// can be restored to any of these moments.
///
/// ```swift
/// let log = try pool.replicate(to: .folder("/mnt/backup"))
/// …
/// try ReplicatedDatabase.restore(from: .folder("/mnt/backup"), to: "cities.db", at: .time(yesterday))
/// ```
///
/// The log begins with a whole copy (the base). From then on, once per interval, the pages that were changed
/// are shipped as a segment: each page once, as the last commit has left it. If commits are durable, a segment
/// has only what is on disk. An idle database ships nothing.
///
/// A connection of its own holds a read mark in the write-ahead log, so that no process overwrites what wasn't
/// read. Writers don't wait for it, and nothing is added to a commit. Commits of other processes are shipped,
/// too. While the sink can't be reached, only the numbers of changed pages are kept, and the write-ahead log
/// stays as short as ever; later, one segment has all of them.
///
/// When the process begins anew, the log goes on. After a crash, the write-ahead log tells what wasn't
/// shipped. After an orderly end, a table of checksums (the file `DATABASE-shipped`) tells which pages differ,
/// if any. If neither is there, a new generation begins with a whole copy, which `Configuration.log` is told
/// of. Begin to replicate right after opening: what is moved out of the write-ahead log before can't be read.
///
/// A log has one owner. Whoever begins to replicate becomes the owner; the former one finds that out before its
/// next segment, and ships nothing any more (``Statistics/error``). Its segments of after that moment are never
/// read.
///
/// The replication ends with ``cancel()``, or when the queue or pool is closed or gone.
public final class ReplicatedDatabase: Sendable {
  let shipper: LogShipper
  private let connections: WeakConnections

  /// Figures of what was done since the start.
  public struct Statistics: Sendable {
    /// The last moment that can be restored; nil while the first whole copy isn't complete.
    public internal(set) var position: Position?
    /// How many segments were shipped.
    public internal(set) var segments = 0
    /// How many pages these had.
    package internal(set) var pages = 0
    /// The bytes of all objects that were shipped.
    public internal(set) var bytes = 0
    /// How many whole copies were made.
    package internal(set) var bases = 0
    /// How often the log had to begin anew. The first time counts.
    public internal(set) var generations = 0
    /// How often all pages were compared with those that were shipped, since nobody had held the write-ahead
    /// log for a while.
    package internal(set) var comparisons = 0
    /// The bytes of pages that were changed and aren't shipped yet.
    public internal(set) var pendingBytes = 0
    /// How long the oldest of them has waited.
    public var lag: Duration { pendingSince.map { MonotonicClock.now - $0 } ?? .zero }
    /// How often shipping has failed. It is tried again, with back-off of up to 30 seconds.
    public internal(set) var failures = 0
    /// The error of the last attempt; nil if that went well.
    public internal(set) var error: (any Error)?

    var pendingSince: Duration?
  }

  fileprivate init(_ shipper: LogShipper, _ connections: Connections) {
    self.shipper = shipper
    self.connections = WeakConnections(connections)
  }

  /// The queue's or pool's connections. Throws `ResultCode.misuse` if it is gone.
  var openConnections: Connections {
    get throws {
      guard let value = connections.value else { throw Self.endError }
      return value
    }
  }

  /// Figures of what was done. They can be read at any time.
  public var statistics: Statistics { shipper.state.withLock { $0.statistics } }

  /// Ships what was committed before this call, and returns once the sink has it. Callers at the same time share
  /// a segment.
  ///
  /// Throws `ResultCode.busyTimeout` if that takes longer than the limit; it is shipped later then. Throws
  /// `ResultCode.readOnly` if another owner has the log, and `ResultCode.misuse` once the replication has
  /// ended.
  @discardableResult
  public func ship(within limit: Duration = .seconds(30)) throws -> Position {
    let waiter = try request()
    guard waiter.wait(within: limit) else { throw lateError }
    return try outcome(of: waiter)
  }

  /// Async variant. Cancelling the task doesn't end the wait.
  @discardableResult
  public func ship(within limit: Duration = .seconds(30)) async throws -> Position {
    let waiter = try request()
    DispatchQueue.global().asyncAfter(deadline: .now() + limit.dispatchInterval) { waiter.resume() }
    await waiter.wait()
    return try outcome(of: waiter)
  }

  private func request() throws -> ShipRequest {
    let waiter = try shipper.state.withLock { state in
      if let lost = state.lost { throw lost }
      guard !state.hasEnded else { throw Self.endError }
      state.requested += 1
      let waiter = ShipRequest(state.requested)
      state.waiters.append(waiter)
      return waiter
    }
    shipper.kick()
    return waiter
  }

  private func outcome(of waiter: ShipRequest) throws -> Position {
    try shipper.state.withLock { state in
      if state.served >= waiter.request, let position = state.statistics.position {
        return position
      }
      if let lost = state.lost { throw lost }
      if state.hasEnded { throw Self.endError }
      state.waiters.removeAll { $0 === waiter }
      throw lateError(state.statistics.error)
    }
  }

  private var lateError: DatabaseError { lateError(statistics.error) }

  private func lateError(_ cause: (any Error)?) -> DatabaseError {
    DatabaseError(
      .busyTimeout,
      "what was committed isn't known to be in the log yet" + (cause.map { ": \($0)" } ?? ""))
  }

  private static var endError: DatabaseError {
    DatabaseError(.misuse, "the replication has ended")
  }

  /// Merges and removes objects as if it were a moment, in milliseconds since 1970.
  package func keepUp(asAt now: Int) throws { try shipper.keepUp(asAt: now) }

  /// Ends the replication. What was committed before is shipped, if the sink is there. Cancelling again does
  /// nothing.
  public func cancel() {
    shipper.end()
    connections.value?.remove(shipper)
    try? connections.value?.setLogHolder(nil)
  }
}

/// Sendable because the reference never changes.
private final class WeakConnections: @unchecked Sendable {
  private(set) weak var value: Connections?

  init(_ value: Connections?) { self.value = value }
}

extension DatabaseAccess {
  /// Begins to ship a continuous log of the database. See ``LarderReplication/ReplicatedDatabase``.
  ///
  /// - Parameters:
  ///   - sink: the place to ship to, such as `.folder("/mnt/backup")`.
  ///   - name: the database's name there; nil for that of its file. Each database in a sink has its own.
  ///   - interval: how often a segment is cut, if anything was committed.
  ///   - keeping: how long what can be restored is kept: each segment for a day, those of a minute together for
  ///     a week, then those of an hour.
  ///   - onFailure: called with each error, one call at a time.
  ///
  /// Throws ``UnsupportedByEngine`` if the engine isn't SQLite. Throws `ResultCode.misuse` for a database without
  /// a write-ahead log, if it is replicated already, if the log of that name belongs to another database,
  /// inside of a scope that writes, and after `close()`; and the sink's errors if it can't be reached at the
  /// start. Later errors aren't thrown.
  public func replicate(
    to sink: some LogSink, as name: String? = nil, every interval: Duration = .seconds(1),
    keeping: Duration = .seconds(30 * 86_400), onFailure: (@Sendable (any Error) -> Void)? = nil
  ) throws -> ReplicatedDatabase {
    var plan = ReplicationPlan(interval: interval)
    plan.keeping = keeping
    plan.onFailure = onFailure
    return try replicate(to: sink, as: name, plan)
  }

  package func replicate(
    to sink: any LogSink, as name: String?, _ plan: ReplicationPlan
  ) throws -> ReplicatedDatabase {
    guard let writer = connections.writersFile else {
      throw UnsupportedByEngine(engine: connections.engine, feature: "replication")
    }
    guard plan.interval > .zero else {
      throw DatabaseError(.misuse, "the interval between segments has to be positive")
    }
    guard let location = writer.location else {
      throw DatabaseError(.misuse, "only a database in a file can be replicated")
    }
    let name = name ?? FileLocation.name(at: location.path)
    guard LogShipper.isName(name) else {
      throw DatabaseError(
        .misuse,
        "“\(name)” can't be a name in a log: use letters, digits, “-”, “_”, “.” and “/”")
    }
    let identity = try DatabaseIdentity(of: connections, at: location)
    let weak = WeakConnections(connections)
    let shipper = LogShipper(
      of: location, identity, writer.configuration, into: sink, name + "/", plan,
      waitUntilDurable: { try weak.value?.waitUntilDurable() })
    try connections.setLogHolder(shipper)
    do {
      try shipper.start()
      try connections.add(shipper)
    } catch {
      try? connections.setLogHolder(nil)
      shipper.abandon()
      throw error
    }
    shipper.begin()
    return ReplicatedDatabase(shipper, connections)
  }
}

extension LogShipper {
  static func isName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 250 && !name.hasPrefix("/") && !name.hasSuffix("/")
      && !name.split(separator: "/", omittingEmptySubsequences: false).contains {
        $0.isEmpty || $0.hasPrefix(".") || $0 == "owner"
      }
      && name.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
          || [0x2d, 0x2e, 0x2f, 0x5f].contains(byte)
      }
  }
}
