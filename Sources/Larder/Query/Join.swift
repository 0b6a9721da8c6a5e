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
