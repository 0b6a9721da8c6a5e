// Fallback overloads for a closure that follows a selection, but has another number of parameters than the
// selection has values, or asks one of them for a property that expressions don't have. Their parameters have
// every property and fit every operator, so that there is one error, at its place; see WrongClosures.swift.

/// A placeholder for a parameter that a closure after a selection doesn't have.
@dynamicMemberLookup
@_documentation(visibility: internal)
public struct NoSuchParameter: OperandsOfDifferentTypes, Sendable {
  /// Not available.
  public subscript(dynamicMember name: String) -> SQLExpression<NoSuchValue> { .wrong }
}

/// The steps whose closures have a parameter for each value of a selection.
@_documentation(visibility: internal)
public protocol AParameterForEachValue: Reason {
  /// The reason why there is no other step.
  associatedtype Step: Reason
  /// The reason why rows don't fit.
  associatedtype Rows: Reason
  /// The reason why there is no such limit.
  associatedtype Limit: Reason
  /// The type of the rows.
  associatedtype Row
}

extension Selection: AParameterForEachValue {
  /// The reason why there is no other step.
  @_documentation(visibility: internal)
  public typealias Step = NoSuchStep
  /// The reason why rows don't fit.
  @_documentation(visibility: internal)
  public typealias Rows = RowsOfAnotherType
  /// The reason why there is no such limit.
  @_documentation(visibility: internal)
  public typealias Limit = LimitTakesAnInt
}

@available(
  *, unavailable,
  message: """
    a closure after a selection takes one parameter for each of its values, { _, count, _ in count.desc }, \
    and they have the properties of expressions
    """
)
extension Selection: Mistake {}

