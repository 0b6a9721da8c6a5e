import Foundation
import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport

/// Commits that wait for a synchronous standby that is gone: whoever is told something meanwhile has to be told what
/// turns out to be so, be it that the standby comes back, or that the primary goes, too, and with it all that the
/// standby hasn't got.
///
/// A server that is asked to cancel such a commit says that it took place, with a warning.
struct HeldCommits {
  /// What happens to a call while its commit is held.
  enum Fate: CaseIterable {
    /// It is waited for.
    case waits
    /// The task is cancelled.
    case cancelled
    /// The statement's deadline passes.
    case late
    /// The call is interrupted by its pool.
    case interrupted
    /// The connection is cut, so that the pool asks what became of it.
    case cut
  }

  let cluster: PostgresCluster
  let writers: Writers

  /// Holds commits of a primary up, and then kills it, or lets them go on. Returns what the callers were told.
  func run(primary: Int, standby: Int, isKilled: Bool) throws -> Writers.Told {
    writers.begin()
    var configuration = PostgresConfiguration()
    configuration.commitTokens = true
    let address = cluster.address
    func pool(
      _ address: String = address, _ change: (inout PostgresConfiguration) -> Void = { _ in }
    ) throws -> PostgresPool {
      var own = configuration
      change(&own)
      let pool = try PostgresPool(address, configuration: own)
      // Connected before the commits are held.
      try pool.read { _ in }
      return pool
    }
    let proxy = try Proxy(to: cluster.folders[primary])
    let waiting = try pool()
    let late = try pool { $0.statementDeadline = .milliseconds(400) }
    let interrupted = try pool()
    let cut = try pool(address.replacing(cluster.folders[primary], with: proxy.folder))
    try cluster.kill(standby)
    let group = DispatchGroup()
    let interruption = Lock<InterruptHandle?>(nil)
    let task = Lock<Task<String, any Error>?>(nil)
    for fate in Fate.allCases {
      let id = writers.take()
      group.enter()
      let pool =
        switch fate {
        case .waits, .cancelled: waiting
        case .late: late
        case .interrupted: interrupted
        case .cut: cut
        }
      if fate == .cancelled {
        let payment = Task { try await pool.inTransaction { try writers.pay($0, id) } }
        task.withLock { $0 = payment }
        Task {
          writers.note(id, await payment.result, of: 0, .cancelled)
          group.leave()
        }
      } else {
        Thread.detachNewThread {
          let result = Result {
            try pool.inTransaction { db in
              if fate == .interrupted { interruption.withLock { $0 = db.interruptHandle } }
              return try writers.pay(db, id)
            }
          }
          writers.note(
            id, result, of: 0, fate == .late || fate == .interrupted ? .cancelled : .thread)
          group.leave()
        }
      }
    }
    let watch = try onePool(cluster.addresses[primary])
    try ReplicaTrial.wait(for: "all commits are held") {
      try watch.read { db in
        try db.value(
          "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'", as: Int.self)
      } == Fate.allCases.count
    }
    task.withLock { $0?.cancel() }
    interruption.withLock { $0?.interrupt() }
    proxy.cut(after: 0)
    usleep(100_000)
    proxy.cut(after: .max)
    // Longer than the deadline and what a cancellation takes.
    usleep(1_000_000)
    if isKilled {
      try cluster.kill(primary)
      try cluster.start(standby)
      try cluster.promote(standby)
    } else {
      try cluster.start(standby)
    }
    guard group.wait(timeout: .now() + 60) == .success else { throw Wrong("a held commit hangs") }
    return try writers.stop()
  }
}
