import Dispatch
import Larder
import LarderReplication

extension DatabaseFleet {
  /// Ships a continuous log of each database to one place, from the moment on when it is opened. Call it before
  /// databases are used.
  ///
  /// ```swift
  /// try fleet.replicate(to: .folder("/mnt/backup"))
  /// …
  /// try fleet.restore("acme", from: .folder("/mnt/backup"), to: "acme.db", at: .time(yesterday))
  /// ```
  ///
  /// Eight threads at most ship all databases, and eight close them. A database that isn't open costs nothing, and for one
  /// that is open and wasn't changed, the sink isn't asked for anything. Before a database is closed, the rest is shipped;
  /// `close()` of the fleet waits for that, up to the scope timeout. If the sink can't be reached then, the database is
  /// opened again later, also by the next process that replicates the fleet.
  ///
  /// An open database takes seven more descriptors. One process at a time may replicate a fleet. What other programs have
  /// committed to a closed database is shipped with its next commit. The name of a database's log is that of its file, with
  /// `X` in place of `%`.
  ///
  /// - Parameters:
  ///   - sink: the place to ship to.
  ///   - interval: how often a segment is cut, if anything was committed.
  ///   - keeping: how long what can be restored is kept; see ``LarderReplication/ReplicatedDatabase``.
  ///   - onFailure: called with each error and the database's key, one call at a time.
  ///
  /// Throws `ResultCode.misuse` if databases are open, the fleet is replicated already, or its databases have no
  /// write-ahead log.
  public func replicate(
    to sink: some LogSink, every interval: Duration = .seconds(1),
    keeping: Duration = .seconds(30 * 86_400),
    onFailure: (@Sendable (String, any Error) -> Void)? = nil
  ) throws {
    guard interval > .zero, configuration.database.journalMode == .wal else {
      throw DatabaseError(
        .misuse, "a fleet is replicated if it has write-ahead logs, and at a positive interval")
    }
    var plan = ReplicationPlan(interval: interval)
    plan.keeping = keeping
    let replication = FleetReplication(sink, plan, onFailure)
    try tenants.replicate(replication)
    replication.openUnshipped(of: tenants, try files.unshippedKeys())
  }

  /// Restores a database from the place that the fleet is replicated to; see
  /// ``LarderReplication/ReplicatedDatabase/restore(from:name:to:at:check:configuration:)``.
  ///
  /// To have the fleet go on with it, give it the content of the restored file:
  /// `fleet.inDatabase("acme") { try $0.restore(from: path) }`.
  @discardableResult
  public func restore(
    _ key: String, from sink: some LogSink, to path: String,
    at moment: ReplicatedDatabase.Moment = .latest, check: CopyCheck = .quick
  ) throws -> ReplicatedDatabase.Position {
    try ReplicatedDatabase.restore(
      from: sink, name: FleetReplication.name(of: self.path(of: key)), to: path, at: moment,
      check: check, configuration: configuration.database)
  }
}

/// The logs of a fleet's open databases.
final class FleetReplication: Sendable {
  private let sink: any LogSink
  private let plan: ReplicationPlan
  private let onFailure: (@Sendable (String, any Error) -> Void)?
  private let state = Lock(State())

  private struct State {
    var logs: [TenantKey: ReplicatedDatabase] = [:]
    /// The databases that were closed before all was shipped.
    var unshipped: Set<TenantKey> = []
    var failures = 0
  }

  /// The descriptors of the three connections that hold a log, and of the log itself.
  static let descriptorsOfEach = 7
  /// Where databases are closed, which waits for the threads that ship. If each of some hundred waited on a thread of its
  /// own, Dispatch would have none left to ship with: at 255 it makes no more.
  let closers = Closers()
  /// How many databases are shipped at a time.
  private static let width = 4
  /// The pause between attempts to ship what closed databases have left.
  private static let pause = Duration.seconds(30)

