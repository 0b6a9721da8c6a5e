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

  /// An unretained reference to the times of calls if nothing else is asked for: then a scope isn't watched.
  var onlyTimes: Unmanaged<CallTimes>? {
    spans == nil && slowScopeThreshold == nil ? times.map(Unmanaged.passUnretained) : nil
  }
}

/// The times of scopes by their labels, and of their statements. A sample of them is timed; see ``SampledWork``.
final class CallTimes: Sendable {
  /// The statements of each connection, since threads that add to the same numbers wait for one another.
  private let statements = Lock<[StatementTimes]>([])
  /// The statements of connections that are closed.
  private let former = StatementTimes()
  /// The labels' addresses; 0 in places that are free.
  private let labels = InlineArray<128, Atomic<UInt>> { _ in Atomic(0) }
  /// The scopes of each label, and last those for which there is no place.
  private let works = InlineArray<129, SampledWork> { _ in SampledWork() }

  /// Times the statements of a connection from now on.
  func timeStatements(of connection: Connection) {
    let times = StatementTimes()
    statements.withLock { statements in
      foldFormer(&statements)
      statements.append(times)
    }
    connection.measureStatements(times)
  }

  /// Adds up the statements of connections that are closed.
  private func foldFormer(_ statements: inout [StatementTimes]) {
    for index in statements.indices.reversed()
    where isKnownUniquelyReferenced(&statements[index]) {
      former.work.take(statements.remove(at: index).work)
    }
  }

  /// The place of a call's times.
  @inline(__always)
  private func place(of call: ScopeCall) -> Int {
    let index = Int(truncatingIfNeeded: (call.label &* 0x9E37_79B9_7F4A_7C15) >> 57)
    if call.label != 0, labels[index].load(ordering: .relaxed) == call.label { return index }
    return findPlace(of: call, from: index)
  }

  private func findPlace(of call: ScopeCall, from first: Int) -> Int {
    guard call.label != 0 else { return labels.count }
    var index = first
    for _ in labels.indices {
      let outcome = labels[index].compareExchange(
        expected: 0, desired: call.label, ordering: .relaxed)
      if outcome.exchanged || outcome.original == call.label { return index }
      index = (index + 1) % labels.count
    }
    return labels.count
  }

  /// Runs a scope as one of its label's, and times it if it is its turn.
  @inline(__always)
  func measure<T>(_ call: ScopeCall, _ body: () throws -> T) rethrows -> T {
    let place = place(of: call)
    let start = works[place].begin()
    // No defer: the compiler would make it a function of its own.
    do {
      let result = try body()
      works[place].end(start)
      return result
    } catch {
      works[place].end(start)
      throw error
    }
  }

  /// Async variant.
  func measure<T>(_ call: ScopeCall, _ body: () async throws -> T) async rethrows -> T {
    let place = place(of: call)
    let start = works[place].begin()
    defer { works[place].end(start) }
    return try await body()
  }

  /// Notes a scope of a label, each of which is timed.
  func add(_ spent: Int, of call: ScopeCall) {
    works[place(of: call)].add(.init(coarse: spent, exact: spent, isTimed: true))
  }

  func describe(_ statistics: inout AccessStatistics) {
    statistics.statements = statements.withLock { statements in
      foldFormer(&statements)
      return statements.reduce(into: AccessStatistics.Timing(former.work.figures)) {
        $0 += AccessStatistics.Timing($1.work.figures)
      }
    }
    for index in labels.indices {
      let label = labels[index].load(ordering: .relaxed)
      // Equal labels may have several addresses.
      guard let name = ScopeCall(label: label, line: 0).name else { continue }
      statistics.calls[name, default: .init()] += AccessStatistics.Timing(works[index].figures)
    }
    let rest = AccessStatistics.Timing(works[labels.count].figures)
    if rest.count > 0 { statistics.calls["other", default: .init()] += rest }
  }
}
