import LarderSQLite

/// A part of a statement: text, a value, or parts with words between them.
///
/// Operators only put nodes together. The text is written once the statement runs, into memory that
/// is used again; joining texts at each step took three times as long as running a small query.
///
/// Sendable, since all that nodes have is constant and Sendable.
@usableFromInline
class SQLNode: @unchecked Sendable {
  /// The length of the text in UTF-8.
  final let byteCount: Int
  /// The number of values that are bound.
  final let valueCount: Int
  /// How many parts lie inside of each other.
  final let depth: Int
  /// How tightly its outermost operator binds: what binds less needs parentheses inside.
  final let precedence: Precedence
  /// Whether it can be NULL, as far as is known.
  final let isNullable: Bool
  /// False for text that is not likely to come again in the same form.
  final let isCacheable: Bool
  /// How values are stored that it is compared with, where the type doesn't say.
  @usableFromInline final let coding: ExpressionCoding?

  init(
    byteCount: Int, valueCount: Int, depth: Int = 0, _ precedence: Precedence, isNullable: Bool,
    isCacheable: Bool, coding: ExpressionCoding?
  ) {
    self.byteCount = byteCount
    self.depth = depth
    self.valueCount = valueCount
    self.precedence = precedence
    self.isNullable = isNullable
    self.isCacheable = isCacheable
    self.coding = coding
  }

  /// Writes the text.
  func write(to writer: inout TextWriter) {}
  /// Binds the values.
  func bind(to writer: inout ArgumentWriter) throws {}
  /// Adds the values to a list.
  func collect(_ values: inout [(any DatabaseValueConvertible)?]) {}

  /// The text and the values.
  var sql: SQL {
    var sql = SQL(raw: TextWriter.text(byteCount: byteCount) { write(to: &$0) })
    sql.values.reserveCapacity(valueCount)
    collect(&sql.values)
    sql.isCacheable = isCacheable
    return sql
  }

  /// The same part, for one around it. What lies very deep becomes text: walking through all its
  /// parts, or letting go of them, would take more of the stack than there may be.
  @inline(__always)
  final var asPart: SQLNode { isShallow ? self : flattened }

  @inline(__always)
  fileprivate final var isShallow: Bool { depth < 200 }

  private final var flattened: SQLNode {
    TextNode(sql, precedence, isNullable: isNullable, coding: coding)
  }

  /// The same with its only value stored in another way; nil if it is more than a value.
  func coded(
    _ code: (any DatabaseValueConvertible) -> (any DatabaseValueConvertible)?
  ) -> SQLNode? { nil }
}

/// SQL as it is.
@usableFromInline
final class TextNode: SQLNode, @unchecked Sendable {
  private let content: SQL
  private let bytes: TextBytes

  /// No text.
  @usableFromInline static let empty = TextNode(SQL(raw: ""))

  init(
    _ sql: SQL, _ precedence: Precedence = .atom, isNullable: Bool = true,
    coding: ExpressionCoding? = nil
  ) {
    content = sql
    bytes = TextBytes(sql.text)
    super.init(
      byteCount: bytes.count, valueCount: sql.values.count, precedence,
      isNullable: isNullable, isCacheable: sql.isCacheable, coding: coding)
  }

  override var sql: SQL { content }
  override func write(to writer: inout TextWriter) { writer.append(bytes) }

  override func bind(to writer: inout ArgumentWriter) throws {
    if valueCount > 0 { try writer.append(content.values) }
  }

  override func collect(_ values: inout [(any DatabaseValueConvertible)?]) {
    if valueCount > 0 { values += content.values }
  }

  override func coded(
    _ code: (any DatabaseValueConvertible) -> (any DatabaseValueConvertible)?
  ) -> SQLNode? {
    guard content.text == "?", content.values.count == 1, let value = content.values[0],
      let coded = code(value)
    else { return nil }
    return TextNode(SQL(bound: coded))
  }
}

/// A part with words around it, such as a call of a function.
final class WrappedNode: SQLNode, @unchecked Sendable {
  private let prefix: StaticString
  private let inner: SQLNode
  private let suffix: StaticString