  init(
    _ sink: any LogSink, _ plan: ReplicationPlan,
    _ onFailure: (@Sendable (String, any Error) -> Void)?
  ) {
    self.sink = sink
    self.onFailure = onFailure
    var plan = plan
    plan.isLazy = true
    plan.threads = ShippingThreads(shipping: Self.width)
    self.plan = plan
  }

  /// The name of a database's log. File names have no uppercase letters, but percent signs, which logs' have not.
  static func name(of path: String) -> String {
    FileLocation.name(at: path).split(separator: "%", omittingEmptySubsequences: false)
      .joined(separator: "X")
  }

  /// Begins to ship a database that was just opened. Throws if the process has no descriptors left for that; other errors
  /// don't keep the database from being used.
  func begin(_ key: TenantKey, opening queue: DatabaseQueue, _ path: String) throws {
    do {
      try begin(key, queue, path)
    } catch {
      guard !TenantFiles.areDescriptorsShort(for: Self.descriptorsOfEach) else { throw error }
      state.withLock { _ = $0.unshipped.insert(key) }
      report(key, error)
    }
  }

  private func report(_ key: TenantKey, _ error: any Error) {
    state.withLock { $0.failures += 1 }
    plan.threads?.report { [onFailure] in onFailure?(key.text, error) }
  }

  private func begin(_ key: TenantKey, _ queue: DatabaseQueue, _ path: String) throws {
    var plan = plan
    plan.onFailure = { [weak self] error in
      guard let self else { return }
      state.withLock { $0.failures += 1 }
      onFailure?(key.text, error)
    }
    plan.onEnd = { [weak self] isAllShipped in
      self?.state.withLock {
        if isAllShipped { $0.unshipped.remove(key) } else { $0.unshipped.insert(key) }
      }
    }
    let log = try queue.replicate(to: sink, as: Self.name(of: path), plan)
    state.withLock { $0.logs[key] = log }
  }

  func hasClosed(_ key: TenantKey) { state.withLock { $0.logs[key] = nil } }

  func describe(_ statistics: inout FleetStatistics) {
    let (logs, failures) = state.withLock { (Array($0.logs.values), $0.failures) }
    statistics.failures = failures
    for log in logs {
      let log = log.statistics
      statistics.pendingBytes += log.pendingBytes
      statistics.lag = max(statistics.lag, log.lag)
    }
  }

  // MARK: Closed databases

  /// Opens the databases that have something to ship, and again after a pause those from which that couldn't be shipped.
  func openUnshipped(of tenants: OpenTenants, _ keys: [TenantKey]) {
    state.withLock { $0.unshipped.formUnion(keys) }
    plan.threads?.repeats(after: Self.pause) { [weak self, weak tenants] in
      guard let self, let tenants, !tenants.isClosed else { return false }
      openUnshipped(of: tenants)
      return true
    }
    if !keys.isEmpty {
      plan.threads?.run { [weak self, weak tenants] in
        if let tenants { self?.openUnshipped(of: tenants) }
      }
    }
  }

  private func openUnshipped(of tenants: OpenTenants) {
    let keys = state.withLock { state in state.unshipped.filter { state.logs[$0] == nil } }
    for key in keys {
      do {
        // One that nobody else uses is closed at once, for which all of it is shipped.
        let (tenant, _) = try tenants.acquire(key.text, for: .migration)
        tenants.release(tenant)
      } catch FleetError.noDatabase {
        state.withLock { _ = $0.unshipped.remove(key) }
      } catch {
        report(key, error)
      }
    }
  }
}

/// Some serial queues, which take turns.
final class Closers: Sendable {
  private let queues = (0..<8).map { DispatchQueue(label: "larder.fleet.close.\($0)") }
  private let turn = Lock(0)

  var next: DispatchQueue {
    turn.withLock { turn in
      turn = (turn + 1) % queues.count
      return queues[turn]
    }
  }
}
