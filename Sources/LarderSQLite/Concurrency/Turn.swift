import Dispatch
import Synchronization

/// Whose turn it is: a lock whose waiters are served in order, and can be served by its holder.
///
/// Where nobody waits, taking it and giving it back costs one atomic exchange each. Otherwise the
/// line decides, so that nobody who comes later gets it first.
///
/// What makes it Sendable: it has no state but atomics and the line; what subclasses add is theirs.
class Turn: @unchecked Sendable {
  private let state = Atomic<Int>(free)
  let line: Line
  /// Runs jobs that no thread waits for.
  private let worker = DispatchQueue(label: "larder.writer")

  private static let free = 0
  private static let held = 1
  /// Held, and there may be somebody in the line.
  private static let wanted = 2

  /// - Parameter timeout: how long a job waits.
  init(timeout: Duration) { line = Line(timeout: timeout, purpose: "its turn to write") }

  /// Runs a job that has the turn, gives the turn back and finishes the job.
  func lead(_ job: Job) {}

  /// Takes the turn if nobody has it.
  final func take() -> Bool {
    state.compareExchange(
      expected: Self.free, desired: Self.held, successOrdering: .acquiring,
      failureOrdering: .relaxed
    ).exchanged
  }

  /// Gives the turn to the first in the line, or to nobody.
  final func giveBack() {
    if state.compareExchange(
      expected: Self.held, desired: Self.free, successOrdering: .releasing,
      failureOrdering: .relaxed
    ).exchanged {
      return
    }
    let next = line.change { waiting in
      let next = waiting.popFirst()
      if next == nil { state.store(Self.free, ordering: .releasing) }
      return next
    }
    if let next { handOver(to: next) }
  }

  private func handOver(to job: Job) {
    if job.isAsynchronous { worker.async { self.lead(job) } } else { job.lead() }
  }

  /// Puts a job into the line, unless the turn is free: then it is the job's.
  private func line(up job: Job) -> (hasTurn: Bool, isFirst: Bool) {
    line.change { waiting in
      if state.exchange(Self.wanted, ordering: .acquiring) == Self.free { return (true, true) }
      waiting.append(job)
      return (false, waiting.count == 1)
    }
  }

  /// Waits for the turn on this thread, and runs the job unless somebody else has.
  final func wait(for job: Job) {
    let (hasTurn, isFirst) = line(up: job)
    // Turning round is worth it for the first in the line; others would take time from it.
    if hasTurn || line.wait(for: job, spins: isFirst ? 2000 : 0) == .leads { lead(job) }
  }

  /// Has the job run when it is its turn, on a thread of the worker or of somebody else.
  final func submit(_ job: Job) {
    if line(up: job).hasTurn { handOver(to: job) }
  }

  /// Takes a job out of the line; false if it isn't in it any more.
  final func remove(_ job: Job) -> Bool { line.change { $0.remove(job) } }

  /// Whether there may be somebody in the line.
  final var isWanted: Bool { state.load(ordering: .relaxed) == Self.wanted }

  /// Takes the first out of the line if it may join what the holder of the turn is doing.
  final func popFirst(where mayJoin: (Job) -> Bool) -> Job? {
    guard isWanted else { return nil }
    return line.change { waiting in
      guard let first = waiting.first(), mayJoin(first) else { return nil }
      return waiting.popFirst()
    }
  }

  /// Takes all out of the line that have waited since this time or longer.
  final func popAll(waitingSince time: Duration) -> [Job] {
    line.change { $0.removeAll { $0.start <= time } }
  }
}
