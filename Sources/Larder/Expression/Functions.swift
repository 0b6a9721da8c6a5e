import LarderSQLite

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
  return SQLExpression<Result>("\(name: name)(\(list))")
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

  /// The value as SQLite converts it to the storage class of a type: `CAST(… AS INTEGER)`.
  ///
  /// NULL stays NULL, so that what may be NULL is cast to an Optional type. For a type that stores
  /// values of any class, nothing is converted.
  /// See [CAST](https://www.sqlite.org/lang_expr.html#castexpr).
  public func cast<Other: DatabaseValueConvertible>(to type: Other.Type) -> SQLExpression<Other> {
    switch Other.columnType.kind {
    case .any, .date:
      SQLExpression<Other>(
        SQLFragment(.sequence([.part(node)]), node.precedence, isNullable: node.isNullable))
    default:
      SQLExpression<Other>(
        SQLFragment(.cast(node, Other.columnType), isNullable: node.isNullable))
    }
  }
}

// MARK: Numbers

extension SQLExpression where Value: SignedNumeric & DatabaseValueConvertible {
  /// The number with the other sign.
  public static prefix func - (operand: Self) -> Self {
    Self(SQLFragment(.negate, operand.node.inside(.sign), isNullable: operand.node.isNullable))
  }

  /// The number without its sign. An error for the smallest integer.
  public var magnitude: Self { call("abs", isNullable: node.isNullable) }
}

extension SQLExpression where Value: BinaryFloatingPoint & DatabaseValueConvertible {
  /// The number, rounded to so many digits behind the point; halves go away from zero.
  public func rounded(_ digits: Int = 0) -> Self {
    call("round", SQLFragment(value: digits), isNullable: node.isNullable)
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
    scalar("min", node.operand(other.node, .lowest), node.isNullable || other.node.isNullable)
  }

  /// The greater one of this value and another, in each row: `max(a, b)`. NULL if one is NULL.
  ///
  /// Not to be mistaken for `max`, which is the greatest one of all rows.
  public func greatest(_ value: Value) -> Self { scalar("max", node.bound(value), node.isNullable) }
  /// The greater one of this value and another, in each row.
  @_disfavoredOverload
  public func greatest(_ other: Self) -> Self {
    scalar("max", node.operand(other.node, .lowest), node.isNullable || other.node.isNullable)
  }

  private func scalar(
    _ name: StaticString, _ other: SQLFragment, _ isNullable: Bool
  ) -> Self {
    call(name, other, isNullable: isNullable, coding: node.coding)
  }
}

extension SQLExpression where Value: FixedWidthInteger & DatabaseValueConvertible {
  /// The remainder of a division; NULL for a division by zero.
  public static func % (left: Self, right: Value) -> Self {
    Self(left.node.infix(.remainder, operand: left.node.bound(right)))
  }

  /// The remainder of a division; NULL for a division by zero.
  public static func % (left: Self, right: Self) -> Self {
    Self(left.node.infix(.remainder, operand: right.node.inside(.product)))
  }

  /// Bitwise AND: the bits that are set in both.
  public static func & (left: Self, right: Value) -> Self {
    Self(left.node.infix(.bitwiseAnd, operand: left.node.bound(right)))
  }

  /// Bitwise AND: the bits that are set in both.
  public static func & (left: Self, right: Self) -> Self {
    Self(left.node.infix(.bitwiseAnd, operand: right.node.inside(.bits)))
  }

  /// Bitwise OR: the bits that are set in one of them.
  public static func | (left: Self, right: Value) -> Self {
    Self(left.node.infix(.bitwiseOr, operand: left.node.bound(right)))
  }

  /// Bitwise OR: the bits that are set in one of them.
  public static func | (left: Self, right: Self) -> Self {
    Self(left.node.infix(.bitwiseOr, operand: right.node.inside(.bits)))
  }

  /// The bits of SQLite's 64, moved to the left; by a negative number, to the right.
  public static func << (left: Self, right: Int) -> Self {
    Self(left.node.infix(.shiftLeft, operand: SQLFragment(value: right)))
  }

  /// The bits of SQLite's 64, moved to the right, the sign being kept.
  public static func >> (left: Self, right: Int) -> Self {
    Self(left.node.infix(.shiftRight, operand: SQLFragment(value: right)))
  }

  /// Bitwise NOT of SQLite's 64 bits.
  public static prefix func ~ (operand: Self) -> Self {
    Self(SQLFragment(.bitwiseNot, operand.node.inside(.sign), isNullable: operand.node.isNullable))
  }
}

// MARK: Text

extension SQLExpression where Value: TextValue {
  /// A part of the text, in Unicode scalars. SQLite takes a NUL for the end of the text.
  ///
  /// - Parameters:
  ///   - start: where it begins: 0 is the first scalar, -1 the last one.
  ///   - count: its length; nil for all that follows.
  public func substring(from start: Int, count: Int? = nil) -> Self {
    // SQLite counts from one.
    let first = SQLFragment(value: start < 0 || start == .max ? start : start + 1)
    guard let count else { return call("substr", first, isNullable: node.isNullable) }
    return call(
      "substr", first, SQLFragment(value: count < 0 ? 0 : count), isNullable: node.isNullable)
  }

  /// The text with another one instead of each occurrence of a part.
  public func replacing(_ part: String, with replacement: String) -> Self {
    call(
      "replace", SQLFragment(value: part), SQLFragment(value: replacement),
      isNullable: node.isNullable)
  }

  /// The text without the spaces at both ends.
  public var trimmed: Self { call("trim", isNullable: node.isNullable) }

  /// Where a part of the text begins, in Unicode scalars from 0; NULL where it isn't in it.
  public func position(of part: String) -> SQLExpression<Int?> {
    let part = SQLFragment(value: part)
    let place: SQLFragment = "nullif(\(.call("instr", node, part)), 0) - 1"
    return SQLExpression<Int?>(SQLFragment(.form("position", [node, part], place), .sum))
  }
}

// MARK: JSON

extension SQLExpression {
  /// A value inside of JSON; NULL where there is none.
  ///
  /// ```swift
  /// City.filter { $0.details.jsonValue(at: "$.mayor.name", as: String.self) == "Ola" }
  /// // … WHERE json_extract("city"."details", ?) IS ?
  /// ```
  ///
  /// A path or text that is malformed throws ``LarderSQLite/DatabaseError`` when the statement
  /// runs. See [json_extract](https://www.sqlite.org/json1.html#jex).
  public func jsonValue<Result: DatabaseValueConvertible>(
    at path: String, as type: Result.Type = Result.self
  ) -> SQLExpression<Result?> {
    call("json_extract", SQLFragment(value: path))
  }

  /// The number of elements of a JSON array, by default of the whole value; 0 for what isn't an
  /// array, NULL where there is nothing.
  public func jsonCount(at path: String = "$") -> SQLExpression<Int?> {
    call("json_array_length", SQLFragment(value: path))
  }
}
