import LarderSQLite

/// The columns of a record's table in a query, as expressions: what a query's closures get.
@dynamicMemberLookup
public struct RecordFields<R: Record>: Sendable {
  /// The table's name in the query, quoted, with the dot.
  let prefix: String

  init(_ alias: String) { prefix = alias.quotedIdentifier + "." }

  /// A column.
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> SQLExpression<Value> {
    let column = R.columns[keyPath: keyPath].storage
    return SQLExpression(
      SQL(raw: prefix + column.quotedName), isNullable: column.definition.type.isNullable,
      coding: column.coding)
  }
}

/// The columns of a left-joined record's table, all of which may be NULL.
@dynamicMemberLookup
public struct OptionalFields<R: Record>: Sendable {
  let prefix: String

  init(_ alias: String) { prefix = alias.quotedIdentifier + "." }

  /// A column, which is NULL where there is no row.
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> SQLExpression<Value?> {
    let column = R.columns[keyPath: keyPath].storage
    return SQLExpression(
      SQL(raw: prefix + column.quotedName), coding: column.coding.map(\.optional))
  }

  /// A column that is an Optional already.
  @_disfavoredOverload
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value?>>
  ) -> SQLExpression<Value?> {
    let column = R.columns[keyPath: keyPath].storage
    return SQLExpression(SQL(raw: prefix + column.quotedName), coding: column.coding)
  }
}
