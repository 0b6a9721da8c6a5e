import FoundationEssentials

/// The times of one scope from its call to its return, for ``Configuration/spans``.
///
/// What is left of ``duration`` is the closure's: its statements, and the program's own work.
public struct ScopeSpan: Sendable {
  /// The scope's label, by default the name of the function that called it.
  public let label: String
  /// The absolute path of the database's file, or the server's address without secrets; nil for a database in
  /// memory.
  public let path: String?
  /// When it was called.
  public let date: Date
  /// How long it took, until its caller went on.
  public let duration: Duration
  /// How long it waited for the writer, a reader, or a server's connection.
  public let waited: Duration
  /// The time from then until its closure began: BEGIN, the checks before it, and earlier attempts.
  public let begin: Duration
  /// The statements of its closure by their SQL, which has placeholders for arguments. Of the 101st text and
  /// later ones, all are under the text `other`.
  public let statements: [String: AccessStatistics.Timing]
  /// The time in COMMIT; zero if there was none, or if the database is in memory.
  public let commit: Duration
  /// The time from then until its caller went on, in which it waited for a shared sync.
  public let sync: Duration
  /// How often its closure ran again.
  public let retries: Int
  /// The error that it threw, as its closure or the database threw it; nil for none.
  public let error: (any Error)?
  /// The context of the trace that it belongs to, as in the header `traceparent` of
  /// [W3C's recommendation](https://www.w3.org/TR/trace-context/#traceparent-header). Nil: it begins a trace.
  ///
  /// ```swift
  /// configuration.spans = { span in
  ///   var span = span
  ///   span.traceParent = Request.traceParent  // a task-local value
  ///   exporter.add(span)
  /// }
  /// ```
  public var traceParent: String?

  /// The engine's name, as in errors.
  let engine: String
  /// When each statement first began and last ended, in nanoseconds from the scope's call.
  let ranges: [String: Range<Int>]
}
