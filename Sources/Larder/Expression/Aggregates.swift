import LarderSQLite

/// The number of rows: `count(*)`.
public func count() -> SQLExpression<Int> {
  SQLExpression(.call("count", "*", isNullable: false))
}

extension SQLExpression {
  /// A call of an aggregate function, of all values or of each value once.
  private func aggregate<Result>(
    _ name: StaticString, _ distinct: Bool, isNullable: Bool = true
  ) -> SQLExpression<Result> {
    SQLExpression<Result>(
      .call(name, distinct ? SQLFragment(.distinct, node) : node, isNullable: isNullable))
  }

  /// The number of values that aren't NULL.
  public func count(distinct: Bool = false) -> SQLExpression<Int> {
    aggregate("count", distinct, isNullable: false)
  }

  /// The aggregate of only those rows for which a condition holds.
  ///
  /// ```swift
  /// City.all.select { _ in count().filter(where: $0.population > 1_000_000) }
  /// // SELECT count(*) FILTER (WHERE "city"."population" > ?) FROM "city"
  /// ```
  public func filter(where condition: SQLExpression<Bool>) -> Self {
    Self(
      withClause(
        " FILTER (WHERE \(SQLFragment(.condition, condition.node.asCondition().inside(.lowest))))",
        isNullable: node.isNullable))
  }

  /// The call of a function with a clause that belongs to it: with an operator around it, SQLite shall
  /// refuse what can only follow a call, and not apply it to the last operand.
  func withClause(_ clause: SQLFragment, isNullable: Bool = true) -> SQLFragment {
    var call = node.insideOwned ?? node
    var isCall = call.precedence == .atom
    if case .sql(let sql) = call.content, sql.isFunctionCall { isCall = true }
    if !isCall { call = call.parenthesized }
    let made = SQLFragment(
      .form(.clause, [call, clause], "\(call)\(clause)"), isNullable: isNullable,
      coding: node.coding)
    return node.insideOwned == nil ? made : made.owned(as: node.coding)
  }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  // One form for values and their Optionals: with two of each, seven in one selection take the compiler
  // seconds where their types are asked for by the next step.

  /// The smallest value; NULL where there is none.
  public func min() -> SQLExpression<Value.AsOptional> {
    SQLExpression<Value.AsOptional>(node.extreme("min"))
  }
  /// The largest value; NULL where there is none.
  public func max() -> SQLExpression<Value.AsOptional> {
    SQLExpression<Value.AsOptional>(node.extreme("max"))
  }

  /// The values as one text, in no order that could be relied on; NULL where there is none.
  public func groupConcat(separator: String = ",") -> SQLExpression<String?> {
    let separator = SQLFragment(value: separator)
    return SQLExpression<String?>(
      SQLFragment(
        .form(
          .joinedText(node.storedKind(of: Value.self) ?? .any), [node, separator],
          .call("group_concat", node, separator))))
  }
}

extension SQLExpression where Value: BinaryNumberValue {
  /// The mean of the values; NULL where there is none.
  public func average(distinct: Bool = false) -> SQLExpression<Double?> {
    SQLExpression<Value>(node.computed).aggregate("avg", distinct)
  }

  /// The sum of the values as a real number; 0 where there is none.
  public func total(distinct: Bool = false) -> SQLExpression<Double> {
    SQLExpression<Value>(node.computed).aggregate("total", distinct, isNullable: false)
  }
}

extension SQLExpression where Value: SummableValue {
  /// The sum of the values that aren't NULL; NULL where there is none, an error where integers overflow.
  ///
  /// It has the column's type, and doesn't fit where that is too narrow: `$0.length.integer.sum()` is the sum
  /// of an Int16 in 64 bits.
  public func sum(distinct: Bool = false) -> SQLExpression<Value.AsOptional> {
    SQLExpression<Value.AsOptional>(
      node.sum(distinct, isInteger: Value.columnType.kind == .integer))
  }
}
