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
  /// All but the type: what operators do is not generic, and so compiled once.
  @usableFromInline let core: ExpressionCore

  @inlinable
  init(core: ExpressionCore) { self.core = core }

  @usableFromInline
  init(
    _ sql: SQL, _ precedence: Precedence = .atom, isNullable: Bool = true,
    coding: ExpressionCoding? = nil
  ) {
    core = ExpressionCore(
      sql: sql, precedence: precedence, isNullable: isNullable, coding: coding)
  }

  /// An expression from SQL of one's own, which is put into parentheses where it has to be.
  public init(sql: SQL) { self.init(sql, .lowest) }

  /// The text, with the values that belong into it.
  public var sql: SQL { core.sql }
  var precedence: Precedence { core.precedence }
  var isNullable: Bool { core.isNullable }
  @usableFromInline var coding: ExpressionCoding? { core.coding }

  /// The text as a term of ORDER BY or GROUP BY.
  @usableFromInline var term: SQL { inside(.lowest) }

  /// The text for a place where operators of this precedence are around it.
  func inside(_ outer: Precedence) -> SQL { core.inside(outer) }

  /// Another expression as the right operand; a value on its own is stored as this one's are.
  func operand<Other>(_ other: SQLExpression<Other>, _ precedence: Precedence) -> SQL {
    core.operand(other.core, precedence)
  }
}

/// An expression without its type.
@usableFromInline
struct ExpressionCore: Sendable {
  @usableFromInline var sql: SQL
  /// How tightly its outermost operator binds: what binds less needs parentheses inside.
  @usableFromInline var precedence: Precedence
  /// Whether it can be NULL, as far as is known.
  @usableFromInline var isNullable: Bool
  /// How values are stored that it is compared with, where the type doesn't say.
  @usableFromInline var coding: ExpressionCoding?

  /// The text for a place where operators of this precedence are around it.
  func inside(_ outer: Precedence) -> SQL {
    precedence > outer ? sql : SQL("(", sql, ")")
  }

  /// An operator between this expression and SQL, with parentheses where they are needed: of equal
  /// operators in a row the left ones belong together without saying so.
  @usableFromInline
  consuming func infix(
    _ operation: StaticString, _ right: SQL, _ precedence: Precedence, isNullable: Bool = true
  ) -> ExpressionCore {
    if self.precedence < precedence { sql = SQL("(", sql, ")") }
    sql.append(operation, right)
    self.precedence = precedence
    self.isNullable = isNullable
    coding = nil
    return self
  }

  /// The same with a value, which is bound.
  @usableFromInline
  consuming func infix(
    _ operation: StaticString, _ value: any DatabaseValueConvertible, _ precedence: Precedence
  ) -> ExpressionCore {
    if self.precedence < precedence { sql = SQL("(", sql, ")") }
    sql.append(operation, value: coding?.code(value) ?? value)
    self.precedence = precedence
    isNullable = true
    coding = nil
    return self
  }

  /// Whether it equals a value, NULL being equal to nil.
  @usableFromInline
  consuming func equals(
    _ value: any DatabaseValueConvertible, negated: Bool
  ) -> ExpressionCore {
    let operation: StaticString =
      isNullable ? (negated ? " IS NOT " : " IS ") : (negated ? " <> " : " = ")
    return infix(operation, value, .equality)
  }

  /// Whether it equals another, NULL being equal to NULL: `=` where neither can be NULL, else `IS`,
  /// which uses the same indexes.
  @usableFromInline
  consuming func equals(
    _ other: ExpressionCore, orNull: Bool = false, negated: Bool
  ) -> ExpressionCore {
    let operation: StaticString =
      isNullable || other.isNullable || orNull
      ? (negated ? " IS NOT " : " IS ") : (negated ? " <> " : " = ")
    return infix(operation, other, .equality, isNullable: false)
  }

  /// An operator between two expressions; a value on its own is stored as this one's are.
  @usableFromInline
  consuming func infix(
    _ operation: StaticString, _ other: ExpressionCore, _ precedence: Precedence,
    isNullable: Bool = true
  ) -> ExpressionCore {
    let right = operand(other, precedence)
    return infix(operation, right, precedence, isNullable: isNullable)
  }

  /// Another expression as the right operand; a value on its own is stored as this one's are.
  func operand(_ other: ExpressionCore, _ precedence: Precedence) -> SQL {
    guard let coding, other.coding == nil else { return other.inside(precedence) }
    return other.sql.coded(coding.code) ?? other.inside(precedence)
  }
}

/// How a column's values are stored, without their type.
@usableFromInline
final class ExpressionCoding: Sendable {
  /// A value of the column's type with its coding.
  let code: @Sendable (any DatabaseValueConvertible) -> any DatabaseValueConvertible
  private let type: Any.Type
  private let access: PropertyAccess
  private let optionalType: Any.Type
  private let optionalAccess: PropertyAccess

  /// What reads values of a type, if the coding is one for it, or for what it wraps.
  @usableFromInline
  func access<Value>(for type: Value.Type) -> PropertyAccess? {
    if self.type == type { return access }
    return optionalType == type ? optionalAccess : nil
  }

  init<Value>(_ coding: ColumnCoding<Value>) {
    type = Value.self
    access = .value(coding)
    optionalType = Value?.self
    optionalAccess = .value(coding.optional)
    code = { value in
      (value as? Value).map { CodedValue(value: $0, coding: coding) } ?? value
    }
  }
}

/// How tightly an operator binds; see [Operators](https://www.sqlite.org/lang_expr.html).
@usableFromInline
enum Precedence: UInt8, Comparable, Sendable {
  case lowest, or, and, not, equality, comparison, bits, sum, product, concatenation, collate, sign
  case atom

  @usableFromInline
  static func < (left: Precedence, right: Precedence) -> Bool { left.rawValue < right.rawValue }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  /// A value, which is bound.
  public static func value(_ value: Value) -> SQLExpression { SQLExpression(SQL(bound: value)) }

  /// A value as this expression's are stored.
  func bound(_ value: Value) -> SQL {
    SQL(bound: coding?.code(value) ?? value)
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
    text = String(concatenating: [prefix, inner.text, suffix])
  }

  /// Two pieces with an operator between them.
  init(_ left: SQL, _ infix: String, _ right: SQL) {
    self = left
    text = String(concatenating: [left.text, infix, right.text])
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

  /// Appends an operator and another piece.
  mutating func append(_ operation: StaticString, _ piece: SQL) {
    append(operation.description, piece)
  }

  /// Appends an operator and a value, which is bound.
  mutating func append(_ operation: StaticString, value: any DatabaseValueConvertible) {
    text = String(concatenating: [text, operation.description, "?"])
    values.append(value)
  }

  /// Appends a text and then another piece.
  mutating func append(_ infix: String, _ piece: SQL) {
    text = String(concatenating: [text, infix, piece.text])
    if !piece.values.isEmpty { values += piece.values }
    isCacheable = isCacheable && piece.isCacheable
  }
}
