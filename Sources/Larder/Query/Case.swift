import LarderSQLite

/// A value for rows of which a condition holds; the first condition that does decides.
///
/// ```swift
/// City.all.select {
///   when($0.population > 10_000_000, then: "huge").when($0.population > 1_000_000, then: "large")
///     .otherwise("small")
/// }
/// // CASE WHEN "city"."population" > ? THEN ? WHEN "city"."population" > ? THEN ? ELSE ? END
/// ```
public func when<Value: DatabaseValueConvertible>(
  _ condition: SQLExpression<Bool>, then value: Value
) -> Case<Value> {
  when(condition, then: .constant(value))
}

/// An expression's value for rows of which a condition holds; see ``when(_:then:)-func``.
@_disfavoredOverload
public func when<Value: Sendable>(
  _ condition: SQLExpression<Bool>, then value: SQLExpression<Value>
) -> Case<Value> {
  Case(branches: SQL(raw: ""), isNullable: false, coding: value.coding)
    .when(condition, then: value)
}

/// Conditions with values, of which ``otherwise(_:)-(Value)`` or ``otherwiseNull`` makes an
/// expression.
public struct Case<Value: Sendable>: Sendable {
  fileprivate var branches: SQL
  fileprivate var isNullable: Bool
  fileprivate var coding: ExpressionCoding?

  /// An expression's value for rows of which this condition holds, and none of those before.
  @_disfavoredOverload
  public func when(_ condition: SQLExpression<Bool>, then value: SQLExpression<Value>) -> Self {
    var new = self
    new.branches.append(" WHEN ", condition.inside(.lowest))
    new.branches.append(" THEN ", coded(value))
    new.isNullable = isNullable || value.isNullable
    new.coding = coding ?? value.coding
    return new
  }

  /// The value of an expression for all other rows.
  @_disfavoredOverload
  public func otherwise(_ value: SQLExpression<Value>) -> SQLExpression<Value> {
    SQLExpression<Value>(
      SQL("CASE", SQL(branches, " ELSE ", coded(value)), " END"),
      isNullable: isNullable || value.isNullable,
      coding: coding ?? value.coding)
  }

  /// NULL for all other rows.
  public var otherwiseNull: SQLExpression<Value?> {
    SQLExpression<Value?>(SQL("CASE", branches, " END"), coding: coding)
  }

  /// A value on its own is stored as the branches before are.
  private func coded(_ value: SQLExpression<Value>) -> SQL {
    guard let coding, value.coding == nil else { return value.inside(.lowest) }
    return value.node.coded(coding.code)?.sql ?? value.inside(.lowest)
  }
}

extension Case where Value: DatabaseValueConvertible {
  /// A value for rows of which this condition holds, and none of those before.
  public func when(_ condition: SQLExpression<Bool>, then value: Value) -> Self {
    when(condition, then: .constant(value))
  }

  /// A value for all other rows.
  public func otherwise(_ value: Value) -> SQLExpression<Value> { otherwise(.constant(value)) }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  /// A value of which it is known whether it can be NULL.
  fileprivate static func constant(_ value: Value) -> Self {
    Self(SQL(bound: value), isNullable: Value.columnType.isNullable)
  }
}
