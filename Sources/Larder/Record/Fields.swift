import LarderSQLite

/// The columns of a record's table in a query, as expressions: what a query's closures get.
@dynamicMemberLookup
public struct RecordFields<R: Record>: Sendable {
  /// The table's name in the query, quoted, with the dot.
  @usableFromInline let prefix: String

  @usableFromInline
  init(prefix: String) { self.prefix = prefix }

  /// A column.
  @inlinable
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> SQLExpression<Value> {
    R.columns[keyPath: keyPath].storage.expression(behind: prefix)
  }
}

extension ColumnStorage {
  /// The column of a table with this name in the query.
  @usableFromInline
  func expression(behind prefix: String) -> SQLExpression<Value> {
    SQLExpression(node(behind: prefix))
  }

  /// The same where the row may be missing.
  func nullable<Result>(behind prefix: String) -> SQLExpression<Result> {
    SQLExpression<Result>(SQL(raw: prefix + quotedName), coding: expressionCoding)
  }
}

/// The columns of a left-joined record's table, all of which may be NULL.
@dynamicMemberLookup
public struct OptionalFields<R: Record>: Sendable {
  let prefix: String

  /// A column, which is NULL where there is no row.
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> SQLExpression<Value?> {
    R.columns[keyPath: keyPath].storage.nullable(behind: prefix)
  }

  /// A column that is an Optional already.
  @_disfavoredOverload
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value?>>
  ) -> SQLExpression<Value?> {
    R.columns[keyPath: keyPath].storage.nullable(behind: prefix)
  }
}
