import Synchronization

/// The times of one scope, by which it is explained if it turns out slow.
///
/// Sendable because the call waits for its scope: one thread at a time touches it.
final class WatchedScope: @unchecked Sendable {
  /// Who held the writer when the scope was called; nil for nobody.
  let ahead: String?
  /// How many waited for the writer then.
  let waiting: Int
  private let start = MonotonicClock.nanoseconds
  private var bodyBegan = 0
  private var bodyEnded = 0
  private var waited = Duration.zero
  private var statements = 0
  private var attempts = 0
  /// The time in COMMIT, in nanoseconds.
  private let inCommit = Atomic<Int>(0)

  init(behind ahead: String?, waiting: Int) {
    self.ahead = ahead
    self.waiting = waiting
  }

  /// Runs the scope's body.
  ///
  /// - Parameter statementCount: how many statements the connection has run so far.
  func run(
    on connection: Connection, _ statementCount: () -> Int, _ body: () throws -> Void
  ) rethrows {
    attempts += 1
    inCommit.store(0, ordering: .relaxed)
    waited = connection.waited
    let before = statementCount()
    connection.onTimedCommit = { [weak self] in self?.inCommit.store($0, ordering: .relaxed) }
    bodyBegan = MonotonicClock.nanoseconds
    defer {
      bodyEnded = MonotonicClock.nanoseconds
      statements = statementCount() - before
    }
    try body()
  }

  /// The explanation of a scope that has ended and taken this long or longer; nil for a faster one.
  func explanation(of label: String, from threshold: Duration) -> String? {
    let end = MonotonicClock.nanoseconds
    guard .nanoseconds(end - start) >= threshold else { return nil }
    func milliseconds(_ nanoseconds: Int) -> String {
      let tenths = max(0, nanoseconds) / 100_000
      return "\(tenths / 10).\(tenths % 10) ms"
    }
    var text = "the scope \(label) took \(milliseconds(end - start))"
    let company =
      ahead.map { " behind \($0)" + (waiting > 0 ? " and \(waiting) others" : "") } ?? ""
    guard bodyBegan > 0 else { return text + ", all of it waiting\(company)" }
    let (wait, commit) = (waited.inNanoseconds, inCommit.load(ordering: .relaxed))
    text += ": \(milliseconds(wait)) waiting\(wait > 0 ? company : ""), "
    text += "\(milliseconds(bodyBegan - start - wait)) to begin, "
    text += "\(milliseconds(bodyEnded - bodyBegan)) in its closure (\(statements) statements), "
    text += "\(milliseconds(commit)) in COMMIT, "
    text += "\(milliseconds(end - bodyEnded - commit)) until it was durable or had ended"
    if attempts > 1 {
      text += "; it took \(attempts) attempts, and these are the times of the last"
    }
    return text
  }
}
