import LarderSQLite

// A join adds a table on the right. The fields of a join are a tuple, which a closure takes apart:
// `{ $0.country == $1.code }` or `{ city, country in … }`.

extension Query where From: SingleSource {
  /// Inner join with another table: all combinations of rows for which the condition holds.
  ///
  /// ```swift
  /// City.all.join(Country.self) { $0.country == $1.code }
  /// // … FROM "city" JOIN "country" ON "city"."country" = "country"."code"
  /// ```
  ///
  /// A table that the query already has gets another name: `"city_2"`. Up to eight tables can be joined.
  ///
  /// `==` is null-safe here too: if both columns can be NULL, NULL matches NULL, unlike with SQL's `=` and
  /// in associations. After a left join, `$0.id == $1.owner && $1.owner != nil` does what `=` does.
  public func join<Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (From.QueryFields, Other.QueryFields) -> SQLExpression<Bool>
  ) -> Query<Join2<From, Other>> {
    joined(.join, Other.tableDefinition) { condition($0.0, $0.1) }
  }

  /// Left join with another table: rows without a match there get nil for it.
  public func leftJoin<Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (From.QueryFields, OptionalFields<Other>) -> SQLExpression<Bool>
  ) -> Query<Join2<From, Other?>> {
    joined(.leftJoin, Other.tableDefinition) { condition($0.0, $0.1) }
  }

  /// Right join with another table: its rows without a match get nil for the tables before it.
  public func rightJoin<Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (From.QueryNullable.QueryFields, Other.QueryFields) ->
      SQLExpression<Bool>
  ) -> Query<Join2<From.QueryNullable, Other>> where From.QueryNullable: QuerySource {
    joined(.rightJoin, Other.tableDefinition) { condition($0.0, $0.1) }
  }

  /// Full join with another table: rows of either side without a match get nil for the other side.
  public func fullJoin<Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (From.QueryNullable.QueryFields, OptionalFields<Other>) ->
      SQLExpression<Bool>
  ) -> Query<Join2<From.QueryNullable, Other?>> where From.QueryNullable: QuerySource {
    joined(.fullJoin, Other.tableDefinition) { condition($0.0, $0.1) }
  }
}

