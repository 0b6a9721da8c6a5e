import LarderSQLite

// Operators that the compiler finds for a name without a column; see WrongExpressions.swift.

/// The value type of a column that doesn't exist.
@_documentation(visibility: internal)
public struct NoSuchValue: Sendable {}

extension SQLExpression where Value == NoSuchValue {
  /// Not available.
  public static func == <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
  /// Not available.
  public static func == <Other>(left: SQLExpression<Other>, right: Self) -> SQLExpression<Bool> {
    .wrong
  }
  /// Not available.
  public static func != <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
  /// Not available.
  public static func != <Other>(left: SQLExpression<Other>, right: Self) -> SQLExpression<Bool> {
    .wrong
  }
  /// Not available.
  public static func < <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
  /// Not available.
  public static func < <Other>(left: SQLExpression<Other>, right: Self) -> SQLExpression<Bool> {
    .wrong
  }
  /// Not available.
  public static func <= <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
  /// Not available.
  public static func <= <Other>(left: SQLExpression<Other>, right: Self) -> SQLExpression<Bool> {
    .wrong
  }
  /// Not available.
  public static func > <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
  /// Not available.
  public static func > <Other>(left: SQLExpression<Other>, right: Self) -> SQLExpression<Bool> {
    .wrong
  }
  /// Not available.
  public static func >= <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
  /// Not available.
  public static func >= <Other>(left: SQLExpression<Other>, right: Self) -> SQLExpression<Bool> {
    .wrong
  }
  /// Not available.
  public static func + <Other>(left: Self, right: Other) -> Self { left }
  /// Not available.
  public static func + <Other>(left: SQLExpression<Other>, right: Self) -> Self { right }
  /// Not available.
  public static func - <Other>(left: Self, right: Other) -> Self { left }
  /// Not available.
  public static func - <Other>(left: SQLExpression<Other>, right: Self) -> Self { right }
  /// Not available.
  public static func * <Other>(left: Self, right: Other) -> Self { left }
  /// Not available.
  public static func * <Other>(left: SQLExpression<Other>, right: Self) -> Self { right }
  /// Not available.
  public static func / <Other>(left: Self, right: Other) -> Self { left }
  /// Not available.
  public static func / <Other>(left: SQLExpression<Other>, right: Self) -> Self { right }
  /// Not available.
  @_documentation(visibility: internal)
  public func hasPrefix(_ text: String) -> SQLExpression<Bool> { .wrong }
  /// Not available.
  @_documentation(visibility: internal)
  public func hasSuffix(_ text: String) -> SQLExpression<Bool> { .wrong }
  /// Not available.
  @_documentation(visibility: internal)
  public func contains(_ text: String) -> SQLExpression<Bool> { .wrong }
  /// Not available.
  @_documentation(visibility: internal)
  public func like(_ text: String) -> SQLExpression<Bool> { .wrong }
  /// Not available.
  @_documentation(visibility: internal)
  public func glob(_ text: String) -> SQLExpression<Bool> { .wrong }
  /// Not available.
  @_documentation(visibility: internal)
  public subscript(name: String) -> Self { self }
  /// Not available.
  @_documentation(visibility: internal)
  public subscript(index: Int) -> Self { self }
  /// Not available.
  @_documentation(visibility: internal)
  public func `as`<Other: DatabaseValueConvertible>(_ type: Other.Type) -> SQLExpression<Other> {
    .wrong
  }
}
