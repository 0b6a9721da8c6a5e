import LarderSQLite

// Joins with common tables, like those with records' tables in Join.swift.

extension Query where From: SingleSource {
  /// Inner join with another common table: all combinations of rows for which the condition holds.
  public func join<Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (From.QueryFields, Other.QueryFields) -> SQLExpression<Bool>
  ) -> Query<Join2<From, Other>> {
    joined(.join, other.definition) { condition($0.0, $0.1) }
  }

  /// Left join with another common table: rows without a match there get nil for it.
  public func leftJoin<Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (From.QueryFields, Other.QueryNullable.QueryFields) ->
      SQLExpression<Bool>
  ) -> Query<Join2<From, Other.QueryNullable>> where Other.QueryNullable: QuerySource {
    joined(.leftJoin, other.definition) { condition($0.0, $0.1) }
  }

  /// Right join with another common table: its rows without a match get nil for the tables before it.
  public func rightJoin<Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (From.QueryNullable.QueryFields, Other.QueryFields) ->
      SQLExpression<Bool>
  ) -> Query<Join2<From.QueryNullable, Other>> where From.QueryNullable: QuerySource {
    joined(.rightJoin, other.definition) { condition($0.0, $0.1) }
  }

  /// Full join with another common table: rows of either side without a match get nil for the other side.
  public func fullJoin<Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (From.QueryNullable.QueryFields, Other.QueryNullable.QueryFields) ->
      SQLExpression<Bool>
  ) -> Query<Join2<From.QueryNullable, Other.QueryNullable>>
  where From.QueryNullable: QuerySource, Other.QueryNullable: QuerySource {
    joined(.fullJoin, other.definition) { condition($0.0, $0.1) }
  }
}

