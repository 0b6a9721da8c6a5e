/// One run of a statement, for ``Configuration/trace``.
public struct TraceEvent: Sendable {
  /// The statement, with placeholders for its arguments.
  public let sql: String
  /// The statement with its arguments written out, if ``Configuration/showsArguments`` is on.
  public let expandedSQL: String?
  /// The time spent in SQLite, which leaves out what the program did between rows.
  public let duration: Duration
  /// How long the scope that ran it has waited for the writer, or for a reader, of its queue or pool; zero
  /// outside of queues and pools.
  public let waited: Duration
  /// The number of rows that it returned.
  public let rowCount: Int
}

/// Whom a connection tells what it does.
struct Reporting {
  var log: (@Sendable (DatabaseError) -> Void)?
  var trace: (@Sendable (TraceEvent) -> Void)?
  var slowStatementThreshold: Duration
  var showsArguments: Bool
}
