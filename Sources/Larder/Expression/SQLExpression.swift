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
  @usableFromInline let node: SQLNode

  @inlinable
  init(_ node: SQLNode) { self.node = node }

  init(
    _ sql: SQL, _ precedence: Precedence = .atom, isNullable: Bool = true,
    coding: ExpressionCoding? = nil
  ) {
    node = TextNode(sql, precedence, isNullable: isNullable, coding: coding)
  }

  /// An expression from SQL of one's own, which is put into parentheses where it has to be.
  public init(sql: SQL) { self.init(sql, .lowest) }

  /// The text, with the values that belong into it.
  public var sql: SQL { node.sql }
  var precedence: Precedence { node.precedence }
  var isNullable: Bool { node.isNullable }
  @usableFromInline var coding: ExpressionCoding? { node.coding }

  /// The expression as a term of ORDER BY or GROUP BY.
  @usableFromInline var term: SQLNode { consuming get { node.inside(.lowest) } }

  /// The text for a place where operators of this precedence are around it.
  func inside(_ outer: Precedence) -> SQL { node.inside(outer).sql }

  /// Another expression as the right operand; a value on its own is stored as this one's are.
  func operand<Other>(_ other: SQLExpression<Other>, _ precedence: Precedence) -> SQL {
    node.operand(other.node, precedence).sql
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
    code = { coding.coded($0) }
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

extension SQLExpression {
  /// A value of a type that a column has a coding for, which is bound: only beside that column, or for
  /// it. Throws ``LarderSQLite/ConversionError`` elsewhere, when the statement runs.
  @_disfavoredOverload
  public static func value(_ value: Value) -> SQLExpression {
    SQLExpression(SQL(bound: UncodedValue(value)))
  }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  /// A value, which is bound.
  public static func value(_ value: Value) -> SQLExpression { SQLExpression(SQL(bound: value)) }

  /// A value as this expression's are stored.
  func bound(_ value: Value) -> SQL {
    SQL(bound: coding?.code(value) ?? value)
  }
}

extension SQL {
  /// A value, which is bound.
  init(bound value: (any DatabaseValueConvertible)?) {
    self.init(raw: "?")
    values = [value]
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

  /// Appends a text and then another piece.
  mutating func append(_ infix: String, _ piece: SQL) {
    text = String(concatenating: [text, infix, piece.text])
    if !piece.values.isEmpty { values += piece.values }
    isCacheable = isCacheable && piece.isCacheable
  }
}
