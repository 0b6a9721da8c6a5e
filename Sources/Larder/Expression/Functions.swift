import LarderSQLite

// SQL functions of one or more values, as members of expressions, and calls of the program's own.

/// A call of a function that the program registered with `Database.createFunction`.
///
/// ```swift
/// City.all.order { function("distance", $0.latitude, $0.longitude, as: Double.self) }
/// // … ORDER BY "distance"("city"."latitude", "city"."longitude")
/// ```
///
/// Values stand there as `.value(5)`. The name is quoted; a connection that has no such function
/// throws ``LarderSQLite/DatabaseError``. A function that may return NULL needs an Optional type.
public func function<each Argument: Sendable, Result: DatabaseValueConvertible>(
  _ name: String, _ arguments: repeat SQLExpression<each Argument>, as type: Result.Type
) -> SQLExpression<Result> {
  var parts: [SQLFragment] = []
  repeat parts.append((each arguments).node.inside(.lowest))
  let list: SQLFragment? = parts.isEmpty ? nil : .list(parts)
  var call: SQLFragment = "\(name: name)(\(list))"
  if type.columnType.kind == .text { call = SQLFragment(.form(.ownText, [call], call)) }
  return SQLExpression<Result>(call.owned(as: .own(of: type)))
}

extension SQLExpression {
  /// The value, or another where it is NULL.
  ///
  /// ```swift
  /// Place.all.select { $0.elevation.coalesce(0) }      // coalesce("place"."elevation", ?)
  /// ```
  public func coalesce<Wrapped: DatabaseValueConvertible>(
    _ value: Wrapped
  ) -> SQLExpression<Wrapped> where Value == Wrapped? {
    call("coalesce", node.bound(value), isNullable: false, coding: node.coding)
  }

  /// The value, or that of another expression where it is NULL.
  @_disfavoredOverload
  public func coalesce<Wrapped>(
    _ other: SQLExpression<Wrapped>
  ) -> SQLExpression<Wrapped> where Value == Wrapped? {
    call(
      "coalesce", node.operand(other.node, .lowest), isNullable: other.node.isNullable,
      coding: node.coding)
  }

  /// The value, or that of another expression where it is NULL; NULL where both are.
  @_disfavoredOverload
  public func coalesce<Wrapped>(_ other: Self) -> Self where Value == Wrapped? {
    call("coalesce", node.operand(other.node, .lowest), coding: node.coding)
  }

  /// The value as SQLite converts it to the storage class of a type: `CAST(… AS INTEGER)`.
  ///
  /// NULL stays NULL, so that what may be NULL is cast to an Optional type. For a type that stores
  /// values of any class, and for the Optional of the expression's own type, nothing is converted.
  /// See [CAST](https://www.sqlite.org/lang_expr.html#castexpr).
  public func cast<Other: DatabaseValueConvertible>(to type: Other.Type) -> SQLExpression<Other> {
    if type == Value?.self {
      return SQLExpression<Other>(
        SQLFragment(
          .sequence([.part(node)]), node.precedence, isNullable: true, coding: node.coding))
    }
    return switch Other.columnType.kind {
    case .decimal:
      SQLExpression<Other>(
        node.decimal(as: .own(of: type), from: node.storedKind(of: Value.self)))
    case .date:
      // A date stays in the format in which its column stores it.
      SQLExpression<Other>(
        SQLFragment(
          .sequence([.part(node)]), node.precedence, isNullable: node.isNullable,
          coding: node.coding))
    case .any:
      SQLExpression<Other>(
        SQLFragment(.sequence([.part(node)]), node.precedence, isNullable: node.isNullable))
    default:
      SQLExpression<Other>(
        SQLFragment(
          .cast(node, Other.columnType, from: node.storedKind(of: Value.self)),
          isNullable: node.isNullable
        )
        .owned(as: .own(of: type)))
    }
  }
}

// MARK: Numbers

extension SQLExpression where Value: NumberValue {
  /// The number as a Double, for expressions with others of that type: `$0.price * $0.quantity.real`.
  ///
  /// It is `CAST(… AS REAL)`, which is the nearest one to an integer beyond 53 bits.
  public var real: SQLExpression<Value.AsReal> { converted(to: .real) }

  /// The number as an Int, without what stands behind the point: `$0.share.integer + $0.count`.
  ///
  /// It is `CAST(… AS INTEGER)`: what is beyond 64 bits becomes the smallest or greatest Int.
  public var integer: SQLExpression<Value.AsInteger> { converted(to: .integer) }

  private func converted<Other>(to type: ColumnType) -> SQLExpression<Other> {
    SQLExpression<Other>(
      SQLFragment(
        .cast(node.computed, type, from: Value.columnType.kind), isNullable: node.isNullable))
  }

  /// The number without its sign; NULL stays NULL. An error for the smallest integer.
  public var magnitude: Self { Self(node.magnitude) }
}

extension SQLExpression where Value: RealValue {
  /// The number, rounded to so many digits behind the point; halves go away from zero, and NULL stays NULL.
  public func rounded(_ digits: Int = 0) -> Self {
    Self(
      SQLFragment.call(
        "round", node.computed, SQLFragment(value: digits), isNullable: node.isNullable
      ).owned(as: node.coding))
  }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  /// The smaller one of this value and another, in each row: `min(a, b)`. NULL if one is NULL.
  ///
  /// Not to be mistaken for `min`, which is the smallest one of all rows.
  public func least(_ value: Value) -> Self { scalar("min", node.bound(value), node.isNullable) }
  /// The smaller one of this value and another, in each row.
  @_disfavoredOverload
  public func least(_ other: Self) -> Self {
    scalar("min", other.node, node.isNullable || other.node.isNullable)
  }

  /// The greater one of this value and another, in each row: `max(a, b)`. NULL if one is NULL.
  ///
  /// Not to be mistaken for `max`, which is the greatest one of all rows.
  public func greatest(_ value: Value) -> Self { scalar("max", node.bound(value), node.isNullable) }
  /// The greater one of this value and another, in each row.
  @_disfavoredOverload
  public func greatest(_ other: Self) -> Self {
    scalar("max", other.node, node.isNullable || other.node.isNullable)
  }

  private func scalar(
    _ name: StaticString, _ other: SQLFragment, _ isNullable: Bool
  ) -> Self {
    Self(node.extreme(name, other, isNullable: isNullable))
  }
}
