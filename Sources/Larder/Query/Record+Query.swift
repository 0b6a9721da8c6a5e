import LarderSQLite

// Query steps on the record's type itself: `City.order` in place of `City.all.order`.

extension Record {
  /// See `Query.select`.
  @inlinable @_disfavoredOverload
  public static func select<each Value>(
    _ expressions: (RecordFields<Self>) -> (repeat SQLExpression<each Value>)
  ) -> Selection<(repeat each Value)> {
    all.select(expressions)
  }

  /// See `Query.select`.
  public static func select<each Value, Row>(
    _ make: @escaping @Sendable (repeat each Value) -> Row,
    @SQLSelection _ expressions: (RecordFields<Self>) -> (repeat SQLExpression<each Value>)
  ) -> Mapped<Selection<Row>> {
    all.select(make, expressions)
  }

  /// See `Query.select`.
  @inlinable
  public static func select<Value>(
    _ expression: (RecordFields<Self>) -> SQLExpression<Value>
  ) -> Selection<Value> {
    all.select(expression)
  }

  /// See `Query.select`.
  public static func select<Part: Record>(_ part: Part.Type) -> Selection<Part> {
    all.select(part)
  }

  /// See `Query.group`.
  public static func group<Terms: GroupTerms>(
    @SQLGroup _ terms: (RecordFields<Self>) -> Terms
  ) -> Query<Self> {
    all.group(terms)
  }

  /// See `Query.join`.
  public static func join<Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (RecordFields<Self>, RecordFields<Other>) -> SQLExpression<Bool>
  ) -> Query<Join2<Self, Other>> {
    all.join(other, on: condition)
  }

  /// See `Query.leftJoin`.
  public static func leftJoin<Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (RecordFields<Self>, OptionalFields<Other>) -> SQLExpression<
      Bool
    >
  ) -> Query<Join2<Self, Other?>> {
    all.leftJoin(other, on: condition)
  }

  /// See `Query.rightJoin`.
  public static func rightJoin<Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (OptionalFields<Self>, RecordFields<Other>) -> SQLExpression<
      Bool
    >
  ) -> Query<Join2<Self?, Other>> {
    all.rightJoin(other, on: condition)
  }

  /// See `Query.fullJoin`.
  public static func fullJoin<Other: Record>(
    _ other: Other.Type,
    @SQLCondition on condition: (OptionalFields<Self>, OptionalFields<Other>) -> SQLExpression<
      Bool
    >
  ) -> Query<Join2<Self?, Other?>> {
    all.fullJoin(other, on: condition)
  }
}
