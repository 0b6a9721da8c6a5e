import LarderSQLite

// Fallback declarations for steps after a selection that don't exist, or take other arguments; see WrongExpressions.swift.

/// The reason of a mistake: a step that selections don't have, or other arguments than it takes.
@_documentation(visibility: internal)
public enum NoSuchStep: Reason {}

@available(
  *, unavailable,
  message: """
    a selection has no such step, or it takes other arguments: order, group, having and filter { $1 > 5 }, \
    limit(10, offset: 20), distinct(), page(db, after: cursor, limit: 20), union(other), fetchAll(db), fetchOne(db); \
    update and delete follow a query without select
    """
)
extension NoSuchStep: Mistake {}

/// The reason of a mistake: a selection is selected from.
@_documentation(visibility: internal)
public enum SelectedOnce: Reason {}

@available(
  *, unavailable, message: "write all expressions in one select: a selection isn't selected from"
)
extension SelectedOnce: Mistake {}

/// The reason of a mistake: rows of another type than those of the query.
@_documentation(visibility: internal)
public enum RowsOfAnotherType: Reason {}

@available(
  *, unavailable,
  message: """
    the rows have another type than is asked for: they have a value for each selected expression, in order, and \
    an Optional for one that can be NULL; for structures, combine the selections first, then apply the function: \
    a.union(b).select(function)
    """
)
extension RowsOfAnotherType: Mistake {}

// It isn't disfavored: an argument that becomes an Optional is a lesser fault than the disfavored overloads of `select`,
// which the type checker would try with all operators otherwise. A right step has fewer such arguments.
/// A step that doesn't exist, or takes other arguments. This one takes any, but no closures.
@dynamicCallable
@_documentation(visibility: internal)
public struct AnyArguments<Statement> {
  fileprivate let statement: Statement

  /// The statement without this step.
  @_documentation(visibility: internal)
  public func dynamicallyCall(
    withKeywordArguments arguments: KeyValuePairs<String, Any?>
  ) -> Statement { statement }
}

/// The rows that are combined with a selection's, of whatever type.
@dynamicCallable
@_documentation(visibility: internal)
public struct OtherRows<Statement> {
  fileprivate let statement: Statement

  /// The statement without the other rows.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func dynamicallyCall(
    withKeywordArguments arguments: KeyValuePairs<String, Any>
  ) -> Statement { statement }
}

/// A step that doesn't exist. It takes arguments without labels (Equatable ones, which no closure is), or a closure.
/// It can't be copied, so that it isn't of use without a call.
@_documentation(visibility: internal)
public struct AnyStep<Statement, Cause: Reason>: ~Copyable {
  fileprivate let statement: Statement
}

/// A placeholder for a row that can't be changed.
@dynamicMemberLookup
@_documentation(visibility: internal)
public struct NoSuchRow {
  /// Not available.
  public subscript(dynamicMember name: String) -> Any? {
    get { name }
    set {}
  }
  /// Not available.
  public subscript(dynamicMember name: String) -> NoSuchParameter {
    get { NoSuchParameter() }
    set {}
  }
}

extension NoSuchParameter {
  /// Not available.
  public static func += <Other>(left: inout Self, right: Other) {}
  /// Not available.
  public static func -= <Other>(left: inout Self, right: Other) {}
}

