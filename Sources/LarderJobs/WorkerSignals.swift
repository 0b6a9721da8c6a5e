import Larder

// How idle workers are woken on a server. On SQLite, observation wakes them.

extension StoredJob {
  /// Wakes the idle workers of the queues of jobs that are ready, once the transaction is committed.
  static func wakeWorkers(of jobs: [StoredJob], _ db: Database) throws {
    guard db.hasEngine else { return }
    for queue in Set(jobs.filter { $0.state == .ready }.map(\.queue)).sorted() {
      try db.signal(WorkerSignals.channel, queue)
    }
  }
}

/// The signals of an idle worker.
struct WorkerSignals {
  static let channel = "larder_job"

  private var reception: (any EngineSignalReception)?
  private var hasAsked = false

  /// Waits for signals, or lets others do without. Without signals, as behind a pooler, the worker looks for
  /// jobs from time to time.
  mutating func wait(
    _ isWaiting: Bool, _ store: any DatabaseAccess, _ ring: @escaping @Sendable (String?) -> Void
  ) async {
    if !hasAsked {
      hasAsked = true
      reception = try? await store.signals(on: Self.channel, ring)
    }
    reception?.wait(isWaiting)
  }
}