// The closures are Optional, and the functions aren't disfavored: the type checker prefers the right functions, since
// their closures needn't become Optionals, and that is a lesser fault than the disfavored overloads of `select`. With
// equal ones it would try those for a better meaning of the chain, and in them all operators of a selected expression.
extension AParameterForEachValue where Refusal: Reason {
  /// Not available: the closure's parameters don't fit the selection's values.
  public func order<Result>(_ closure: ((NoSuchParameter) -> Result)?) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func order<Result>(_ closure: ((NoSuchParameter, NoSuchParameter) -> Result)?) -> Self {
    self
  }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func order<Result>(
    _ closure: ((NoSuchParameter, NoSuchParameter, NoSuchParameter) -> Result)?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func order<Result>(
    _ closure: ((NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter) -> Result)?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func order<Result>(
    _ closure: (
      (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter) ->
        Result
    )?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func order<Result>(
    _ closure: (
      (
        NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
        NoSuchParameter
      ) -> Result
    )?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func order<Result>(
    _ closure: (
      (
        NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
        NoSuchParameter, NoSuchParameter
      ) -> Result
    )?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func order<Result>(
    _ closure: (
      (
        NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
        NoSuchParameter, NoSuchParameter, NoSuchParameter
      ) -> Result
    )?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func group<Result>(_ closure: ((NoSuchParameter) -> Result)?) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func group<Result>(_ closure: ((NoSuchParameter, NoSuchParameter) -> Result)?) -> Self {
    self
  }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func group<Result>(
    _ closure: ((NoSuchParameter, NoSuchParameter, NoSuchParameter) -> Result)?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func group<Result>(
    _ closure: ((NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter) -> Result)?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func group<Result>(
    _ closure: (
      (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter) ->
        Result
    )?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func group<Result>(
    _ closure: (
      (
        NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
        NoSuchParameter
      ) -> Result
    )?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func group<Result>(
    _ closure: (
      (
        NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
        NoSuchParameter, NoSuchParameter
      ) -> Result
    )?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func group<Result>(
    _ closure: (
      (
        NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
        NoSuchParameter, NoSuchParameter, NoSuchParameter
      ) -> Result
    )?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func filter(_ closure: ((NoSuchParameter) -> SQLExpression<Bool>)?) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func filter(_ closure: ((NoSuchParameter, NoSuchParameter) -> SQLExpression<Bool>)?)
    -> Self
  { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func filter(
    _ closure: ((NoSuchParameter, NoSuchParameter, NoSuchParameter) -> SQLExpression<Bool>)?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func filter(
    _ closure: (
      (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter) -> SQLExpression<Bool>
    )?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func filter(
    _ closure: (
      (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter) ->
        SQLExpression<Bool>
    )?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func filter(
    _ closure: (
      (
        NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
        NoSuchParameter
      ) -> SQLExpression<Bool>
    )?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func filter(
    _ closure: (
      (
        NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
        NoSuchParameter, NoSuchParameter
      ) -> SQLExpression<Bool>
    )?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func filter(
    _ closure: (
      (
        NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
        NoSuchParameter, NoSuchParameter, NoSuchParameter
      ) -> SQLExpression<Bool>
    )?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func having(_ closure: ((NoSuchParameter) -> SQLExpression<Bool>)?) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func having(_ closure: ((NoSuchParameter, NoSuchParameter) -> SQLExpression<Bool>)?)
    -> Self
  { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func having(
    _ closure: ((NoSuchParameter, NoSuchParameter, NoSuchParameter) -> SQLExpression<Bool>)?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func having(
    _ closure: (
      (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter) -> SQLExpression<Bool>
    )?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func having(
    _ closure: (
      (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter) ->
        SQLExpression<Bool>
    )?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func having(
    _ closure: (
      (
        NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
        NoSuchParameter
      ) -> SQLExpression<Bool>
    )?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func having(
    _ closure: (
      (
        NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
        NoSuchParameter, NoSuchParameter
      ) -> SQLExpression<Bool>
    )?
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  public func having(
    _ closure: (
      (
        NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
        NoSuchParameter, NoSuchParameter, NoSuchParameter
      ) -> SQLExpression<Bool>
    )?
  ) -> Self { self }
}

/// The reason of a mistake: another number of rows than an Int.
@_documentation(visibility: internal)
public enum LimitTakesAnInt: Reason {}

@available(
  *, unavailable,
  message:
    "limit takes the number of rows, an Int: limit(10), or limit(10, offset: 20) after 20 others"
)
extension LimitTakesAnInt: Mistake {}

extension Query {
  /// Not available: the number of rows is an Int.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func limit<Other, Cause: Reason>(
    _ count: Other, because: Cause.Type = LimitTakesAnInt.self
  ) -> Self where Cause.Refusal: Reason { self }
}

// MARK: Calls as other libraries have them

extension Query {
  /// Not available: a join has a condition.
  @_documentation(visibility: internal)
  @available(
    *, unavailable,
    message: "a join has its condition behind it: join(Country.self) { $0.country == $1.code }"
  )
  public func join<Other: Record>(_ other: Other.Type) -> Query<Join2<From, Other>>
  where From: Record {
    join(other) { _, _ in .wrong }
  }

  /// Not available: a join has a condition.
  @_documentation(visibility: internal)
  @available(
    *, unavailable,
    message: "a join has its condition behind it: leftJoin(Country.self) { $0.country == $1.code }"
  )
  public func leftJoin<Other: Record>(_ other: Other.Type) -> Query<Join2<From, Other?>>
  where From: Record {
    leftJoin(other) { _, _ in .wrong }
  }

  /// Not available: rows are fetched.
  @_documentation(visibility: internal)
  @available(
    *, unavailable, message: "rows are fetched: fetchAll(db), or fetchOne(db) for the first"
  )
  public func callAsFunction(_ db: Database) -> [From.QueryRow] { [] }
}

extension Record {
  /// Not available: a join has a condition.
  @_documentation(visibility: internal)
  @available(
    *, unavailable,
    message: "a join has its condition behind it: join(Country.self) { $0.country == $1.code }"
  )
  public static func join<Other: Record>(_ other: Other.Type) -> Query<Join2<Self, Other>> {
    all.join(other) { _, _ in .wrong }
  }

  /// Not available: a join has a condition.
  @_documentation(visibility: internal)
  @available(
    *, unavailable,
    message: "a join has its condition behind it: leftJoin(Country.self) { $0.country == $1.code }"
  )
  public static func leftJoin<Other: Record>(_ other: Other.Type) -> Query<Join2<Self, Other?>> {
    all.leftJoin(other) { _, _ in .wrong }
  }
}

extension SQLExpression {
  /// Not available: the number of rows is another call.
  @_documentation(visibility: internal)
  @available(*, unavailable, message: "the number of a query's rows is fetchCount(db)")
  public func callAsFunction(_ db: Database) -> Int { 0 }

  /// Not available: the values are a list.
  @_documentation(visibility: internal)
  @available(*, unavailable, message: "the values are a list: .in([first, second])")
  public func `in`(_ first: Value, _ second: Value, _ others: Value...) -> SQLExpression<Bool> {
    .wrong
  }
}
