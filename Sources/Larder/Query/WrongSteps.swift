// Fallback overloads for a closure that follows a selection, but has another number of parameters than the
// selection has values, or asks one of them for a property that expressions don't have. Their parameters have
// every property and fit every operator, so that there is one error, at its place; see WrongClosures.swift.

/// A placeholder for a parameter that a closure after a selection doesn't have.
@dynamicMemberLookup
@_documentation(visibility: internal)
public struct NoSuchParameter: OperandsOfDifferentTypes, Sendable {
  /// Not available.
  @_disfavoredOverload
  public subscript(dynamicMember name: String) -> SQLExpression<NoSuchValue> { .wrong }
}

/// A protocol that no selection can use. Its name appears in the compiler's message about a closure whose
/// parameters don't fit.
@_documentation(visibility: internal)
public protocol AParameterForEachValue {}

@available(
  *, unavailable,
  message: """
    a closure after a selection takes one parameter for each of its values, { _, count, _ in count.desc }, \
    and they have the properties of expressions
    """
)
extension Selection: AParameterForEachValue {}

extension AParameterForEachValue {
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func order<Result>(_ closure: (NoSuchParameter) -> Result) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (NoSuchParameter, NoSuchParameter) -> Result
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter) -> Result
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter) -> Result
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter)
      -> Result
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (
      NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
      NoSuchParameter
    ) -> Result
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (
      NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
      NoSuchParameter, NoSuchParameter
    ) -> Result
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (
      NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
      NoSuchParameter, NoSuchParameter, NoSuchParameter
    ) -> Result
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func group<Result>(_ closure: (NoSuchParameter) -> Result) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (NoSuchParameter, NoSuchParameter) -> Result
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter) -> Result
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter) -> Result
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter)
      -> Result
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (
      NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
      NoSuchParameter
    ) -> Result
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (
      NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
      NoSuchParameter, NoSuchParameter
    ) -> Result
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (
      NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
      NoSuchParameter, NoSuchParameter, NoSuchParameter
    ) -> Result
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func filter(_ closure: (NoSuchParameter) -> SQLExpression<Bool>) -> Self {
    self
  }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func filter(
    _ closure: (NoSuchParameter, NoSuchParameter) -> SQLExpression<
      Bool
    >
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func filter(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func filter(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter) ->
      SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func filter(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter)
      -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func filter(
    _ closure: (
      NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
      NoSuchParameter
    ) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func filter(
    _ closure: (
      NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
      NoSuchParameter, NoSuchParameter
    ) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func filter(
    _ closure: (
      NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
      NoSuchParameter, NoSuchParameter, NoSuchParameter
    ) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func having(_ closure: (NoSuchParameter) -> SQLExpression<Bool>) -> Self {
    self
  }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func having(
    _ closure: (NoSuchParameter, NoSuchParameter) -> SQLExpression<
      Bool
    >
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func having(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func having(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter) ->
      SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func having(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter)
      -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func having(
    _ closure: (
      NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
      NoSuchParameter
    ) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func having(
    _ closure: (
      NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
      NoSuchParameter, NoSuchParameter
    ) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the closure's parameters don't fit the selection's values.
  @_disfavoredOverload
  public func having(
    _ closure: (
      NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter,
      NoSuchParameter, NoSuchParameter, NoSuchParameter
    ) -> SQLExpression<Bool>
  ) -> Self { self }
}

/// A protocol that no query can use. Its name appears in the compiler's message about another number of rows
/// than an Int.
@_documentation(visibility: internal)
public protocol LimitTakesAnInt {}

@available(*, unavailable, message: "limit takes the number of rows, an Int")
extension Query: LimitTakesAnInt {}

@available(*, unavailable, message: "limit takes the number of rows, an Int")
extension Selection: LimitTakesAnInt {}

extension LimitTakesAnInt {
  /// Not available: the number of rows is an Int.
  @_disfavoredOverload
  public func limit<Other>(_ count: Other) -> Self { self }
}
