import LarderSQLite

/// An expression of SQL whose values are of a Swift type.
///
/// Columns are expressions inside a query's closures; operators and functions make other expressions:
///
/// ```swift
/// City.filter { $0.population > 1_000_000 && $0.name.hasPrefix("北") }
/// // … WHERE "city"."population" > ?
/// // AND ("city"."name" >= ? COLLATE BINARY AND "city"."name" < ? COLLATE BINARY)
/// ```
///
/// Values are bound and never become part of the text. An expression without a Swift form is written as SQL:
/// `SQLExpression<Int>(sql: "unicode(\($0.name.sql))")`.
@dynamicMemberLookup
public struct SQLExpression<Value: Sendable>: Sendable {
  /// The expression without its type. Operators work on it, so that they aren't generic and are compiled
  /// once.
  @usableFromInline package let node: SQLFragment

  @inlinable
  init(_ node: SQLFragment) { self.node = node }

  /// An expression from the program's own SQL. Parentheses are added if needed.
  public init(sql: SQL) {
    let node = SQLFragment(sql: sql)
    self.init(node.owned(as: .own(ofAny: Value.self)))
  }

  /// The expression's text with its bound values.
  public var sql: SQL { node.sql }

  /// The expression as a term of ORDER BY or GROUP BY.
  @inlinable var term: SQLFragment { node.term() }

  /// A call of a function with this expression as its first argument.
  func call<Result>(
    _ function: StaticString, _ others: SQLFragment..., isNullable: Bool = true,
    coding: ExpressionCoding? = nil
  ) -> SQLExpression<Result> {
    // A value computed from the operand isn't stored in the operand's coding.
    let operand = coding == nil ? node.computed : node
    return SQLExpression<Result>(
      SQLFragment(.call(function, [operand] + others), isNullable: isNullable, coding: coding))
  }

  /// A bound value of a type that a column's coding stores. It can only stand beside that column, or be
  /// assigned to it; elsewhere the statement throws ``LarderSQLite/ConversionError`` when it runs.
  @_disfavoredOverload
  public static func value(_ value: Value) -> SQLExpression {
    SQLExpression(SQLFragment(value: UncodedValue(value)))
  }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  /// A bound value.
  public static func value(_ value: Value) -> SQLExpression {
    SQLExpression(SQLFragment(value: value, coding: .own(of: Value.self)))
  }
}
