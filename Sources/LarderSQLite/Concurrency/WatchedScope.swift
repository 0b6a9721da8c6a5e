import FoundationEssentials
import Synchronization

/// The times of one scope, by which it is explained if it turns out slow, and of which its span is made.
///
/// Sendable because the call waits for its scope: one thread at a time touches it.
final class WatchedScope: @unchecked Sendable {
  /// Who held the writer when the scope was called; nil for nobody.
  let ahead: String?
  /// How many waited for the writer then.
  let waiting: Int
  private let measurement: ScopeMeasurement
  private let start = MonotonicClock.nanoseconds
  private let date: Date?
  private var bodyBegan = 0
  private var bodyEnded = 0
  private var waited = 0
  private var statementCount = 0
  private var attempts = 0
  private var statements: [String: AccessStatistics.Timing] = [:]
  private var ranges: [String: Range<Int>] = [:]
  /// The time in COMMIT, in nanoseconds.
  private let inCommit = Atomic<Int>(0)

  /// How many texts of statements are kept apart at most.
  private static let mostTexts = 100

  init(_ measurement: ScopeMeasurement, behind ahead: String?, waiting: Int) {
    self.measurement = measurement
    self.ahead = ahead
    self.waiting = waiting
    date = measurement.spans == nil ? nil : Date()
  }

  /// Runs the scope's body.
  ///
  /// - Parameter statementCount: how many statements the connection has run so far.
  func run(
    on connection: Connection, _ statementCount: () -> Int, _ body: () throws -> Void
  ) rethrows {
    attempts += 1
    (statements, ranges) = ([:], [:])
    inCommit.store(0, ordering: .relaxed)
    waited = connection.waited.inNanoseconds
    let before = statementCount()
    connection.onTimedCommit = { [weak self] in self?.inCommit.store($0, ordering: .relaxed) }
    let measured = connection.measures
    if measurement.spans != nil {
      connection.measures = true
      connection.onTimedStatement = { [unowned self] in note($0, $1) }
    }
    bodyBegan = MonotonicClock.nanoseconds
    defer {
      bodyEnded = MonotonicClock.nanoseconds
      self.statementCount = statementCount() - before
      connection.measures = measured
      connection.onTimedStatement = nil
    }
    try body()
  }

  private func note(_ sql: () -> String, _ time: Duration) {
    let (spent, now) = (time.inNanoseconds, MonotonicClock.nanoseconds)
    var text = measurement.masksLiterals ? sql().withoutLiterals : sql()
    if statements.count >= Self.mostTexts, statements[text] == nil { text = "other" }
    statements[text, default: .init()].add(time)
    let end = max(spent, now - start)
    ranges[text] = (ranges[text]?.lowerBound ?? end - spent)..<end
  }

  /// Adds the time of a scope that has ended to those of its label, and returns its span; nil if nobody asks
  /// for it.
  func end(_ call: ScopeCall, of engine: String, at place: String?, _ error: (any Error)?)
    -> ScopeSpan?
  {
    let end = MonotonicClock.nanoseconds
    measurement.times?.add(end - start, of: call)
    guard let date else { return nil }
    let hasBegun = bodyBegan > 0
    let commit = inCommit.load(ordering: .relaxed)
    func time(_ nanoseconds: Int) -> Duration { .nanoseconds(max(0, nanoseconds)) }
    return ScopeSpan(
      label: call.name ?? call.description, path: place, date: date, duration: time(end - start),
      waited: time(hasBegun ? waited : end - start),
      begin: time(hasBegun ? bodyBegan - start - waited : 0), statements: statements,
      commit: time(commit), sync: time(hasBegun ? end - bodyEnded - commit : 0),
      retries: max(0, attempts - 1), error: error, engine: engine, ranges: ranges)
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
    let commit = inCommit.load(ordering: .relaxed)
    text += ": \(milliseconds(waited)) waiting\(waited > 0 ? company : ""), "
    text += "\(milliseconds(bodyBegan - start - waited)) to begin, "
    text += "\(milliseconds(bodyEnded - bodyBegan)) in its closure (\(statementCount) statements), "
    text += "\(milliseconds(commit)) in COMMIT, "
    text += "\(milliseconds(end - bodyEnded - commit)) until it was durable or had ended"
    if attempts > 1 {
      text += "; it took \(attempts) attempts, and these are the times of the last"
    }
    return text
  }
}
