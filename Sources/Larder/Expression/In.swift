import LarderSQLite

// IN: membership in a list of values.

extension SQLExpression where Value: DatabaseValueConvertible {
  /// Whether the value is one of these; false for an empty list. NULL is in a list that contains nil.
  ///
  /// If the list doesn't contain nil, it is unknown whether NULL is in it: the condition and its opposite,
  /// `!$0.level.in(…)`, both leave out rows with NULL. See [IN](https://www.sqlite.org/lang_expr.html#in_op).
  ///
  /// A range isn't made into a list: its bounds are compared.
  ///
  /// Integers, texts and any list of more than a thousand values are bound as one argument, so that the
  /// statement's text is the same for lists of any length.
  public func `in`(_ values: some Sequence<Value>) -> SQLExpression<Bool> {
    // Such a range can have more values than fit in memory, or no last one.
    if let range = values as? any BoundedRange { return SQLExpression<Bool>(node.within(range)) }
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
  /// Whether the value is one of the other expressions' values; false if there are none.
  @_disfavoredOverload
  public func `in`(_ expressions: [SQLExpression]) -> SQLExpression<Bool> {
    let coded = node.coding == nil ? expressions.lazy.map(\.node).first { $0.coding != nil } : nil
    let node = coded.map(node.stored) ?? node
    let list = SQLFragment.list(expressions.map { (coded ?? node).operand($0.node, .lowest) })
    return SQLExpression<Bool>(node.infix(.in, operand: list.parenthesized))
  }
}

extension Sequence where Element: DatabaseValueConvertible {
  /// Not available: the expression comes first.
  @_documentation(visibility: internal)
  @available(*, unavailable, message: "write the expression first: $0.id.in(values)")
  public func contains(_ expression: SQLExpression<Element>) -> SQLExpression<Bool> { .wrong }

  /// Not available: the expression comes first.
  @_documentation(visibility: internal)
  @available(*, unavailable, message: "write the expression first: $0.id.in(values)")
  public func contains(_ expression: SQLExpression<Element?>) -> SQLExpression<Bool> { .wrong }
}

extension DatabaseValueConvertible {
  /// Whether it is stored as NULL.
  var isStoredAsNull: Bool { (try? databaseValue)?.isNull ?? false }
}
