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
  // Between two.
  case or, and
  case equal, notEqual
  /// Null-safe equality and its opposite: NULL equals NULL.
  case same, notSame
  case less, lessOrEqual, greater, greaterOrEqual
  case between, `in`, like, glob, escape
  case bitwiseAnd, bitwiseOr, shiftLeft, shiftRight
  case add, subtract, multiply, divide, remainder, concatenate
  case collate
  /// JOIN … and ON … behind FROM.
  case join, leftJoin, rightJoin, fullJoin, on
  /// A join whose left side is gone through first, where the engine could choose.
  case crossJoin
  /// A column and what it becomes, behind SET.
  case assign
  // Before one.
  case not, negate, bitwiseNot, distinct
  // Around one.
  case parentheses
  // After one.
  case isNull, isNotNull
  case ascending, descending, nullsFirst, nullsLast
  /// A term of GROUP BY.
  case grouping
  /// What is a condition: where NULL is as good as false.
  case condition
  /// Of a name: a column that is never NULL in the database, whatever its property's type is; one of real numbers.
  case key, real

  /// What is known of a column.
  static func column(isKey: Bool, _ kind: ColumnType.Kind) -> SQLOperator {
    isKey ? .key : kind == .real ? .real : .or
  }

  /// What stands between two operands, or before the only one, in SQLite's SQL.
  var text: StaticString {
    switch self {
    case .or: " OR "
    case .and: " AND "
    case .equal, .assign: " = "
    case .notEqual: " <> "
    // They use the same indexes as `=`.
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

  /// What stands after the only operand.
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

  /// Whether it makes another value of its operands.
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
