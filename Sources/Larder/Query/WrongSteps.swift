// What the compiler finds for a closure behind a selection with fewer parameters than the selection has values:
// something that fits every operator, so that there is one error, at its place; see WrongClosures.swift.

/// What no selection is: its name is for the compiler's message about a closure with too few parameters.
@_documentation(visibility: internal)
public protocol AParameterForEachValue {
  /// What a row is.
  associatedtype Row
}

@available(
  *, unavailable,
  message: """
    a closure behind a selection takes one parameter for each of its values: { _, count, _ in count.desc }
    """
)
extension Selection: AParameterForEachValue {}

extension AParameterForEachValue {
  /// Not available: there are more values.
  @_disfavoredOverload
  public func order<A, B, each V, Result>(_ closure: (SQLExpression<NoSuchValue>) -> Result) -> Self
  where Row == (A, B, repeat each V) { self }
  /// Not available: there are more values.
  @_disfavoredOverload
  public func order<A, B, C, each V, Result>(
    _ closure: (SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>) -> Result
  ) -> Self where Row == (A, B, C, repeat each V) { self }
  /// Not available: there are more values.
  @_disfavoredOverload
  public func order<A, B, C, D, each V, Result>(
    _ closure: (SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>)
      -> Result
  ) -> Self where Row == (A, B, C, D, repeat each V) { self }
  /// Not available: there are more values.
  @_disfavoredOverload
  public func order<A, B, C, D, E, each V, Result>(
    _ closure: (
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>,
      SQLExpression<NoSuchValue>
    ) -> Result
  ) -> Self where Row == (A, B, C, D, E, repeat each V) { self }
  /// Not available: there are more values.
  @_disfavoredOverload
  public func order<A, B, C, D, E, F, each V, Result>(
    _ closure: (
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>,
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>
    ) -> Result
  ) -> Self where Row == (A, B, C, D, E, F, repeat each V) { self }
  /// Not available: there are more values.
  @_disfavoredOverload
  public func filter<A, B, each V>(_ closure: (SQLExpression<NoSuchValue>) -> SQLExpression<Bool>)
    -> Self where Row == (A, B, repeat each V)
  { self }
  /// Not available: there are more values.
  @_disfavoredOverload
  public func filter<A, B, C, each V>(
    _ closure: (SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, repeat each V) { self }
  /// Not available: there are more values.
  @_disfavoredOverload
  public func filter<A, B, C, D, each V>(
    _ closure: (SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>)
      -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, repeat each V) { self }
  /// Not available: there are more values.
  @_disfavoredOverload
  public func filter<A, B, C, D, E, each V>(
    _ closure: (
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>,
      SQLExpression<NoSuchValue>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, E, repeat each V) { self }
  /// Not available: there are more values.
  @_disfavoredOverload
  public func filter<A, B, C, D, E, F, each V>(
    _ closure: (
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>,
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, E, F, repeat each V) { self }
  /// Not available: there are more values.
  @_disfavoredOverload
  public func having<A, B, each V>(_ closure: (SQLExpression<NoSuchValue>) -> SQLExpression<Bool>)
    -> Self where Row == (A, B, repeat each V)
  { self }
  /// Not available: there are more values.
  @_disfavoredOverload
  public func having<A, B, C, each V>(
    _ closure: (SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, repeat each V) { self }
  /// Not available: there are more values.
  @_disfavoredOverload
  public func having<A, B, C, D, each V>(
    _ closure: (SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>)
      -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, repeat each V) { self }
  /// Not available: there are more values.
  @_disfavoredOverload
  public func having<A, B, C, D, E, each V>(
    _ closure: (
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>,
      SQLExpression<NoSuchValue>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, E, repeat each V) { self }
  /// Not available: there are more values.
  @_disfavoredOverload
  public func having<A, B, C, D, E, F, each V>(
    _ closure: (
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>,
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, E, F, repeat each V) { self }
}
