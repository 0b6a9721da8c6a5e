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

  /// The times of calls if nothing else is asked for, for which a scope isn't watched.
  var onlyTimes: CallTimes? { spans == nil && slowScopeThreshold == nil ? times : nil }
}

/// The times of scopes by their labels, and of their statements. No lock is taken once a connection is known.
final class CallTimes: Sendable {
  /// The statements of each connection, since threads that add to the same numbers wait for one another.
  private let statements = Lock<[TimedWork]>([])
  /// The statements of connections that are closed.
  private let former = TimedWork()
  /// The labels' addresses; 0 in places that are free.
  private let labels = InlineArray<128, Atomic<UInt>> { _ in Atomic(0) }
  private let works = (0..<128).map { _ in TimedWork() }
  /// The scopes for which there is no place.
  private let others = TimedWork()

  /// Times those statements of a connection that are measured.
  func timeStatements(of connection: Connection) {
    guard connection.statementTimes == nil else { return }
    let times = TimedWork()
    statements.withLock { statements in
      foldFormer(&statements)
      statements.append(times)
    }
    connection.statementTimes = times
  }

  /// Adds up the statements of connections that are closed.
  private func foldFormer(_ statements: inout [TimedWork]) {
    for index in statements.indices.reversed()
    where isKnownUniquelyReferenced(&statements[index]) {
      former.take(statements.remove(at: index))
    }
  }

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
    statistics.statements = statements.withLock { statements in
      foldFormer(&statements)
      return statements.reduce(into: AccessStatistics.Timing(former)) {
        $0 += AccessStatistics.Timing($1)
      }
    }
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
