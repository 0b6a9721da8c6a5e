import LarderSQLite

/// The number of rows: `count(*)`.
public func count() -> SQLExpression<Int> {
  SQLExpression(.call("count", "*", isNullable: false))
}

extension SQLExpression {
  /// A call of an aggregate function, over all values or over each distinct value once.
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

  /// The aggregate over only the rows that meet a condition.
  ///
  /// ```swift
  /// City.all.select { _ in count().filter(where: $0.population > 1_000_000) }
  /// // SELECT count(*) FILTER (WHERE "city"."population" > ?) FROM "city"
  /// ```
  public func filter(where condition: SQLExpression<Bool>) -> Self {
    Self(
      withClause(
        " FILTER (WHERE \(SQLFragment(.condition, condition.node.asCondition().parenthesized(in: .lowest))))",
        isNullable: node.isNullable))
  }

  /// The call with a clause that belongs to it. Anything but a call is put into parentheses: SQLite then
  /// refuses a clause that can only follow a call, instead of applying it to the last operand.
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
  // One overload serves values and their Optionals. With one overload for each, the compiler takes seconds
  // for seven aggregates in one selection if the next step asks for their types.

  /// The smallest value; NULL if there is none.
  public func min() -> SQLExpression<Value.AsOptional> {
    SQLExpression<Value.AsOptional>(node.extreme("min"))
  }
  /// The largest value; NULL if there is none.
  public func max() -> SQLExpression<Value.AsOptional> {
    SQLExpression<Value.AsOptional>(node.extreme("max"))
  }

  /// The values joined into one text, in an unspecified order; NULL if there is none.
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
  /// The mean of the values; NULL if there is none.
  public func average(distinct: Bool = false) -> SQLExpression<Double?> {
    SQLExpression<Value>(node.computed).aggregate("avg", distinct)
  }

  /// The sum of the values as a real number; 0 if there is none.
  public func total(distinct: Bool = false) -> SQLExpression<Double> {
    SQLExpression<Value>(node.computed).aggregate("total", distinct, isNullable: false)
  }
}

extension SQLExpression where Value: SummableValue {
  /// The sum of the values that aren't NULL. NULL if there is none; an integer overflow is an error.
  ///
  /// The sum has the column's type, so that it doesn't fit if that is too narrow: `$0.length.integer.sum()`
  /// is the sum of an Int16 in 64 bits.
  public func sum(distinct: Bool = false) -> SQLExpression<Value.AsOptional> {
    SQLExpression<Value.AsOptional>(
      node.sum(distinct, isInteger: Value.columnType.kind == .integer))
  }
}
