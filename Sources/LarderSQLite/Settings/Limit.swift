/// A run-time limit of a connection; see [Limits](https://www.sqlite.org/c3ref/c_limit_attached.html).
public enum Limit: Int32, Hashable, Sendable, CaseIterable {
  /// Bytes of a value or a row.
  case length
  /// Bytes of a statement's text.
  case sqlLength
  /// Columns of a table, an index or a result.
  case columns
  /// Depth of an expression's tree.
  case expressionDepth
  /// SELECTs joined by UNION and the like.
  case compoundSelects
  /// Instructions of a compiled statement.
  case virtualMachineInstructions
  /// Arguments of a function.
  case functionArguments
  /// Attached databases.
  case attached
  /// Bytes of a LIKE or GLOB pattern.
  case likePatternLength
  /// Parameters of a statement.
  case variables
  /// Depth of triggers that set off each other.
  case triggerDepth
  /// Threads that a statement may start.
  case workerThreads
}
