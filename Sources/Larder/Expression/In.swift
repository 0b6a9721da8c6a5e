import LarderSQLite

// IN: membership in a list of values.

extension SQLExpression where Value: DatabaseValueConvertible {
  /// Whether it is one of these values; false for an empty list. NULL is one if nil is.
  ///
  /// If nil isn't, it isn't known whether NULL is one of the values: the condition as well as its
  /// opposite, `!$0.level.in(…)`, leave rows with NULL out.
  /// See [IN](https://www.sqlite.org/lang_expr.html#in_op).
  ///
  /// Integers, texts and any list of more than a thousand values go to the statement as one argument, so that it is
  /// the same for lists of any length.
  public func `in`(_ values: some Sequence<Value>) -> SQLExpression<Bool> {
    let values = Array(values)
    let present = Value.columnType.isNullable ? values.filter { !$0.isStoredAsNull } : values
    let list = members(present)
    let condition = SQLExpression<Bool>(node.infix(.in, operand: SQLFragment(.members(list))))
    return present.count == values.count ? condition : condition || isNull
  }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  private func members(_ values: [Value]) -> MemberList {
    if values.count > MemberList.longestText, node.coding == nil {
      return MemberList(table: values)
    }
    let coded = values.map { node.coding?.code($0) ?? $0 }
    return MemberList(
      Value.self, coded, isCoded: node.coding.map { $0.form != .own } ?? false)
  }
}

extension SQLExpression {
  /// Whether it is one of the values of other expressions; false for none of them.
  @_disfavoredOverload
  public func `in`(_ expressions: [SQLExpression]) -> SQLExpression<Bool> {
    let list = SQLFragment.list(expressions.map { node.operand($0.node, .lowest) })
    return SQLExpression<Bool>(node.infix(.in, operand: list.parenthesized))
  }
}

extension DatabaseValueConvertible {
  fileprivate var isStoredAsNull: Bool { (try? databaseValue)?.isNull ?? false }
}
