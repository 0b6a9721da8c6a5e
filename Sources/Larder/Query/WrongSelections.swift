import LarderSQLite

// Fallback overloads for a closure that doesn't return expressions. Such a closure also fits an empty
// parameter pack, with its result unused: that compiled, with a warning, to `SELECT  FROM`. These overloads
// fit better, and can't be called. An unavailable function would lose against the pack, but one isolated to
// another actor is an error only after it was chosen. In asynchronous code that error comes with the advice
// to write `await`; a query made so throws when it runs.

/// The actor of functions that can't be called. Its name is the compiler's message: a closure has to return
/// expressions.
@globalActor
@_documentation(visibility: internal)
public actor ClosureHasToReturnExpressionsOfTheTypesAskedFor {
  /// The only one.
  @_documentation(visibility: internal)
  public static let shared = ClosureHasToReturnExpressionsOfTheTypesAskedFor()
}

extension Query {
  /// Not available: the closure has to return expressions.
  @_documentation(visibility: internal)
  @ClosureHasToReturnExpressionsOfTheTypesAskedFor
  @_disfavoredOverload
  public func select(_ expressions: (From.QueryFields) -> Void) -> Selection<()> {
    Selection(
      select, .misuse("the selection has no expressions"), [],
      paged: { try PagedSelect($0, From.self) }, read: { _ in })
  }
}

extension Record {
  /// Not available: the closure has to return expressions.
  @_documentation(visibility: internal)
  @ClosureHasToReturnExpressionsOfTheTypesAskedFor
  @_disfavoredOverload
  public static func select(_ expressions: (RecordFields<Self>) -> Void) -> Selection<()> {
    all.select(expressions)
  }
}
