import LarderSQLite

// SQL functions of one or more values as members of expressions, and calls of the program's own functions.

/// A call of a function that the program registered with `Database.createFunction`.
///
/// ```swift
/// City.all.order { function("distance", $0.latitude, $0.longitude, as: Double.self) }
/// // … ORDER BY "distance"("city"."latitude", "city"."longitude")
/// ```
///
/// A value is passed as `.value(5)`. The name is quoted; a connection without such a function throws
/// ``LarderSQLite/DatabaseError``. A function that may return NULL needs an Optional type.
public func function<each Argument: Sendable, Result: DatabaseValueConvertible>(
  _ name: String, _ arguments: repeat SQLExpression<each Argument>, as type: Result.Type
) -> SQLExpression<Result> {
  var parts: [SQLFragment] = []
  repeat parts.append((each arguments).node.parenthesized(in: .lowest))
  let list: SQLFragment? = parts.isEmpty ? nil : .list(parts)
  var call: SQLFragment = "\(name: name)(\(list))"
  if type.columnType.kind == .text { call = SQLFragment(.form(.ownText, [call], call)) }
  return SQLExpression<Result>(call.owned(as: .own(of: type)))
}

extension SQLExpression {
  /// The value, or a default if it is NULL.
  ///
  /// ```swift
  /// Place.all.select { $0.elevation.coalesce(0) }      // coalesce("place"."elevation", ?)
  /// ```
  public func coalesce<Wrapped: DatabaseValueConvertible>(
    _ value: Wrapped
  ) -> SQLExpression<Wrapped> where Value == Wrapped? {
    call("coalesce", node.bound(value), isNullable: false, coding: node.coding)
  }

  /// The value, or that of another expression if it is NULL.
  @_disfavoredOverload
  public func coalesce<Wrapped>(
    _ other: SQLExpression<Wrapped>
  ) -> SQLExpression<Wrapped> where Value == Wrapped? {
    call(
      "coalesce", node.operand(other.node, .lowest), isNullable: other.node.isNullable,
      coding: node.coding)
  }

  /// The value, or that of another expression if it is NULL; NULL if both are.
  @_disfavoredOverload
  public func coalesce<Wrapped>(_ other: Self) -> Self where Value == Wrapped? {
    call("coalesce", node.operand(other.node, .lowest), coding: node.coding)
  }

  /// The value, converted by SQLite to the storage class of a type: `CAST(… AS INTEGER)`.
  ///
  /// NULL stays NULL, so an expression that may be NULL is cast to an Optional type. Nothing is converted for
  /// a type that stores values of any class, nor for the Optional of the expression's own type. See
  /// [CAST](https://www.sqlite.org/lang_expr.html#castexpr).
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
      // A date keeps the format in which its column stores it.
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
  /// The number as a Double, to compute with other Doubles: `$0.price * $0.quantity.real`.
  ///
  /// It is `CAST(… AS REAL)`: an integer beyond 53 bits becomes the nearest Double.
  public var real: SQLExpression<Value.AsReal> { converted(to: .real) }

  /// The number as an Int, without its fraction: `$0.share.integer + $0.count`.
  ///
  /// It is `CAST(… AS INTEGER)`: a number beyond 64 bits becomes the smallest or greatest Int.
  public var integer: SQLExpression<Value.AsInteger> { converted(to: .integer) }

  private func converted<Other>(to type: ColumnType) -> SQLExpression<Other> {
    SQLExpression<Other>(
      SQLFragment(
        .cast(node.computed, type, from: Value.columnType.kind), isNullable: node.isNullable))
  }

  /// The absolute value; NULL stays NULL. The smallest integer is an error.
  public var magnitude: Self { Self(node.magnitude) }
}

extension SQLExpression where Value: RealValue {
  /// The number, rounded to `digits` decimal places. Halves are rounded away from zero; NULL stays NULL.
  public func rounded(_ digits: Int = 0) -> Self {
    Self(
      SQLFragment.call(
        "round", node.computed, SQLFragment(value: digits), isNullable: node.isNullable
      ).owned(as: node.coding))
  }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  /// The smaller of this value and another, in each row: `min(a, b)`. NULL if either is NULL.
  ///
  /// Don't confuse it with the aggregate `min`, the smallest value of all rows.
  public func least(_ value: Value) -> Self { scalar("min", node.bound(value), node.isNullable) }
  /// The smaller of this value and another, in each row.
  @_disfavoredOverload
  public func least(_ other: Self) -> Self {
    scalar("min", other.node, node.isNullable || other.node.isNullable)
  }

  /// The greater of this value and another, in each row: `max(a, b)`. NULL if either is NULL.
  ///
  /// Don't confuse it with the aggregate `max`, the greatest value of all rows.
  public func greatest(_ value: Value) -> Self { scalar("max", node.bound(value), node.isNullable) }
  /// The greater of this value and another, in each row.
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
