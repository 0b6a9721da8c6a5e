import LarderSQLite

// What the compiler finds for a list of expressions that is none. A closure whose result isn't a tuple of
// expressions fits a parameter pack of none as well, with its result unused: that compiled, with a warning,
// to `SELECT  FROM`. These fit better, and can't be called: an unavailable function would lose against
// the pack, but one of another actor is an error only once it was chosen.

/// The actor of what can't be called; its name is for the compiler's message: a closure has to return
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
    Selection(select, .misuse("a selection without expressions"), []) { _ in }
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
