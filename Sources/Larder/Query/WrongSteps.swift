// Fallback overloads for a closure that follows a selection, but has fewer parameters than the selection
// has values. Their parameters fit every operator, so that there is one error, at its place; see
// WrongClosures.swift.

/// A protocol that no selection can use. Its name appears in the compiler's message about a closure with
/// too few parameters.
@_documentation(visibility: internal)
public protocol AParameterForEachValue {
  /// The type of a row.
  associatedtype Row
}

@available(
  *, unavailable,
  message: """
    a closure after a selection takes one parameter for each of its values: { _, count, _ in count.desc }
    """
)
extension Selection: AParameterForEachValue {}

extension AParameterForEachValue {
  /// Not available: the selection has more values.
  @_disfavoredOverload
  public func order<A, B, each V, Result>(_ closure: (SQLExpression<NoSuchValue>) -> Result) -> Self
  where Row == (A, B, repeat each V) { self }
  /// Not available: the selection has more values.
  @_disfavoredOverload
  public func order<A, B, C, each V, Result>(
    _ closure: (SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>) -> Result
  ) -> Self where Row == (A, B, C, repeat each V) { self }
  /// Not available: the selection has more values.
  @_disfavoredOverload
  public func order<A, B, C, D, each V, Result>(
    _ closure: (SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>)
      -> Result
  ) -> Self where Row == (A, B, C, D, repeat each V) { self }
  /// Not available: the selection has more values.
  @_disfavoredOverload
  public func order<A, B, C, D, E, each V, Result>(
    _ closure: (
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>,
      SQLExpression<NoSuchValue>
    ) -> Result
  ) -> Self where Row == (A, B, C, D, E, repeat each V) { self }
  /// Not available: the selection has more values.
  @_disfavoredOverload
  public func order<A, B, C, D, E, F, each V, Result>(
    _ closure: (
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>,
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>
    ) -> Result
  ) -> Self where Row == (A, B, C, D, E, F, repeat each V) { self }
  /// Not available: the selection has more values.
  @_disfavoredOverload
  public func filter<A, B, each V>(_ closure: (SQLExpression<NoSuchValue>) -> SQLExpression<Bool>)
    -> Self where Row == (A, B, repeat each V)
  { self }
  /// Not available: the selection has more values.
  @_disfavoredOverload
  public func filter<A, B, C, each V>(
    _ closure: (SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, repeat each V) { self }
  /// Not available: the selection has more values.
  @_disfavoredOverload
  public func filter<A, B, C, D, each V>(
    _ closure: (SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>)
      -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, repeat each V) { self }
  /// Not available: the selection has more values.
  @_disfavoredOverload
  public func filter<A, B, C, D, E, each V>(
    _ closure: (
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>,
      SQLExpression<NoSuchValue>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, E, repeat each V) { self }
  /// Not available: the selection has more values.
  @_disfavoredOverload
  public func filter<A, B, C, D, E, F, each V>(
    _ closure: (
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>,
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, E, F, repeat each V) { self }
  /// Not available: the selection has more values.
  @_disfavoredOverload
  public func having<A, B, each V>(_ closure: (SQLExpression<NoSuchValue>) -> SQLExpression<Bool>)
    -> Self where Row == (A, B, repeat each V)
  { self }
  /// Not available: the selection has more values.
  @_disfavoredOverload
  public func having<A, B, C, each V>(
    _ closure: (SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, repeat each V) { self }
  /// Not available: the selection has more values.
  @_disfavoredOverload
  public func having<A, B, C, D, each V>(
    _ closure: (SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>)
      -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, repeat each V) { self }
  /// Not available: the selection has more values.
  @_disfavoredOverload
  public func having<A, B, C, D, E, each V>(
    _ closure: (
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>,
      SQLExpression<NoSuchValue>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, E, repeat each V) { self }
  /// Not available: the selection has more values.
  @_disfavoredOverload
  public func having<A, B, C, D, E, F, each V>(
    _ closure: (
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>,
      SQLExpression<NoSuchValue>, SQLExpression<NoSuchValue>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, E, F, repeat each V) { self }
}
