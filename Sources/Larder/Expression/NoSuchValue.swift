import LarderSQLite

// Operators that the compiler finds for a name without a column; see WrongExpressions.swift.

/// The value type of a column that doesn't exist.
@_documentation(visibility: internal)
public struct NoSuchValue: Sendable {}

@available(
  *, unavailable,
  message: """
    the record's Columns has no property of this name, or an operand beside it has another type: numbers are \
    converted with .real or .integer
    """
)
extension NoSuchValue: DatabaseValueConvertible {
  /// Not available.
  @_documentation(visibility: internal)
  public var databaseValue: DatabaseValue { .null }
  /// Not available.
  @_documentation(visibility: internal)
  public init(databaseValue: DatabaseValue) throws {}
}

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
  public static func + <Other>(left: SQLExpression<Other>, right: Self) -> SQLExpression<Other> {
    left
  }
  /// Not available.
  public static func - <Other>(left: Self, right: Other) -> Self { left }
  /// Not available.
  public static func - <Other>(left: SQLExpression<Other>, right: Self) -> SQLExpression<Other> {
    left
  }
  /// Not available.
  public static func * <Other>(left: Self, right: Other) -> Self { left }
  /// Not available.
  public static func * <Other>(left: SQLExpression<Other>, right: Self) -> SQLExpression<Other> {
    left
  }
  /// Not available.
  public static func / <Other>(left: Self, right: Other) -> Self { left }
  /// Not available.
  public static func / <Other>(left: SQLExpression<Other>, right: Self) -> SQLExpression<Other> {
    left
  }
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
  // What often follows a column, so that a misspelled one is told before the compiler has tried everything behind it.

  /// Not available.
  @_documentation(visibility: internal)
  public var real: Self { self }
  /// Not available.
  @_documentation(visibility: internal)
  public var integer: Self { self }
  /// Not available.
  @_documentation(visibility: internal)
  public var length: SQLExpression<Int> { .wrong }
  /// Not available.
  @_documentation(visibility: internal)
  public var lowercased: SQLExpression<String> { .wrong }
  /// Not available.
  @_documentation(visibility: internal)
  public var uppercased: SQLExpression<String> { .wrong }
  /// Not available.
  @_documentation(visibility: internal)
  public func coalesce<Other>(_ other: Other) -> Self { self }
}
