import LarderSQLite

/// The columns of a record's table in a query, as expressions: the parameter of a query's closures.
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
    // Retained, though unretained would be faster: nothing else may hold the value of a computed `columns`.
    R.columns[keyPath: keyPath].storage.expression(of: alias)
  }
}

extension ColumnStorage {
  @inlinable
  func expression(of alias: QueryAlias) -> SQLExpression<Value> {
    SQLExpression(qualified(by: alias))
  }

  /// The column as an expression that may be NULL, since its row may be missing.
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
