import Dispatch
import Larder

/// An operation on many databases, several at a time, on threads of its own. Failures don't keep other
/// databases from being done.
final class FleetRun: Sendable {
  enum Outcome {
    case changed, unchanged
  }

  private struct State {
    var keys: ArraySlice<String>
    /// The reason why no more databases are begun; nil to continue.
    var end: (any Error)?
  }

  private let state: Lock<State>
  /// The lock is held while progress is reported, so that the numbers only rise.
  private let report: Lock<FleetReport>
  private let progress: (@Sendable (FleetReport) throws -> Void)?
  private let work: @Sendable (String) throws -> Outcome

  init(
    _ keys: [String], progress: (@Sendable (FleetReport) throws -> Void)?,
    _ work: @escaping @Sendable (String) throws -> Outcome
  ) {
    var report = FleetReport()
    report.total = keys.count
    state = Lock(State(keys: keys[...]))
    self.report = Lock(report)
    self.progress = progress
    self.work = work
  }

  private func start(_ concurrency: Int) -> DispatchGroup {
    let group = DispatchGroup()
    let count = state.withLock { min($0.keys.count, concurrency, 64) }
    for _ in 0..<max(1, count) {
      // Serial queues have a thread each, even if the others are blocked.
      DispatchQueue(label: "larder.fleet.run").async(group: group) { self.workOff() }
    }
    return group
  }

  private func workOff() {
    while let key = state.withLock({ $0.end == nil ? $0.keys.popFirst() : nil }) {
      let outcome = Result { try work(key) }
      report.withLock { report in
        switch outcome {
        case .success(.changed): report.changed += 1
        case .success(.unchanged): report.unchanged += 1
        case .failure(let error): report.failures.append((key, error))
        }
        do {
          try progress?(report)
        } catch {
          end(error)
        }
      }
    }
  }

  private func end(_ error: any Error) {
    state.withLock { state in if state.end == nil { state.end = error } }
  }

  private func outcome() throws -> FleetReport {
    if let end = state.withLock({ $0.end }) { throw end }
    let report = report.withLock { $0 }
    guard report.failures.isEmpty else { throw FleetError.failures(report) }
    return report
  }

  func run(_ concurrency: Int) throws -> FleetReport {
    start(concurrency).wait()
    return try outcome()
  }

  /// Async variant. If the task is cancelled, the databases in progress are finished.
  func run(_ concurrency: Int) async throws -> FleetReport {
    try await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        start(concurrency).notify(queue: .global()) { continuation.resume() }
      }
      return try outcome()
    } onCancel: {
      end(CancellationError())
    }
  }
}
