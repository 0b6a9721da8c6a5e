import LarderSQLite

/// An expression of SQL whose values are of a Swift type.
///
/// Columns are expressions inside of a query's closures, and operators and functions make others:
///
/// ```swift
/// City.filter { $0.population > 1_000_000 && $0.name.hasPrefix("北") }
/// // … WHERE "city"."population" > ?
/// // AND ("city"."name" >= ? COLLATE BINARY AND "city"."name" < ? COLLATE BINARY)
/// ```
///
/// Values are bound and never become part of the text. What has no Swift form is written as SQL:
/// `SQLExpression<Int>(sql: "unicode(\($0.name.sql))")`.
public struct SQLExpression<Value: Sendable>: Sendable {
  /// The text, with the values that belong into it.
  public let sql: SQL
  /// How tightly its outermost operator binds: what binds less needs parentheses inside.
  let precedence: Precedence
  /// Whether it can be NULL, as far as is known.
  let isNullable: Bool
  /// How values are stored that it is compared with, where the type doesn't say.
  @usableFromInline let coding: ColumnCoding<Value>?

  init(
    _ sql: SQL, _ precedence: Precedence = .atom, isNullable: Bool = true,
    coding: ColumnCoding<Value>? = nil
  ) {
    self.sql = sql
    self.precedence = precedence
    self.isNullable = isNullable
    self.coding = coding
  }

  /// An expression from SQL of one's own, which is put into parentheses where it has to be.
  public init(sql: SQL) { self.init(sql, .lowest) }

  /// The text for a place where operators of this precedence are around it.
  func inside(_ outer: Precedence) -> SQL {
    precedence > outer ? sql : SQL("(", sql, ")")
  }
}

/// How tightly an operator binds; see [Operators](https://www.sqlite.org/lang_expr.html).
enum Precedence: UInt8, Comparable {
  case lowest, or, and, not, equality, comparison, bits, sum, product, concatenation, collate, sign
  case atom

  static func < (left: Precedence, right: Precedence) -> Bool { left.rawValue < right.rawValue }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  /// A value, which is bound.
  public static func value(_ value: Value) -> SQLExpression { SQLExpression(SQL(bound: value)) }

  /// A value as this expression's are stored.
  func bound(_ value: Value) -> SQL {
    guard let coding else { return SQL(bound: value) }
    return SQL(bound: CodedValue(value: value, coding: coding))
  }
}

extension SQLExpression: ExpressibleByUnicodeScalarLiteral where Value == String {
  /// Text, which is bound.
  public init(unicodeScalarLiteral value: String) { self = .value(value) }
}

extension SQLExpression: ExpressibleByExtendedGraphemeClusterLiteral where Value == String {
  /// Text, which is bound.
  public init(extendedGraphemeClusterLiteral value: String) { self = .value(value) }
}

extension SQLExpression: ExpressibleByStringLiteral where Value == String {
  /// Text, which is bound.
  public init(stringLiteral value: String) { self = .value(value) }
}

extension SQL {
  /// A value, which is bound.
  init(bound value: (any DatabaseValueConvertible)?) {
    self.init(raw: "?")
    values = [value]
  }

  /// The same with its only value stored in another way; nil if it is more than a value.
  func coded(
    _ code: (any DatabaseValueConvertible) -> (any DatabaseValueConvertible)?
  ) -> SQL? {
    guard text == "?", values.count == 1, let value = values[0] else { return nil }
    return code(value).map { SQL(bound: $0) }
  }

  /// A text around other SQL.
  init(_ prefix: String, _ inner: SQL, _ suffix: String) {
    self = inner
    text = prefix + inner.text + suffix
  }

  /// Two pieces with an operator between them.
  init(_ left: SQL, _ infix: String, _ right: SQL) {
    self = left
    var text = left.text
    text.reserveCapacity(text.utf8.count + infix.utf8.count + right.text.utf8.count)
    text += infix
    text += right.text
    self.text = text
    if !right.values.isEmpty { values += right.values }
    isCacheable = left.isCacheable && right.isCacheable
  }

  /// Several pieces with a separator between them.
  init(_ pieces: some Sequence<SQL>, separator: String) {
    self.init(raw: "")
    var isFirst = true
    for piece in pieces {
      append(isFirst ? "" : separator, piece)
      isFirst = false
    }
  }

  /// Appends a text and then another piece.
  mutating func append(_ infix: String, _ piece: SQL) {
    text += infix
    text += piece.text
    if !piece.values.isEmpty { values += piece.values }
    isCacheable = isCacheable && piece.isCacheable
  }
}
