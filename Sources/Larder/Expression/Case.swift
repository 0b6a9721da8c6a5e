import LarderSQLite

/// A value for the rows that meet a condition; the first condition that holds decides.
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

/// An expression's value for the rows that meet a condition; see ``when(_:then:)-func``.
@_disfavoredOverload
public func when<Value: Sendable>(
  _ condition: SQLExpression<Bool>, then value: SQLExpression<Value>
) -> Case<Value> {
  Case().when(condition, then: value)
}

/// Conditions with their values. ``otherwise(_:)-(Value)`` or ``otherwiseNull`` makes an expression of them.
public struct Case<Value: Sendable>: Sendable {
  private var conditions: [SQLFragment] = []
  private var results: [SQLFragment] = []

  fileprivate init() {}

  /// An expression's value for the rows that meet this condition and none before it.
  @_disfavoredOverload
  public func when(_ condition: SQLExpression<Bool>, then value: SQLExpression<Value>) -> Self {
    var new = self
    new.conditions.append(condition.node.asCondition())
    new.results.append(value.node)
    return new
  }

  /// The value of an expression for all other rows.
  @_disfavoredOverload
  public func otherwise(_ value: SQLExpression<Value>) -> SQLExpression<Value> {
    let results = results + [value.node]
    return SQLExpression<Value>(
      fragment(results, isNullable: results.contains(where: \.isNullable)))
  }

  /// NULL for all other rows.
  public var otherwiseNull: SQLExpression<Value?> {
    SQLExpression<Value?>(fragment(results, isNullable: true))
  }

  /// Whether a collation matters for the values; it doesn't for numbers and dates.
  private static var isCompared: Bool {
    switch (Value.self as? any DatabaseValueConvertible.Type)?.columnType.kind {
    case .integer, .real, .bool, .decimal, .date: false
    default: true
    }
  }

  private func fragment(_ results: [SQLFragment], isNullable: Bool) -> SQLFragment {
    // Plain values are stored in the same way as the expressions among the results.
    let coding = results.lazy.compactMap(\.coding).first
    let results = results.map { result in
      if let coding, result.coding == nil, let coded = result.coded(coding.code) { return coded }
      return result.matching(coding?.form)
    }
    let choice = SQLFragment(.choice(conditions, results), isNullable: isNullable, coding: coding)
    // SQLite would compare the result by any collation that occurs in the expression.
    guard Self.isCompared, (conditions + results).contains(where: \.namesCollation) else {
      return choice
    }
    return SQLFragment(choice, .collate, "BINARY", isNullable: isNullable, coding: coding)
      .parenthesized
  }
}

extension Case where Value: DatabaseValueConvertible {
  /// A value for the rows that meet this condition and none before it.
  public func when(_ condition: SQLExpression<Bool>, then value: Value) -> Self {
    when(condition, then: .constant(value))
  }

  /// A value for all other rows.
  public func otherwise(_ value: Value) -> SQLExpression<Value> { otherwise(.constant(value)) }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  /// A bound value. Its type tells whether it can be NULL.
  fileprivate static func constant(_ value: Value) -> Self {
    Self(SQLFragment(value: value, isNullable: Value.columnType.isNullable))
  }
}
