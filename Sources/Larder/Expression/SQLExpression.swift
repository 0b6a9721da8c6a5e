import LarderSQLite

/// An expression of SQL whose values are of a Swift type.
///
/// Columns are expressions inside of a query's closures, and operators and functions make others:
///
/// ```swift
/// City.filter { $0.population > 1_000_000 && $0.name.hasPrefix("北") }
/// // … WHERE "city"."population" > ?
/// // AND ("city"."name" >= ? COLLATE BINARY AND "city"."name" < ? COLLATE BINARY)
/// ```
///
/// Values are bound and never become part of the text. What has no Swift form is written as SQL:
/// `SQLExpression<Int>(sql: "unicode(\($0.name.sql))")`.
public struct SQLExpression<Value: Sendable>: Sendable {
  /// All but the type: what operators do is not generic, and so compiled once.
  @usableFromInline let node: SQLFragment

  @inlinable
  init(_ node: SQLFragment) { self.node = node }

  /// An expression from SQL of one's own, which is put into parentheses where it has to be.
  public init(sql: SQL) {
    let node = SQLFragment(sql: sql)
    self.init(node.owned(as: .own(ofAny: Value.self)))
  }

  /// The text, with the values that belong into it.
  public var sql: SQL { node.sql }

  /// The expression as a term of ORDER BY or GROUP BY.
  @inlinable var term: SQLFragment { node.term() }

  /// A call of a function with this expression as its first argument.
  func call<Result>(
    _ function: StaticString, _ others: SQLFragment..., isNullable: Bool = true,
    coding: ExpressionCoding? = nil
  ) -> SQLExpression<Result> {
    // What is computed from a value isn't stored as that is.
    let operand = coding == nil ? node.computed : node
    return SQLExpression<Result>(
      SQLFragment(.call(function, [operand] + others), isNullable: isNullable, coding: coding))
  }

  /// A value of a type that a column has a coding for, which is bound: only beside that column, or for
  /// it. Throws ``LarderSQLite/ConversionError`` elsewhere, when the statement runs.
  @_disfavoredOverload
  public static func value(_ value: Value) -> SQLExpression {
    SQLExpression(SQLFragment(value: UncodedValue(value)))
  }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  /// A value, which is bound.
  public static func value(_ value: Value) -> SQLExpression {
    SQLExpression(SQLFragment(value: value, coding: .own(of: Value.self)))
  }
}