  init(
    _ prefix: StaticString, _ inner: SQLNode, _ suffix: StaticString,
    _ precedence: Precedence = .atom, isNullable: Bool = true, coding: ExpressionCoding? = nil
  ) {
    self.prefix = prefix
    let inner = inner.asPart
    self.inner = inner
    self.suffix = suffix
    super.init(
      byteCount: prefix.byteCount + inner.byteCount + suffix.byteCount,
      valueCount: inner.valueCount, depth: inner.depth + 1, precedence, isNullable: isNullable,
      isCacheable: inner.isCacheable, coding: coding)
  }

  override func write(to writer: inout TextWriter) {
    writer.append(prefix)
    inner.write(to: &writer)
    writer.append(suffix)
  }

  override func bind(to writer: inout ArgumentWriter) throws { try inner.bind(to: &writer) }

  override func collect(_ values: inout [(any DatabaseValueConvertible)?]) {
    inner.collect(&values)
  }
}

/// Two parts with an operator between them.
final class InfixNode: SQLNode, @unchecked Sendable {
  private let left: SQLNode
  private let operation: StaticString
  private let right: SQLNode

  /// Both parts have to be shallow.
  fileprivate init(
    shallow left: SQLNode, _ operation: StaticString, _ right: SQLNode, _ precedence: Precedence,
    isNullable: Bool, coding: ExpressionCoding? = nil
  ) {
    self.left = left
    self.operation = operation
    self.right = right
    super.init(
      byteCount: left.byteCount + operation.byteCount + right.byteCount,
      valueCount: left.valueCount + right.valueCount, depth: max(left.depth, right.depth) + 1,
      precedence, isNullable: isNullable, isCacheable: left.isCacheable && right.isCacheable,
      coding: coding)
  }

  convenience init(
    _ left: SQLNode, _ operation: StaticString, _ right: SQLNode, _ precedence: Precedence,
    isNullable: Bool = true, coding: ExpressionCoding? = nil
  ) {
    self.init(
      shallow: left.asPart, operation, right.asPart, precedence, isNullable: isNullable,
      coding: coding)
  }

  override func write(to writer: inout TextWriter) {
    left.write(to: &writer)
    writer.append(operation)
    right.write(to: &writer)
  }

  override func bind(to writer: inout ArgumentWriter) throws {
    try left.bind(to: &writer)
    try right.bind(to: &writer)
  }

  override func collect(_ values: inout [(any DatabaseValueConvertible)?]) {
    left.collect(&values)
    right.collect(&values)
  }
}

/// A part and a value, which is bound, with an operator between them.
final class ValueNode: SQLNode, @unchecked Sendable {
  private let left: SQLNode
  private let operation: StaticString
  private let value: any DatabaseValueConvertible

  init(
    _ left: consuming SQLNode, _ operation: StaticString,
    _ value: consuming any DatabaseValueConvertible, _ precedence: Precedence
  ) {
    let (byteCount, valueCount) = (left.byteCount, left.valueCount)
    let (depth, isCacheable) = (left.depth, left.isCacheable)
    self.left = left
    self.operation = operation
    self.value = value
    super.init(
      byteCount: byteCount + operation.byteCount + 1, valueCount: valueCount + 1,
      depth: depth + 1, precedence, isNullable: true, isCacheable: isCacheable, coding: nil)
  }

  override func write(to writer: inout TextWriter) {
    left.write(to: &writer)
    writer.append(operation)
    writer.append("?" as StaticString)
  }

  override func bind(to writer: inout ArgumentWriter) throws {
    try left.bind(to: &writer)
    try writer.append(value)
  }

  override func collect(_ values: inout [(any DatabaseValueConvertible)?]) {
    left.collect(&values)
    values.append(value)
  }
}

/// Parts with commas between them.
final class ListNode: SQLNode, @unchecked Sendable {
  let all: [SQLNode]

  /// There has to be a part.
  init(_ parts: [SQLNode]) {
    let parts = parts.map(\.asPart)
    all = parts
    super.init(
      byteCount: parts.reduce(-2) { $0 + $1.byteCount + 2 },
      valueCount: parts.reduce(0) { $0 + $1.valueCount },
      depth: parts.reduce(0) { max($0, $1.depth) } + 1, .lowest, isNullable: true,
      isCacheable: parts.allSatisfy(\.isCacheable), coding: nil)
  }

  override func write(to writer: inout TextWriter) {
    var separator: StaticString = ""
    for part in all {
      writer.append(separator)
      part.write(to: &writer)
      separator = ", "
    }
  }

