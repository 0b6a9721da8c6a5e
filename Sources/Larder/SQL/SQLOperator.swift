import LarderSQLite

/// How tightly an operator binds; see [Operators](https://www.sqlite.org/lang_expr.html).
@usableFromInline
package enum Precedence: UInt8, Comparable, Sendable {
  case lowest, or, and, not, equality, comparison, bits, sum, product, concatenation, collate, sign
  case atom

  @usableFromInline
  package static func < (left: Precedence, right: Precedence) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// An operator of SQL: between two operands, before one, or after one.
@usableFromInline
package enum SQLOperator: UInt8, Sendable {
  // Operators between two operands.
  case or, and
  case equal, notEqual
  /// Null-safe equality and its opposite: NULL equals NULL.
  case same, notSame
  case less, lessOrEqual, greater, greaterOrEqual
  case between, `in`, like, glob, escape
  case bitwiseAnd, bitwiseOr, shiftLeft, shiftRight
  case add, subtract, multiply, divide, remainder, concatenate
  case collate
  /// The joins of FROM, `JOIN …` and `ON …`.
  case join, leftJoin, rightJoin, fullJoin, on
  /// A join whose left side is always the outer loop; other joins leave that to the engine.
  case crossJoin
  /// An assignment to a column, as in SET.
  case assign
  // Operators before one operand.
  case not, negate, bitwiseNot, distinct
  // An operator around one operand.
  case parentheses
  // Operators after one operand.
  case isNull, isNotNull
  case ascending, descending, nullsFirst, nullsLast
  /// A term of GROUP BY.
  case grouping
  /// A condition, in which NULL counts as false.
  case condition
  /// Facts about a name: a column that is never NULL in the database, whatever
  /// its property's type; a column of real numbers.
  case key, real

  /// The fact about a column: a key, one of real numbers, or `or` for neither.
  static func column(isKey: Bool, _ kind: ColumnType.Kind) -> SQLOperator {
    isKey ? .key : kind == .real ? .real : .or
  }

  /// The text between two operands, or before the only one, in SQLite's SQL.
  var text: StaticString {
    switch self {
    case .or: " OR "
    case .and: " AND "
    case .equal, .assign: " = "
    case .notEqual: " <> "
    // IS uses the same indexes as `=`.
    case .same: " IS "
    case .notSame: " IS NOT "
    case .less: " < "
    case .lessOrEqual: " <= "
    case .greater: " > "
    case .greaterOrEqual: " >= "
    case .between: " BETWEEN "
    case .in: " IN "
    case .like: " LIKE "
    case .glob: " GLOB "
    case .escape: " ESCAPE "
    case .bitwiseAnd: " & "
    case .bitwiseOr: " | "
    case .shiftLeft: " << "
    case .shiftRight: " >> "
    case .add: " + "
    case .subtract: " - "
    case .multiply: " * "
    case .divide: " / "
    case .remainder: " % "
    case .concatenate: " || "
    case .collate: " COLLATE "
    case .join: " JOIN "
    case .leftJoin: " LEFT JOIN "
    case .rightJoin: " RIGHT JOIN "
    case .fullJoin: " FULL JOIN "
    case .crossJoin: " CROSS JOIN "
    case .on: " ON "
    case .not: "NOT "
    case .negate: "-"
    case .bitwiseNot: "~"
    case .distinct: "DISTINCT "
    case .parentheses: "("
    case .isNull, .isNotNull, .ascending, .descending, .nullsFirst, .nullsLast, .grouping,
      .condition,
      .key, .real:
      ""
    }
  }

  /// The text after the only operand.
  var suffix: StaticString {
    switch self {
    case .parentheses: ")"
    case .isNull: " IS NULL"
    case .isNotNull: " IS NOT NULL"
    case .descending: " DESC"
    case .nullsFirst: " NULLS FIRST"
    case .nullsLast: " NULLS LAST"
    default: ""
    }
  }

  /// Whether the operator computes a new value.
  var isArithmetic: Bool { precedence >= .bits && precedence <= .concatenation }

  /// How tightly it binds.
  @usableFromInline var precedence: Precedence {
    switch self {
    case .or: .or
    case .and: .and
    case .not: .not
    case .equal, .notEqual, .same, .notSame, .between, .in, .like, .glob, .escape, .isNull,
      .isNotNull:
      .equality
    case .less, .lessOrEqual, .greater, .greaterOrEqual: .comparison
    case .bitwiseAnd, .bitwiseOr, .shiftLeft, .shiftRight: .bits
    case .add, .subtract: .sum
    case .multiply, .divide, .remainder: .product
    case .concatenate: .concatenation
    case .collate: .collate
    case .negate, .bitwiseNot: .sign
    case .parentheses: .atom
    case .join, .leftJoin, .rightJoin, .fullJoin, .crossJoin, .on, .assign, .distinct,
      .ascending, .descending, .nullsFirst, .nullsLast, .grouping, .condition, .key, .real:
      .lowest
    }
  }
}
