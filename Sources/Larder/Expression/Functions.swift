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
  var pieces: [SQL] = []
  repeat pieces.append((each arguments).inside(.lowest))
  return SQLExpression<Result>(
    SQL("\(name.quotedIdentifier)(", SQL(pieces, separator: ", "), ")"))
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
    coalesced(bound(value), isNullable: false)
  }

  /// The value, or that of another expression where it is NULL.
  @_disfavoredOverload
  public func coalesce<Wrapped>(
    _ other: SQLExpression<Wrapped>
  ) -> SQLExpression<Wrapped> where Value == Wrapped? {
    coalesced(operand(other, .lowest), isNullable: other.isNullable)
  }

  private func coalesced<Wrapped>(
    _ other: SQL, isNullable: Bool
  ) -> SQLExpression<Wrapped> where Value == Wrapped? {
    SQLExpression<Wrapped>(
      SQL("coalesce(", SQL(sql, ", ", other), ")"), isNullable: isNullable,
      coding: coding)
  }

  /// The value as SQLite converts it to the storage class of a type: `CAST(… AS INTEGER)`.
  ///
  /// NULL stays NULL, so that what may be NULL is cast to an Optional type. For a type that stores
  /// values of any class, nothing is converted.
  /// See [CAST](https://www.sqlite.org/lang_expr.html#castexpr).
  public func cast<Other: DatabaseValueConvertible>(to type: Other.Type) -> SQLExpression<Other> {
    let name: String
    switch Other.columnType.kind {
    case .integer: name = "INTEGER"
    case .real: name = "REAL"
    case .text: name = "TEXT"
    case .blob: name = "BLOB"
    case .any, .date: return SQLExpression<Other>(sql, precedence, isNullable: isNullable)
    }
    return SQLExpression<Other>(SQL("CAST(", sql, " AS \(name))"), isNullable: isNullable)
  }
}

// MARK: Numbers

extension SQLExpression where Value: SignedNumeric & DatabaseValueConvertible {
  /// The number with the other sign.
  public static prefix func - (operand: Self) -> Self {
    Self(SQL("-", operand.inside(.sign), ""), .sign, isNullable: operand.isNullable)
  }

  /// The number without its sign. An error for the smallest integer.
  public var magnitude: Self { Self(SQL("abs(", sql, ")"), isNullable: isNullable) }
}

extension SQLExpression where Value: BinaryFloatingPoint & DatabaseValueConvertible {
  /// The number, rounded to so many digits behind the point; halves go away from zero.
  public func rounded(_ digits: Int = 0) -> Self {
    Self(SQL("round(", SQL(sql, ", ", SQL(bound: digits)), ")"), isNullable: isNullable)
  }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  /// The smaller one of this value and another, in each row: `min(a, b)`. NULL if one is NULL.
  ///
  /// Not to be mistaken for `min`, which is the smallest one of all rows.
  public func least(_ value: Value) -> Self { scalar("min", bound(value), isNullable) }
  /// The smaller one of this value and another, in each row.
  @_disfavoredOverload
  public func least(_ other: Self) -> Self {
    scalar("min", operand(other, .lowest), isNullable || other.isNullable)
  }

  /// The greater one of this value and another, in each row: `max(a, b)`. NULL if one is NULL.
  ///
  /// Not to be mistaken for `max`, which is the greatest one of all rows.
  public func greatest(_ value: Value) -> Self { scalar("max", bound(value), isNullable) }
  /// The greater one of this value and another, in each row.
  @_disfavoredOverload
  public func greatest(_ other: Self) -> Self {
    scalar("max", operand(other, .lowest), isNullable || other.isNullable)
  }

  private func scalar(_ name: String, _ other: SQL, _ isNullable: Bool) -> Self {
    Self(SQL("\(name)(", SQL(sql, ", ", other), ")"), isNullable: isNullable, coding: coding)
  }
}

extension SQLExpression where Value: FixedWidthInteger & DatabaseValueConvertible {
  /// The rest of a division; NULL for a division by zero.
  public static func % (left: Self, right: Value) -> Self {
    left.infix(" % ", left.bound(right), .product)
  }

  /// The rest of a division; NULL for a division by zero.
  public static func % (left: Self, right: Self) -> Self {
    left.infix(" % ", right.inside(.product), .product)
  }

  /// The bits that are set in both.
  public static func & (left: Self, right: Value) -> Self {
    left.infix(" & ", left.bound(right), .bits)
  }

  /// The bits that are set in both.
  public static func & (left: Self, right: Self) -> Self {
    left.infix(" & ", right.inside(.bits), .bits)
  }

  /// The bits that are set in one of them.
  public static func | (left: Self, right: Value) -> Self {
    left.infix(" | ", left.bound(right), .bits)
  }

  /// The bits that are set in one of them.
  public static func | (left: Self, right: Self) -> Self {
    left.infix(" | ", right.inside(.bits), .bits)
  }

  /// The bits of SQLite's 64, moved to the left; by a negative number, to the right.
  public static func << (left: Self, right: Int) -> Self {
    left.infix(" << ", SQL(bound: right), .bits)
  }

  /// The bits of SQLite's 64, moved to the right, the sign being kept.
  public static func >> (left: Self, right: Int) -> Self {
    left.infix(" >> ", SQL(bound: right), .bits)
  }

  /// All of SQLite's 64 bits turned over.
  public static prefix func ~ (operand: Self) -> Self {
    Self(SQL("~", operand.inside(.sign), ""), .sign, isNullable: operand.isNullable)
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
    let first = SQL(bound: start < 0 || start == .max ? start : start + 1)
    let part = SQL(sql, ", ", first)
    let pieces = count.map { SQL(part, ", ", SQL(bound: $0 < 0 ? 0 : $0)) } ?? part
    return Self(SQL("substr(", pieces, ")"), isNullable: isNullable)
  }

  /// The text with another one instead of each occurrence of a part.
  public func replacing(_ part: String, with replacement: String) -> Self {
    let pieces = SQL([sql, SQL(bound: part), SQL(bound: replacement)], separator: ", ")
    return Self(SQL("replace(", pieces, ")"), isNullable: isNullable)
  }

  /// The text without the spaces at both ends.
  public var trimmed: Self { Self(SQL("trim(", sql, ")"), isNullable: isNullable) }

  /// Where a part of the text begins, in Unicode scalars from 0; NULL where it isn't in it.
  public func position(of part: String) -> SQLExpression<Int?> {
    SQLExpression<Int?>(
      SQL("nullif(instr(", SQL(sql, ", ", SQL(bound: part)), "), 0) - 1"), .sum)
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
    SQLExpression<Result?>(SQL("json_extract(", SQL(sql, ", ", SQL(bound: path)), ")"))
  }

  /// The number of elements of a JSON array, by default of the whole value; 0 for what isn't an
  /// array, NULL where there is nothing.
  public func jsonCount(at path: String = "$") -> SQLExpression<Int?> {
    SQLExpression<Int?>(SQL("json_array_length(", SQL(sql, ", ", SQL(bound: path)), ")"))
  }
}
