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
  /// Whether steps are timed by the clock, and not just by the coarse one.
  private var isExact = false
  /// Whether the time is one of those that stand for others'.
  private var isSample = false
  /// The nanoseconds spent in SQLite since the execution began.
  private var nanoseconds = 0
  /// The same by the coarse clock, for ``SampledWork``.
  private var coarseNanoseconds = 0
  /// The number of rows returned since the execution began.
  private(set) var rowCount = 0

  /// The time spent in SQLite since the execution began.
  var spent: Duration { .nanoseconds(nanoseconds) }

  /// The times for statistics.
  var reading: SampledWork.Reading {
    SampledWork.Reading(coarse: coarseNanoseconds, exact: nanoseconds, isTimed: isSample)
  }

  /// Of many rows' steps one in so many is timed for statistics, and stands for the others: reading the clock takes
  /// as long as a tenth of a row.
  private static let sample = 16

  /// Starts over for another execution.
  @inline(__always)
  mutating func begin(_ connection: Connection) {
    isOn = connection.measuresSome || connection.deadlines.limit != nil
    if isOn { beginMeasuring(connection) }
  }

  private mutating func beginMeasuring(_ connection: Connection) {
    (nanoseconds, coarseNanoseconds, rowCount) = (0, 0, 0)
    isExact = connection.measuresEach
    // One that is timed for another reason stands for others only if all are.
    isSample =
      connection.statementTimes?._withUnsafeGuaranteedRef {
        isExact ? $0.work.hasNoPending : $0.work.isDue
      } ?? false
  }

  /// Measures a step that a closure takes, and sets the deadline for it.
  ///
  /// - Parameter step: takes the step, and returns whether there is a row.
  @inline(__always)
  mutating func step(_ connection: Connection, _ step: () -> Bool) {
    let isOneOfMany = rowCount > Self.sample
    if isExact || (isOneOfMany ? rowCount % Self.sample == 0 : isSample) {
      return timedStep(connection, step)
    }
    if isOneOfMany {
      if step() { rowCount &+= 1 }
      return
    }
    let coarse = MonotonicClock.coarseNanoseconds
    if step() { rowCount &+= 1 }
    coarseNanoseconds &+= MonotonicClock.coarseNanoseconds &- coarse
  }

  /// Takes a step that is timed by the clock.
  private mutating func timedStep(_ connection: Connection, _ step: () -> Bool) {
    if isExact { return exactStep(connection, step) }
    let isOneOfMany = rowCount > Self.sample
    let coarse = MonotonicClock.coarseNanoseconds
    let start = MonotonicClock.nanoseconds
    if step() { rowCount &+= 1 }
    let spent = (MonotonicClock.nanoseconds &- start) &* (isOneOfMany ? Self.sample : 1)
    nanoseconds &+= spent
    // Not by the coarse clock where a step stands for sixteen, for which one tick would be taken.
    coarseNanoseconds &+= isOneOfMany ? spent : MonotonicClock.coarseNanoseconds &- coarse
  }

  /// Measures each step.
  private mutating func exactStep(_ connection: Connection, _ step: () -> Bool) {
    let deadlines = connection.deadlines
    let start = MonotonicClock.nanoseconds
    let outer = deadlines.current
    deadlines.current = deadlines.limit.map { .nanoseconds(start &- nanoseconds) + $0 }
    if step() { rowCount &+= 1 }
    deadlines.current = outer
    nanoseconds &+= MonotonicClock.nanoseconds &- start
    coarseNanoseconds = nanoseconds
  }
}
