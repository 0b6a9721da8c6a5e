/// One run of a statement, for ``Configuration/trace``.
public struct TraceEvent: Sendable {
  /// The statement, with placeholders for its arguments.
  public internal(set) var sql: String
  /// The statement with its arguments written out, if ``Configuration/showsArguments`` is on.
  public internal(set) var expandedSQL: String?
  /// The time spent in SQLite, without the program's own work between rows.
  public let duration: Duration
  /// How long the scope that ran it has waited for the writer, or for a reader, of its queue or pool; zero
  /// outside of queues and pools.
  public let waited: Duration
  /// The number of rows that it returned.
  public let rows: Int
  /// The absolute path of the database's file, or the server's address without secrets; nil for a database in
  /// memory.
  public internal(set) var path: String?
  /// The label of the scope that ran it; nil outside of queues and pools.
  public internal(set) var label: String?
}

/// The closures that a connection reports to, with their settings.
struct Reporting {
  var log: ErrorLog?
  var trace: (@Sendable (TraceEvent) -> Void)?
  var slowStatementThreshold: Duration
  var showsArguments: Bool
  /// Whether literals of SQL are left out.
  var masksLiterals: Bool
}

/// The time and rows of a statement's execution, measured for a deadline, for the trace, or for statistics.
struct StatementMeasurement {
  private(set) var isOn = false
  /// The nanoseconds spent in SQLite since the execution began.
  private(set) var nanoseconds = 0
  /// The time of the clock after the last step that was timed.
  private(set) var end = 0
  /// The number of rows returned since the execution began.
  private(set) var rowCount = 0

  /// The time spent in SQLite since the execution began.
  var spent: Duration { .nanoseconds(nanoseconds) }

  /// Of many rows' steps one in so many is timed for statistics, and stands for the others: reading the clock takes
  /// as long as a tenth of a row.
  private static let sample = 16

  /// Starts over for another execution.
  @inline(__always)
  mutating func begin(_ isOn: Bool) {
    self.isOn = isOn
    if isOn {
      nanoseconds = 0
      rowCount = 0
    }
  }

  /// Measures a step that a closure takes, and sets the deadline for it.
  ///
  /// - Parameter step: takes the step, and returns whether there is a row.
  @inline(__always)
  mutating func step(_ connection: Connection, _ step: () -> Bool) {
    var weight = 1
    if rowCount > Self.sample, connection.samplesRows {
      if rowCount % Self.sample != 0 {
        if step() { rowCount &+= 1 }
        return
      }
      weight = Self.sample
    }
    let deadlines = connection.deadlines
    let start = MonotonicClock.nanoseconds
    let outer = deadlines.current
    deadlines.current = deadlines.limit.map { .nanoseconds(start &- nanoseconds) + $0 }
    if step() { rowCount &+= 1 }
    deadlines.current = outer
    end = MonotonicClock.nanoseconds
    nanoseconds &+= (end &- start) &* weight
  }
}
