import LarderSQLite

/// The columns of a record's table in a query, as expressions: what a query's closures get.
@dynamicMemberLookup
public struct RecordFields<R: Record>: Sendable {
  @usableFromInline let alias: QueryAlias

  @inlinable
  init(_ alias: QueryAlias) { self.alias = alias }

  /// A column.
  @inlinable
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> SQLExpression<Value> {
    // Not unretained, though that would be faster: nobody else may keep what a computed `columns` makes.
    R.columns[keyPath: keyPath].storage.expression(of: alias)
  }
}

extension ColumnStorage {
  /// The column of a table with this name in the query.
  @inlinable
  func expression(of alias: QueryAlias) -> SQLExpression<Value> {
    SQLExpression(qualified(by: alias))
  }

  /// The same where the row may be missing.
  func nullable<Result>(of alias: QueryAlias) -> SQLExpression<Result> {
    SQLExpression<Result>(
      alias.column(
        definition.name, as: .column(isKey: false, definition.type.kind), coding: expressionCoding))
  }
}

/// The columns of a left-joined record's table, all of which may be NULL.
@dynamicMemberLookup
@_documentation(visibility: internal)
public struct OptionalFields<R: Record>: Sendable {
  let alias: QueryAlias

  init(_ alias: QueryAlias) { self.alias = alias }

  /// A column, which is NULL where there is no row.
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> SQLExpression<Value?> {
    R.columns[keyPath: keyPath].storage.nullable(of: alias)
  }

  /// A column that is an Optional already.
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value?>>
  ) -> SQLExpression<Value?> {
    R.columns[keyPath: keyPath].storage.nullable(of: alias)
  }
}
