/// One run of a statement, for ``Configuration/trace``.
public struct TraceEvent: Sendable {
  /// The statement, with placeholders for its arguments.
  public let sql: String
  /// The statement with its arguments written out, if ``Configuration/showsArguments`` is on.
  public let expandedSQL: String?
  /// The time spent in SQLite, which leaves out what the program did between rows.
  public let duration: Duration
  /// The number of rows that it returned.
  public let rowCount: Int
}

/// The part of a configuration that tracing needs.
struct TraceOptions {
  var handler: (@Sendable (TraceEvent) -> Void)?
  var threshold: Duration

  init(_ configuration: Configuration) {
    handler = configuration.trace
    threshold = configuration.slowStatementThreshold
  }
}
