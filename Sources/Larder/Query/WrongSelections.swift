import LarderSQLite

// Fallback overloads for a closure that doesn't return expressions. Such a closure also fits an empty
// parameter pack, with its result unused: that compiled, with a warning, to `SELECT  FROM`. These overloads
// fit better, and can't be called. An unavailable function would lose against the pack, but one isolated to
// another actor is an error only after it was chosen.

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
  public func select(_ expressions: (From.QueryFields) -> Void) -> Selection<()> {
    Selection(select, .misuse("the selection has no expressions"), []) { _ in }
  }

  /// Not available: the closure has to return expressions.
  @_documentation(visibility: internal)
  @ClosureHasToReturnExpressionsOfTheTypesAskedFor
  public func group(_ terms: (From.QueryFields) -> Void) -> Self { self }

  /// Not available: the closure has to return terms.
  @_documentation(visibility: internal)
  @ClosureHasToReturnExpressionsOfTheTypesAskedFor
  public func order(_ terms: (From.QueryFields) -> Void) -> Self { self }
}

extension Record {
  /// Not available: the closure has to return expressions.
  @_documentation(visibility: internal)
  @ClosureHasToReturnExpressionsOfTheTypesAskedFor
  public static func select(_ expressions: (RecordFields<Self>) -> Void) -> Selection<()> {
    all.select(expressions)
  }

  /// Not available: the closure has to return terms.
  @_documentation(visibility: internal)
  @ClosureHasToReturnExpressionsOfTheTypesAskedFor
  public static func order(_ terms: (RecordFields<Self>) -> Void) -> Query<Self> { all }
}