extension Query {
  /// Inner join with a third table: all combinations of rows for which the condition holds.
  public func join<A, B, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (A.QueryFields, B.QueryFields, Other.QueryFields) -> SQLExpression<
      Bool
    >
  ) -> Query<Join3<A, B, Other>> where From == Join2<A, B> {
    joined(.join, Other.tableDefinition) { condition($0.0, $0.1, $0.2) }
  }

  /// Left join with a third table: rows without a match there get nil for it.
  public func leftJoin<A, B, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (A.QueryFields, B.QueryFields, OptionalFields<Other>) ->
      SQLExpression<Bool>
  ) -> Query<Join3<A, B, Other?>> where From == Join2<A, B> {
    joined(.leftJoin, Other.tableDefinition) { condition($0.0, $0.1, $0.2) }
  }

  /// Right join with a third table: its rows without a match get nil for the tables before it.
  public func rightJoin<A, B, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, Other.QueryFields
    ) ->
      SQLExpression<Bool>
  ) -> Query<Join3<A.QueryNullable, B.QueryNullable, Other>>
  where From == Join2<A, B>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource {
    joined(.rightJoin, Other.tableDefinition) { condition($0.0, $0.1, $0.2) }
  }

  /// Full join with a third table: rows of either side without a match get nil for the other side.
  public func fullJoin<A, B, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, OptionalFields<Other>
    )
      -> SQLExpression<Bool>
  ) -> Query<Join3<A.QueryNullable, B.QueryNullable, Other?>>
  where From == Join2<A, B>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource {
    joined(.fullJoin, Other.tableDefinition) { condition($0.0, $0.1, $0.2) }
  }

  /// Inner join with a fourth table: all combinations of rows for which the condition holds.
  public func join<A, B, C, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (A.QueryFields, B.QueryFields, C.QueryFields, Other.QueryFields) ->
      SQLExpression<
        Bool
      >
  ) -> Query<Join4<A, B, C, Other>> where From == Join3<A, B, C> {
    joined(.join, Other.tableDefinition) { condition($0.0, $0.1, $0.2, $0.3) }
  }

  /// Left join with a fourth table: rows without a match there get nil for it.
  public func leftJoin<A, B, C, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (A.QueryFields, B.QueryFields, C.QueryFields, OptionalFields<Other>)
      ->
      SQLExpression<Bool>
  ) -> Query<Join4<A, B, C, Other?>> where From == Join3<A, B, C> {
    joined(.leftJoin, Other.tableDefinition) { condition($0.0, $0.1, $0.2, $0.3) }
  }

  /// Right join with a fourth table: its rows without a match get nil for the tables before it.
  public func rightJoin<A, B, C, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, C.QueryNullable.QueryFields,
      Other.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<Join4<A.QueryNullable, B.QueryNullable, C.QueryNullable, Other>>
  where
    From == Join3<A, B, C>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    C.QueryNullable: QuerySource
  {
    joined(.rightJoin, Other.tableDefinition) { condition($0.0, $0.1, $0.2, $0.3) }
  }

  /// Full join with a fourth table: rows of either side without a match get nil for the other side.
  public func fullJoin<A, B, C, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, C.QueryNullable.QueryFields,
      OptionalFields<Other>
    ) -> SQLExpression<Bool>
  ) -> Query<Join4<A.QueryNullable, B.QueryNullable, C.QueryNullable, Other?>>
  where
    From == Join3<A, B, C>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    C.QueryNullable: QuerySource
  {
    joined(.fullJoin, Other.tableDefinition) { condition($0.0, $0.1, $0.2, $0.3) }
  }

  /// Inner join with a fifth table: all combinations of rows for which the condition holds.
  public func join<A, B, C, D, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, Other.QueryFields
    ) ->
      SQLExpression<Bool>
  ) -> Query<Join5<A, B, C, D, Other>> where From == Join4<A, B, C, D> {
    joined(.join, Other.tableDefinition) { condition($0.0, $0.1, $0.2, $0.3, $0.4) }
  }

  /// Left join with a fifth table: rows without a match there get nil for it.
  public func leftJoin<A, B, C, D, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, OptionalFields<Other>
    ) -> SQLExpression<Bool>
  ) -> Query<Join5<A, B, C, D, Other?>> where From == Join4<A, B, C, D> {
    joined(.leftJoin, Other.tableDefinition) { condition($0.0, $0.1, $0.2, $0.3, $0.4) }
  }

  /// Right join with a fifth table: its rows without a match get nil for the tables before it.
  public func rightJoin<A, B, C, D, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, C.QueryNullable.QueryFields,
      D.QueryNullable.QueryFields, Other.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<Join5<A.QueryNullable, B.QueryNullable, C.QueryNullable, D.QueryNullable, Other>>
  where
    From == Join4<A, B, C, D>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    C.QueryNullable: QuerySource, D.QueryNullable: QuerySource
  {
    joined(.rightJoin, Other.tableDefinition) { condition($0.0, $0.1, $0.2, $0.3, $0.4) }
  }

  /// Full join with a fifth table: rows of either side without a match get nil for the other side.
  public func fullJoin<A, B, C, D, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, C.QueryNullable.QueryFields,
      D.QueryNullable.QueryFields, OptionalFields<Other>
    ) -> SQLExpression<Bool>
  ) -> Query<Join5<A.QueryNullable, B.QueryNullable, C.QueryNullable, D.QueryNullable, Other?>>
  where
    From == Join4<A, B, C, D>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    C.QueryNullable: QuerySource, D.QueryNullable: QuerySource
  {
    joined(.fullJoin, Other.tableDefinition) { condition($0.0, $0.1, $0.2, $0.3, $0.4) }
  }

  /// Inner join with a sixth table: all combinations of rows for which the condition holds.
  public func join<A, B, C, D, E, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields, Other.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<Join6<A, B, C, D, E, Other>> where From == Join5<A, B, C, D, E> {
    joined(.join, Other.tableDefinition) { condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5) }
  }

  /// Left join with a sixth table: rows without a match there get nil for it.
  public func leftJoin<A, B, C, D, E, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields,
      OptionalFields<Other>
    ) -> SQLExpression<Bool>
  ) -> Query<Join6<A, B, C, D, E, Other?>> where From == Join5<A, B, C, D, E> {
    joined(.leftJoin, Other.tableDefinition) { condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5) }
  }

  /// Right join with a sixth table: its rows without a match get nil for the tables before it.
  public func rightJoin<A, B, C, D, E, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, C.QueryNullable.QueryFields,
      D.QueryNullable.QueryFields, E.QueryNullable.QueryFields, Other.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<
    Join6<
      A.QueryNullable, B.QueryNullable, C.QueryNullable, D.QueryNullable, E.QueryNullable, Other
    >
  >
  where
    From == Join5<A, B, C, D, E>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    C.QueryNullable: QuerySource, D.QueryNullable: QuerySource, E.QueryNullable: QuerySource
  {
    joined(.rightJoin, Other.tableDefinition) { condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5) }
  }

  /// Full join with a sixth table: rows of either side without a match get nil for the other side.
  public func fullJoin<A, B, C, D, E, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, C.QueryNullable.QueryFields,
      D.QueryNullable.QueryFields, E.QueryNullable.QueryFields, OptionalFields<Other>
    ) -> SQLExpression<Bool>
  ) -> Query<
    Join6<
      A.QueryNullable, B.QueryNullable, C.QueryNullable, D.QueryNullable, E.QueryNullable, Other?
    >
  >
  where
    From == Join5<A, B, C, D, E>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    C.QueryNullable: QuerySource, D.QueryNullable: QuerySource, E.QueryNullable: QuerySource
  {
    joined(.fullJoin, Other.tableDefinition) { condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5) }
  }

  /// Inner join with a seventh table: all combinations of rows for which the condition holds.
  public func join<A, B, C, D, E, F, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields, F.QueryFields,
      Other.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<Join7<A, B, C, D, E, F, Other>> where From == Join6<A, B, C, D, E, F> {
    joined(.join, Other.tableDefinition) { condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6) }
  }

  /// Left join with a seventh table: rows without a match there get nil for it.
  public func leftJoin<A, B, C, D, E, F, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields, F.QueryFields,
      OptionalFields<Other>
    ) -> SQLExpression<Bool>
  ) -> Query<Join7<A, B, C, D, E, F, Other?>> where From == Join6<A, B, C, D, E, F> {
    joined(.leftJoin, Other.tableDefinition) { condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6) }
  }

  /// Right join with a seventh table: its rows without a match get nil for the tables before it.
  public func rightJoin<A, B, C, D, E, F, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, C.QueryNullable.QueryFields,
      D.QueryNullable.QueryFields, E.QueryNullable.QueryFields, F.QueryNullable.QueryFields,
      Other.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<
    Join7<
      A.QueryNullable, B.QueryNullable, C.QueryNullable, D.QueryNullable, E.QueryNullable,
      F.QueryNullable, Other
    >
  >
  where
    From == Join6<A, B, C, D, E, F>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    C.QueryNullable: QuerySource, D.QueryNullable: QuerySource, E.QueryNullable: QuerySource,
    F.QueryNullable: QuerySource
  {
    joined(.rightJoin, Other.tableDefinition) {
      condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6)
    }
  }

  /// Full join with a seventh table: rows of either side without a match get nil for the other side.
  public func fullJoin<A, B, C, D, E, F, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, C.QueryNullable.QueryFields,
      D.QueryNullable.QueryFields, E.QueryNullable.QueryFields, F.QueryNullable.QueryFields,
      OptionalFields<Other>
    ) -> SQLExpression<Bool>
  ) -> Query<
    Join7<
      A.QueryNullable, B.QueryNullable, C.QueryNullable, D.QueryNullable, E.QueryNullable,
      F.QueryNullable, Other?
    >
  >
  where
    From == Join6<A, B, C, D, E, F>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    C.QueryNullable: QuerySource, D.QueryNullable: QuerySource, E.QueryNullable: QuerySource,
    F.QueryNullable: QuerySource
  {
    joined(.fullJoin, Other.tableDefinition) { condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6) }
  }

  /// Inner join with an eighth table: all combinations of rows for which the condition holds.
  public func join<A, B, C, D, E, F, G, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields, F.QueryFields,
      G.QueryFields, Other.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<Join8<A, B, C, D, E, F, G, Other>> where From == Join7<A, B, C, D, E, F, G> {
    joined(.join, Other.tableDefinition) {
      condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6, $0.7)
    }
  }

  /// Left join with an eighth table: rows without a match there get nil for it.
  public func leftJoin<A, B, C, D, E, F, G, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields, F.QueryFields,
      G.QueryFields, OptionalFields<Other>
    ) -> SQLExpression<Bool>
  ) -> Query<Join8<A, B, C, D, E, F, G, Other?>> where From == Join7<A, B, C, D, E, F, G> {
    joined(.leftJoin, Other.tableDefinition) {
      condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6, $0.7)
    }
  }

  /// Right join with an eighth table: its rows without a match get nil for the tables before it.
  public func rightJoin<A, B, C, D, E, F, G, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, C.QueryNullable.QueryFields,
      D.QueryNullable.QueryFields, E.QueryNullable.QueryFields, F.QueryNullable.QueryFields,
      G.QueryNullable.QueryFields, Other.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<
    Join8<
      A.QueryNullable, B.QueryNullable, C.QueryNullable, D.QueryNullable, E.QueryNullable,
      F.QueryNullable, G.QueryNullable, Other
    >
  >
  where
    From == Join7<A, B, C, D, E, F, G>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    C.QueryNullable: QuerySource, D.QueryNullable: QuerySource, E.QueryNullable: QuerySource,
    F.QueryNullable: QuerySource, G.QueryNullable: QuerySource
  {
    joined(.rightJoin, Other.tableDefinition) {
      condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6, $0.7)
    }
  }

  /// Full join with an eighth table: rows of either side without a match get nil for the other side.
  public func fullJoin<A, B, C, D, E, F, G, Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, C.QueryNullable.QueryFields,
      D.QueryNullable.QueryFields, E.QueryNullable.QueryFields, F.QueryNullable.QueryFields,
      G.QueryNullable.QueryFields, OptionalFields<Other>
    ) -> SQLExpression<Bool>
  ) -> Query<
    Join8<
      A.QueryNullable, B.QueryNullable, C.QueryNullable, D.QueryNullable, E.QueryNullable,
      F.QueryNullable, G.QueryNullable, Other?
    >
  >
  where
    From == Join7<A, B, C, D, E, F, G>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    C.QueryNullable: QuerySource, D.QueryNullable: QuerySource, E.QueryNullable: QuerySource,
    F.QueryNullable: QuerySource, G.QueryNullable: QuerySource
  {
    joined(.fullJoin, Other.tableDefinition) {
      condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6, $0.7)
    }
  }
}