extension Query {
  /// Inner join with a third common table: all combinations of rows for which the condition holds.
  public func join<A, B, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (A.QueryFields, B.QueryFields, Other.QueryFields) -> SQLExpression<
      Bool
    >
  ) -> Query<Join3<A, B, Other>> where From == Join2<A, B> {
    joined(.join, other.definition) { condition($0.0, $0.1, $0.2) }
  }

  /// Left join with a third common table: rows without a match there get nil for it.
  public func leftJoin<A, B, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (A.QueryFields, B.QueryFields, Other.QueryNullable.QueryFields) ->
      SQLExpression<
        Bool
      >
  ) -> Query<Join3<A, B, Other.QueryNullable>>
  where From == Join2<A, B>, Other.QueryNullable: QuerySource {
    joined(.leftJoin, other.definition) { condition($0.0, $0.1, $0.2) }
  }

  /// Right join with a third common table: its rows without a match get nil for the tables before it.
  public func rightJoin<A, B, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, Other.QueryFields
    ) ->
      SQLExpression<Bool>
  ) -> Query<Join3<A.QueryNullable, B.QueryNullable, Other>>
  where From == Join2<A, B>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource {
    joined(.rightJoin, other.definition) { condition($0.0, $0.1, $0.2) }
  }

  /// Full join with a third common table: rows of either side without a match get nil for the other side.
  public func fullJoin<A, B, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, Other.QueryNullable.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<Join3<A.QueryNullable, B.QueryNullable, Other.QueryNullable>>
  where
    From == Join2<A, B>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    Other.QueryNullable: QuerySource
  {
    joined(.fullJoin, other.definition) { condition($0.0, $0.1, $0.2) }
  }

  /// Inner join with a fourth common table: all combinations of rows for which the condition holds.
  public func join<A, B, C, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (A.QueryFields, B.QueryFields, C.QueryFields, Other.QueryFields) ->
      SQLExpression<
        Bool
      >
  ) -> Query<Join4<A, B, C, Other>> where From == Join3<A, B, C> {
    joined(.join, other.definition) { condition($0.0, $0.1, $0.2, $0.3) }
  }

  /// Left join with a fourth common table: rows without a match there get nil for it.
  public func leftJoin<A, B, C, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, Other.QueryNullable.QueryFields
    ) ->
      SQLExpression<Bool>
  ) -> Query<Join4<A, B, C, Other.QueryNullable>>
  where From == Join3<A, B, C>, Other.QueryNullable: QuerySource {
    joined(.leftJoin, other.definition) { condition($0.0, $0.1, $0.2, $0.3) }
  }

  /// Right join with a fourth common table: its rows without a match get nil for the tables before it.
  public func rightJoin<A, B, C, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, C.QueryNullable.QueryFields,
      Other.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<Join4<A.QueryNullable, B.QueryNullable, C.QueryNullable, Other>>
  where
    From == Join3<A, B, C>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    C.QueryNullable: QuerySource
  {
    joined(.rightJoin, other.definition) { condition($0.0, $0.1, $0.2, $0.3) }
  }

  /// Full join with a fourth common table: rows of either side without a match get nil for the other side.
  public func fullJoin<A, B, C, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, C.QueryNullable.QueryFields,
      Other.QueryNullable.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<Join4<A.QueryNullable, B.QueryNullable, C.QueryNullable, Other.QueryNullable>>
  where
    From == Join3<A, B, C>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    C.QueryNullable: QuerySource, Other.QueryNullable: QuerySource
  {
    joined(.fullJoin, other.definition) { condition($0.0, $0.1, $0.2, $0.3) }
  }

  /// Inner join with a fifth common table: all combinations of rows for which the condition holds.
  public func join<A, B, C, D, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, Other.QueryFields
    ) ->
      SQLExpression<Bool>
  ) -> Query<Join5<A, B, C, D, Other>> where From == Join4<A, B, C, D> {
    joined(.join, other.definition) { condition($0.0, $0.1, $0.2, $0.3, $0.4) }
  }

  /// Left join with a fifth common table: rows without a match there get nil for it.
  public func leftJoin<A, B, C, D, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, Other.QueryNullable.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<Join5<A, B, C, D, Other.QueryNullable>>
  where From == Join4<A, B, C, D>, Other.QueryNullable: QuerySource {
    joined(.leftJoin, other.definition) { condition($0.0, $0.1, $0.2, $0.3, $0.4) }
  }

  /// Right join with a fifth common table: its rows without a match get nil for the tables before it.
  public func rightJoin<A, B, C, D, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, C.QueryNullable.QueryFields,
      D.QueryNullable.QueryFields, Other.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<Join5<A.QueryNullable, B.QueryNullable, C.QueryNullable, D.QueryNullable, Other>>
  where
    From == Join4<A, B, C, D>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    C.QueryNullable: QuerySource, D.QueryNullable: QuerySource
  {
    joined(.rightJoin, other.definition) { condition($0.0, $0.1, $0.2, $0.3, $0.4) }
  }

  /// Full join with a fifth common table: rows of either side without a match get nil for the other side.
  public func fullJoin<A, B, C, D, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, C.QueryNullable.QueryFields,
      D.QueryNullable.QueryFields, Other.QueryNullable.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<
    Join5<A.QueryNullable, B.QueryNullable, C.QueryNullable, D.QueryNullable, Other.QueryNullable>
  >
  where
    From == Join4<A, B, C, D>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    C.QueryNullable: QuerySource, D.QueryNullable: QuerySource, Other.QueryNullable: QuerySource
  {
    joined(.fullJoin, other.definition) { condition($0.0, $0.1, $0.2, $0.3, $0.4) }
  }

  /// Inner join with a sixth common table: all combinations of rows for which the condition holds.
  public func join<A, B, C, D, E, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields, Other.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<Join6<A, B, C, D, E, Other>> where From == Join5<A, B, C, D, E> {
    joined(.join, other.definition) { condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5) }
  }

  /// Left join with a sixth common table: rows without a match there get nil for it.
  public func leftJoin<A, B, C, D, E, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields,
      Other.QueryNullable.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<Join6<A, B, C, D, E, Other.QueryNullable>>
  where From == Join5<A, B, C, D, E>, Other.QueryNullable: QuerySource {
    joined(.leftJoin, other.definition) { condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5) }
  }

  /// Right join with a sixth common table: its rows without a match get nil for the tables before it.
  public func rightJoin<A, B, C, D, E, Other: QueryTable>(
    common other: Other,
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
    joined(.rightJoin, other.definition) { condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5) }
  }

  /// Full join with a sixth common table: rows of either side without a match get nil for the other side.
  public func fullJoin<A, B, C, D, E, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, C.QueryNullable.QueryFields,
      D.QueryNullable.QueryFields, E.QueryNullable.QueryFields, Other.QueryNullable.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<
    Join6<
      A.QueryNullable, B.QueryNullable, C.QueryNullable, D.QueryNullable, E.QueryNullable,
      Other.QueryNullable
    >
  >
  where
    From == Join5<A, B, C, D, E>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    C.QueryNullable: QuerySource, D.QueryNullable: QuerySource, E.QueryNullable: QuerySource,
    Other.QueryNullable: QuerySource
  {
    joined(.fullJoin, other.definition) { condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5) }
  }

  /// Inner join with a seventh common table: all combinations of rows for which the condition holds.
  public func join<A, B, C, D, E, F, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields, F.QueryFields,
      Other.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<Join7<A, B, C, D, E, F, Other>> where From == Join6<A, B, C, D, E, F> {
    joined(.join, other.definition) { condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6) }
  }

  /// Left join with a seventh common table: rows without a match there get nil for it.
  public func leftJoin<A, B, C, D, E, F, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields, F.QueryFields,
      Other.QueryNullable.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<Join7<A, B, C, D, E, F, Other.QueryNullable>>
  where From == Join6<A, B, C, D, E, F>, Other.QueryNullable: QuerySource {
    joined(.leftJoin, other.definition) { condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6) }
  }

  /// Right join with a seventh common table: its rows without a match get nil for the tables before it.
  public func rightJoin<A, B, C, D, E, F, Other: QueryTable>(
    common other: Other,
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
    joined(.rightJoin, other.definition) { condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6) }
  }

  /// Full join with a seventh common table: rows of either side without a match get nil for the other side.
  public func fullJoin<A, B, C, D, E, F, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, C.QueryNullable.QueryFields,
      D.QueryNullable.QueryFields, E.QueryNullable.QueryFields, F.QueryNullable.QueryFields,
      Other.QueryNullable.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<
    Join7<
      A.QueryNullable, B.QueryNullable, C.QueryNullable, D.QueryNullable, E.QueryNullable,
      F.QueryNullable, Other.QueryNullable
    >
  >
  where
    From == Join6<A, B, C, D, E, F>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    C.QueryNullable: QuerySource, D.QueryNullable: QuerySource, E.QueryNullable: QuerySource,
    F.QueryNullable: QuerySource, Other.QueryNullable: QuerySource
  {
    joined(.fullJoin, other.definition) { condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6) }
  }

  /// Inner join with an eighth common table: all combinations of rows for which the condition holds.
  public func join<A, B, C, D, E, F, G, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields, F.QueryFields,
      G.QueryFields, Other.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<Join8<A, B, C, D, E, F, G, Other>> where From == Join7<A, B, C, D, E, F, G> {
    joined(.join, other.definition) { condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6, $0.7) }
  }

  /// Left join with an eighth common table: rows without a match there get nil for it.
  public func leftJoin<A, B, C, D, E, F, G, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields, F.QueryFields,
      G.QueryFields, Other.QueryNullable.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<Join8<A, B, C, D, E, F, G, Other.QueryNullable>>
  where From == Join7<A, B, C, D, E, F, G>, Other.QueryNullable: QuerySource {
    joined(.leftJoin, other.definition) {
      condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6, $0.7)
    }
  }

  /// Right join with an eighth common table: its rows without a match get nil for the tables before it.
  public func rightJoin<A, B, C, D, E, F, G, Other: QueryTable>(
    common other: Other,
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
    joined(.rightJoin, other.definition) {
      condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6, $0.7)
    }
  }

  /// Full join with an eighth common table: rows of either side without a match get nil for the other side.
  public func fullJoin<A, B, C, D, E, F, G, Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (
      A.QueryNullable.QueryFields, B.QueryNullable.QueryFields, C.QueryNullable.QueryFields,
      D.QueryNullable.QueryFields, E.QueryNullable.QueryFields, F.QueryNullable.QueryFields,
      G.QueryNullable.QueryFields, Other.QueryNullable.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Query<
    Join8<
      A.QueryNullable, B.QueryNullable, C.QueryNullable, D.QueryNullable, E.QueryNullable,
      F.QueryNullable, G.QueryNullable, Other.QueryNullable
    >
  >
  where
    From == Join7<A, B, C, D, E, F, G>, A.QueryNullable: QuerySource, B.QueryNullable: QuerySource,
    C.QueryNullable: QuerySource, D.QueryNullable: QuerySource, E.QueryNullable: QuerySource,
    F.QueryNullable: QuerySource, G.QueryNullable: QuerySource, Other.QueryNullable: QuerySource
  {
    joined(.fullJoin, other.definition) {
      condition($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6, $0.7)
    }
  }
}