// The call is the mistake, because the compiler's message about a dynamic member is at the chain's beginning. There
// are more overloads than an operator has in a selection's closure, so that the type checker chooses those first:
// it can't find out that one of these doesn't fit before it has.
extension AnyStep where Cause.Refusal: Reason {
  /// Not available: there is no such step.
  @_documentation(visibility: internal)
  public func callAsFunction<Result>(_ closure: (NoSuchParameter) -> Result) -> Statement {
    statement
  }
  /// Not available: there is no such step.
  @_documentation(visibility: internal)
  public func callAsFunction<Result>(_ closure: (NoSuchParameter, NoSuchParameter) -> Result)
    -> Statement
  { statement }
  /// Not available: there is no such step.
  @_documentation(visibility: internal)
  public func callAsFunction<Result>(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter) -> Result
  ) -> Statement { statement }
  /// Not available: there is no such step.
  @_documentation(visibility: internal)
  public func callAsFunction<Result>(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter) -> Result
  ) -> Statement { statement }
  /// Not available: there is no such step.
  @_documentation(visibility: internal)
  public func callAsFunction<Result>(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter)
      -> Result
  ) -> Statement { statement }
  /// Not available: there is no such step.
  @_documentation(visibility: internal)
  public func callAsFunction<Result>(
    _ closure: (
      NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
      NoSuchParameter
    ) -> Result
  ) -> Statement { statement }
  /// Not available: there is no such step.
  @_documentation(visibility: internal)
  public func callAsFunction<Result>(
    _ closure: (
      NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
      NoSuchParameter, NoSuchParameter
    ) -> Result
  ) -> Statement { statement }
  /// Not available: there is no such step.
  @_documentation(visibility: internal)
  public func callAsFunction<Result>(
    _ closure: (
      NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
      NoSuchParameter, NoSuchParameter, NoSuchParameter
    ) -> Result
  ) -> Statement { statement }
  /// Not available: rows of a selection aren't changed.
  @_documentation(visibility: internal)
  public func callAsFunction(_ db: Database, _ closure: (inout NoSuchRow) -> Void) -> Statement {
    statement
  }
  /// Not available: there is no such step.
  @_documentation(visibility: internal)
  public func callAsFunction<each Argument: Equatable>(_ arguments: repeat each Argument)
    -> Statement
  {
    statement
  }
}

extension AParameterForEachValue {
  /// Not available: there is no such step.
  @_documentation(visibility: internal)
  public subscript(dynamicMember name: String) -> AnyStep<Self, Step> { AnyStep(statement: self) }

  /// Not available: expressions are selected once.
  @_documentation(visibility: internal)
  public var select: AnyStep<Self, SelectedOnce> { AnyStep(statement: self) }
}

extension AParameterForEachValue where Step.Refusal: Reason {
  /// Not available: there is no such step.
  @_documentation(visibility: internal)
  public subscript(dynamicMember name: String) -> AnyArguments<Self> {
    AnyArguments(statement: self)
  }

  // Disfavored, since the step that exists has no arguments either.
  /// Not available: the step takes no arguments.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public var distinct: AnyArguments<Self> { AnyArguments(statement: self) }
  /// Not available: the step takes other arguments.
  @_documentation(visibility: internal)
  public var page: AnyArguments<Self> { AnyArguments(statement: self) }
  /// Not available: the step takes other arguments.
  @_documentation(visibility: internal)
  public var fetchAll: AnyArguments<()> { AnyArguments(statement: ()) }
  /// Not available: the step takes other arguments.
  @_documentation(visibility: internal)
  public var fetchOne: AnyArguments<()> { AnyArguments(statement: ()) }
}

extension AParameterForEachValue where Limit.Refusal: Reason {
  /// Not available: the number of rows is an Int.
  @_documentation(visibility: internal)
  public var limit: AnyArguments<Self> { AnyArguments(statement: self) }
}

// The rows are of a type that has no members of its own, so that mistakes in what is done with rows are told as such.
extension Selection {
  /// Not available: the rows have another type.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func fetchAll<Other: ExpressibleByArrayLiteral, Cause: Reason>(
    _ db: Database, because: Cause.Type = RowsOfAnotherType.self
  ) throws -> Other where Cause.Refusal: Reason { [] }

  /// Not available: the row has another type.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func fetchOne<Other: ExpressibleByNilLiteral, Cause: Reason>(
    _ db: Database, because: Cause.Type = RowsOfAnotherType.self
  ) throws -> Other where Cause.Refusal: Reason { nil }
}

