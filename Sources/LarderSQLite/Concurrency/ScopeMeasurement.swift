import Synchronization

/// What is measured of each scope of a queue or pool, because the configuration asks for it.
final class ScopeMeasurement: Sendable {
  let slowScopeThreshold: Duration?
  let spans: (@Sendable (ScopeSpan) -> Void)?
  /// Nil unless calls are measured.
  let times: CallTimes?
  let masksLiterals: Bool

  /// Nil if nothing is asked for, so that scopes cost nothing more.
  init?(_ configuration: Configuration) {
    slowScopeThreshold = configuration.slowScopeThreshold
    spans = configuration.spans
    times = configuration.measuresCalls ? CallTimes() : nil
    masksLiterals = configuration.masksLiterals
    if slowScopeThreshold == nil, spans == nil, times == nil { return nil }
  }

  var measuresStatements: Bool { spans != nil || times != nil }
}

/// The times of scopes by their labels, and of their statements. No lock is taken.
final class CallTimes: Sendable {
  let statements = TimedWork()
  /// The labels' addresses; 0 in places that are free.
  private let labels = InlineArray<128, Atomic<UInt>> { _ in Atomic(0) }
  private let works = (0..<128).map { _ in TimedWork() }
  /// The scopes for which there is no place.
  private let others = TimedWork()

  /// The times of the scopes of a call.
  func work(of call: ScopeCall) -> TimedWork {
    guard call.label != 0 else { return others }
    var index = Int(truncatingIfNeeded: (call.label &* 0x9E37_79B9_7F4A_7C15) >> 57)
    for _ in works.indices {
      let found = labels[index].load(ordering: .relaxed)
      if found == call.label { return works[index] }
      if found == 0 {
        let outcome = labels[index].compareExchange(
          expected: 0, desired: call.label, ordering: .relaxed)
        if outcome.exchanged || outcome.original == call.label { return works[index] }
      }
      index = (index + 1) % works.count
    }
    return others
  }

  func describe(_ statistics: inout AccessStatistics) {
    statistics.statements = AccessStatistics.Timing(statements)
    for index in works.indices {
      let label = labels[index].load(ordering: .relaxed)
      // Equal labels may have several addresses.
      guard let name = ScopeCall(label: label, line: 0).name else { continue }
      statistics.calls[name, default: .init()] += AccessStatistics.Timing(works[index])
    }
    let rest = AccessStatistics.Timing(others)
    if rest.count > 0 { statistics.calls["other", default: .init()] += rest }
  }
}
