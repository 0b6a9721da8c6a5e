import Larder

/// Finds statements that run again and again, such as a query for each row of another (N + 1 queries).
///
/// ```swift
/// let repeated = RepeatedStatements()
/// let queue = try DatabaseQueue(configuration: repeated.watching(Configuration()))
/// let found = try repeated.during(atLeast: 3) { try showAllCountries(queue) }
/// #expect(found.isEmpty)      // ["SELECT … FROM \"city\" WHERE \"id\" = :id": 249]
/// ```
public final class RepeatedStatements: Sendable {
  private let counts = Lock<[String: Int]>([:])

  /// Watches nothing yet.
  public init() {}

  /// The configuration for connections that are to be watched. Who was told before of statements
  /// still is.
  public func watching(_ configuration: Configuration) -> Configuration {
    var watching = configuration
    let (trace, threshold) = (configuration.trace, configuration.slowStatementThreshold)
    watching.slowStatementThreshold = .zero
    watching.trace = { [counts] event in
      counts.withLock { $0[event.sql, default: 0] += 1 }
      if event.duration >= threshold { trace?(event) }
    }
    return watching
  }

  /// The statements that ran so often while a closure did, on all watched connections, with the
  /// number of their runs. The values of arguments make no difference.
  public func during(atLeast count: Int = 2, _ body: () throws -> Void) rethrows -> [String: Int] {
    let before = counts.withLock { $0 }
    try body()
    let after = counts.withLock { $0 }
    return after.reduce(into: [:]) { found, statement in
      let runs = statement.value - (before[statement.key] ?? 0)
      if runs >= max(1, count) { found[statement.key] = runs }
    }
  }
}