  override func bind(to writer: inout ArgumentWriter) throws {
    for part in all { try part.bind(to: &writer) }
  }

  override func collect(_ values: inout [(any DatabaseValueConvertible)?]) {
    for part in all { part.collect(&values) }
  }
}

extension StaticString {
  var byteCount: Int { withUTF8Buffer { $0.count } }
}

// MARK: Operators

extension SQLNode {
  /// This part for a place where operators of this precedence are around it.
  @inline(__always)
  final consuming func inside(_ outer: Precedence) -> SQLNode {
    precedence > outer ? self : parenthesized
  }

  private final var parenthesized: SQLNode {
    WrappedNode("(", self, ")", isNullable: isNullable, coding: coding)
  }

  /// This part as the left operand: of equal operators in a row the left ones belong together
  /// without saying so.
  @inline(__always)
  private final func leading(_ precedence: Precedence) -> SQLNode {
    if self.precedence >= precedence && isShallow { return self }
    return self.precedence < precedence ? parenthesized : flattened
  }

  /// An operator between this part and another, which stands as it is.
  @usableFromInline
  final func infix(
    _ operation: StaticString, operand right: SQLNode, _ precedence: Precedence,
    isNullable: Bool = true
  ) -> SQLNode {
    InfixNode(leading(precedence), operation, right, precedence, isNullable: isNullable)
  }

  /// An operator between this part and another; a value on its own is stored as this one's are.
  @usableFromInline
  final consuming func infix(
    _ operation: StaticString, _ other: consuming SQLNode, _ precedence: Precedence,
    isNullable: Bool = true
  ) -> SQLNode {
    // Mostly nothing has to be done to either, and each reference that is passed on is counted.
    if self.precedence >= precedence, other.precedence > precedence, isShallow, other.isShallow,
      coding == nil
    {
      return InfixNode(shallow: self, operation, other, precedence, isNullable: isNullable)
    }
    return infix(operation, operand: operand(other, precedence), precedence, isNullable: isNullable)
  }

  /// An operator between this part and a value, which is bound.
  @usableFromInline
  final consuming func infix(
    _ operation: StaticString, _ value: consuming any DatabaseValueConvertible,
    _ precedence: Precedence
  ) -> SQLNode {
    if coding == nil, self.precedence >= precedence, isShallow {
      return ValueNode(self, operation, value, precedence)
    }
    return infixCoded(operation, value, precedence)
  }

  private final func infixCoded(
    _ operation: StaticString, _ value: any DatabaseValueConvertible, _ precedence: Precedence
  ) -> SQLNode {
    ValueNode(leading(precedence), operation, coding?.code(value) ?? value, precedence)
  }

  /// Whether it equals a value, NULL being equal to nil.
  @usableFromInline
  final consuming func equals(
    _ value: consuming any DatabaseValueConvertible, negated: Bool
  ) -> SQLNode {
    let operation: StaticString =
      isNullable ? (negated ? " IS NOT " : " IS ") : (negated ? " <> " : " = ")
    return infix(operation, value, .equality)
  }

  /// Whether it equals another, NULL being equal to NULL: `=` where neither can be NULL, else `IS`,
  /// which uses the same indexes.
  @usableFromInline
  final consuming func equals(_ other: consuming SQLNode, orNull: Bool = false, negated: Bool)
    -> SQLNode
  {
    let operation: StaticString =
      isNullable || other.isNullable || orNull
      ? (negated ? " IS NOT " : " IS ") : (negated ? " <> " : " = ")
    return infix(operation, other, .equality, isNullable: false)
  }

  /// Another part as the right operand; a value on its own is stored as this one's are.
  final func operand(_ other: SQLNode, _ precedence: Precedence) -> SQLNode {
    guard let coding, other.coding == nil else { return other.inside(precedence) }
    return other.coded(coding.code) ?? other.inside(precedence)
  }

  /// A list with this part as the last of it.
  static func list(_ rest: SQLNode?, _ last: SQLNode) -> SQLNode {
    rest.map { ListNode($0.parts + [last]) } ?? last
  }

  /// The parts of a list.
  final var parts: [SQLNode] {
    (self as? ListNode)?.all ?? [self]
  }
}