extension AParameterForEachValue where Rows.Refusal: Reason, Row: DatabaseValueConvertible {
  /// Not available: the other rows have another type.
  @_documentation(visibility: internal)
  public var union: AnyArguments<Self> { AnyArguments(statement: self) }
}

// Of several values, it is disfavored twice. The type checker tries the right step too, for which it tries all
// operators before it finds that the rows differ, unless it finds a lesser mistake there: that of a closure whose
// expressions aren't used.
extension AParameterForEachValue where Rows.Refusal: Reason {
  /// Not available: the other rows have another type.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public var union: OtherRows<Self> { OtherRows(statement: self) }
}

// MARK: A selection without expressions

// Fallback overloads for a closure that doesn't return expressions. Such a closure also fits an empty
// parameter pack, with its result unused: that compiled, with a warning, to `SELECT  FROM`. These overloads
// fit better, and can't be called. An unavailable function would lose against the pack, but one isolated to
// another actor is an error only after it was chosen. In asynchronous code that error comes with the advice
// to write `await`; a query made so throws when it runs.

/// The actor of functions that can't be called. Its name is the compiler's message: a closure has to return
/// expressions; or it does, and the rows are wanted as Any, of which the compiler (Swift 6.3) finds no type.
@globalActor
@_documentation(visibility: internal)
public actor ClosureHasToReturnExpressionsOfTheTypesAskedForOrFetchRowsInAnotherStatement {
  /// The only one.
  @_documentation(visibility: internal)
  public static let shared =
    ClosureHasToReturnExpressionsOfTheTypesAskedForOrFetchRowsInAnotherStatement()
}

extension Query {
  /// Not available: the closure has to return expressions.
  @_documentation(visibility: internal)
  @ClosureHasToReturnExpressionsOfTheTypesAskedForOrFetchRowsInAnotherStatement
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
  @ClosureHasToReturnExpressionsOfTheTypesAskedForOrFetchRowsInAnotherStatement
  @_disfavoredOverload
  public static func select(_ expressions: (RecordFields<Self>) -> Void) -> Selection<()> {
    all.select(expressions)
  }
}

// MARK: A selection that doesn't fit its function

// Without these, the compiler had no message for expressions of other types than the function takes, or none in
// reasonable time.

/// The reason of a mistake: a function takes other types than the expressions have.
@_documentation(visibility: internal)
public enum TheFunctionTakesOtherTypes: Reason {}

@available(
  *, unavailable,
  message: """
    the function takes other types than the closure selects, or another number or order of them; an expression that \
    can be NULL makes an Optional
    """
)
extension TheFunctionTakesOtherTypes: Mistake {}

extension Query {
  /// Not available: the function takes other types than those of the expressions, or takes them in another order.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func select<each Value, each Other, Row, Cause: Reason>(
    _ make: @escaping @Sendable (repeat each Value) -> Row,
    @SQLSelection _ expressions: (From.QueryFields) -> (repeat SQLExpression<each Other>),
    because: Cause.Type = TheFunctionTakesOtherTypes.self
  ) -> Mapped<Selection<Row>> where Cause.Refusal: Reason {
    let problem = "the function takes other types than the closure selects"
    return Mapped(
      Selection(
        select, .misuse(problem), [], paged: { try PagedSelect($0, From.self) },
        read: { _ in throw DatabaseError(.misuse, problem) }))
  }
}

extension Record {
  /// Not available: the function takes other types than those of the expressions, or takes them in another order.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public static func select<each Value, each Other, Row, Cause: Reason>(
    _ make: @escaping @Sendable (repeat each Value) -> Row,
    @SQLSelection _ expressions: (RecordFields<Self>) -> (repeat SQLExpression<each Other>),
    because: Cause.Type = TheFunctionTakesOtherTypes.self
  ) -> Mapped<Selection<Row>> where Cause.Refusal: Reason {
    all.select(make, expressions, because: because)
  }
}
