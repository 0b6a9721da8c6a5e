import LarderSQLite

// A join adds a table on the right. The fields of a join are a tuple, which a closure takes apart:
// `{ $0.country == $1.code }` or `{ city, country in … }`.

extension Query where From: Record {
  /// Each row with each of another table for which a condition holds.
  ///
  /// ```swift
  /// City.all.join(Country.self) { $0.country == $1.code }
  /// // … FROM "city.joincountry" ON "city"."country" = "country"."code"
  /// ```
  ///
  /// A table that is there already gets another name: `"city_2"`.
  public func join<Other: Record>(
    _ other: Other.Type,
    on condition: (From.QueryFields, Other.QueryFields) -> SQLExpression<Bool>
  ) -> Query<Join2<From, Other>> {
    joined(.join, Other.table.name) { condition($0.0, $0.1) }
  }

  /// Each row with each of another table for which a condition holds, or with nil if there is none.
  public func leftJoin<Other: Record>(
    _ other: Other.Type,
    on condition: (From.QueryFields, OptionalFields<Other>) -> SQLExpression<Bool>
  ) -> Query<Join2<From, Other?>> {
    joined(.leftJoin, Other.table.name) { condition($0.0, $0.1) }
  }
}

extension Query {
  /// Each row with each of a third table for which a condition holds.
  public func join<A, B, Other: Record>(
    _ other: Other.Type,
    on condition: (A.QueryFields, B.QueryFields, Other.QueryFields) -> SQLExpression<Bool>
  ) -> Query<Join3<A, B, Other>> where From == Join2<A, B> {
    joined(.join, Other.table.name) { condition($0.0, $0.1, $0.2) }
  }

  /// Each row with each of a third table for which a condition holds, or with nil.
  public func leftJoin<A, B, Other: Record>(
    _ other: Other.Type,
    on condition: (A.QueryFields, B.QueryFields, OptionalFields<Other>) -> SQLExpression<Bool>
  ) -> Query<Join3<A, B, Other?>> where From == Join2<A, B> {
    joined(.leftJoin, Other.table.name) { condition($0.0, $0.1, $0.2) }
  }

  /// Each row with each of a fourth table for which a condition holds.
  public func join<A, B, C, Other: Record>(
    _ other: Other.Type,
    on condition: (A.QueryFields, B.QueryFields, C.QueryFields, Other.QueryFields)
      -> SQLExpression<Bool>
  ) -> Query<Join4<A, B, C, Other>> where From == Join3<A, B, C> {
    joined(.join, Other.table.name) { condition($0.0, $0.1, $0.2, $0.3) }
  }

  /// Each row with each of a fourth table for which a condition holds, or with nil.
  public func leftJoin<A, B, C, Other: Record>(
    _ other: Other.Type,
    on condition: (A.QueryFields, B.QueryFields, C.QueryFields, OptionalFields<Other>)
      -> SQLExpression<Bool>
  ) -> Query<Join4<A, B, C, Other?>> where From == Join3<A, B, C> {
    joined(.leftJoin, Other.table.name) { condition($0.0, $0.1, $0.2, $0.3) }
  }

  private func joined<New: QuerySource>(
    _ kind: SQLOperator, _ table: String, on condition: (New.QueryFields) -> SQLExpression<Bool>
  ) -> Query<New> {
    var select = select
    select.join(kind, table) {
      $0.definition(of: table)
    } on: { names in
      var names = names
      return condition(New.queryTables(&names))
    }
    return Query<New>(select)
  }
}

// MARK: What a join reads from

/// A join of two tables, of which the second may be Optional.
@_documentation(visibility: internal)
public enum Join2<A: QuerySource, B: QuerySource>: QuerySource {
  /// The columns of both.
  @_documentation(visibility: internal)
  public static func queryTables(_ names: inout QueryNames) -> (A.QueryFields, B.QueryFields) {
    (A.queryTables(&names), B.queryTables(&names))
  }

  /// Reads both.
  @_documentation(visibility: internal)
  public static func queryReader(
    _ columns: inout QueryColumns
  ) -> (QueryCursor) throws -> (A.QueryRow, B.QueryRow) {
    let (a, b) = (A.queryReader(&columns), B.queryReader(&columns))
    return { (try a($0), try b($0)) }
  }
}

/// A join of three tables.
@_documentation(visibility: internal)
public enum Join3<A: QuerySource, B: QuerySource, C: QuerySource>: QuerySource {
  /// The columns of all.
  @_documentation(visibility: internal)
  public static func queryTables(
    _ names: inout QueryNames
  ) -> (A.QueryFields, B.QueryFields, C.QueryFields) {
    (A.queryTables(&names), B.queryTables(&names), C.queryTables(&names))
  }

  /// Reads all.
  @_documentation(visibility: internal)
  public static func queryReader(
    _ columns: inout QueryColumns
  ) -> (QueryCursor) throws -> (A.QueryRow, B.QueryRow, C.QueryRow) {
    let (a, b, c) = (A.queryReader(&columns), B.queryReader(&columns), C.queryReader(&columns))
    return { (try a($0), try b($0), try c($0)) }
  }
}

/// A join of four tables.
@_documentation(visibility: internal)
public enum Join4<
  A: QuerySource, B: QuerySource, C: QuerySource, D: QuerySource
>: QuerySource {
  /// The columns of all.
  @_documentation(visibility: internal)
  public static func queryTables(
    _ names: inout QueryNames
  ) -> (A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields) {
    (
      A.queryTables(&names), B.queryTables(&names), C.queryTables(&names), D.queryTables(&names)
    )
  }

  /// Reads all.
  @_documentation(visibility: internal)
  public static func queryReader(
    _ columns: inout QueryColumns
  ) -> (QueryCursor) throws -> (A.QueryRow, B.QueryRow, C.QueryRow, D.QueryRow) {
    let (a, b) = (A.queryReader(&columns), B.queryReader(&columns))
    let (c, d) = (C.queryReader(&columns), D.queryReader(&columns))
    return { (try a($0), try b($0), try c($0), try d($0)) }
  }
}
