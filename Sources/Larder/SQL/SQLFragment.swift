import LarderSQLite

/// A fragment of SQL: a node of the syntax tree that queries, expressions and records' statements
/// are made of. It becomes text late, in the dialect of the connection that runs it.
///
/// Operators only put fragments together; joining texts at each step took three times as long as running a
/// small query. Frequent content (names, operators, values) lies in the object itself, without an enumeration
/// with payloads, whose copies took twice as long as all the rest.
///
/// It is Sendable, since all its parts are, and they stay the same until the last reference to it is gone.
/// Only then does ``takeApart()`` change them, which nobody else can see.
///
/// Its unmanaged references and its pointer are sound: the initializer retains what they refer to, and only
/// the end of the fragment releases it.
@usableFromInline
package final class SQLFragment: @unchecked Sendable {
  package enum Kind: UInt8, Sendable {
    /// Words or names as they are.
    case text
    /// The name of a declared table. The declaration is compared with the database's table.
    case table
    /// A value, which is bound.
    case value
    /// An operator before, after or around `left`.
    case unary
    /// An operator between `left` and `right`.
    case binary
    /// An operator between `left` and `value`.
    case comparison
    /// See ``Composite``.
    case composite
  }

  package let kind: Kind
  package let operation: SQLOperator
  /// How tightly its outermost operator binds. Inside a tighter one it needs parentheses.
  @usableFromInline package let precedence: Precedence
  /// Whether it can be NULL, as far as is known.
  @usableFromInline package let isNullable: Bool
  /// The depth of the tree of fragments.
  private let depth: Int32
  /// Whether the tree is too deep for recursion.
  package var isDeep: Bool { depth > Self.deepest }
  /// The coding of values that the fragment is compared with, if their type doesn't say how they are stored.
  @usableFromInline let coding: ExpressionCoding?
  package let value: any DatabaseValueConvertible
  private let text: TextBytes?
  // The bytes of `text`, which can be read without counting a reference.
  private let bytes: UnsafeBufferPointer<UInt8>
  // Unmanaged, since otherwise each walk through a tree would count a reference to each part.
  @exclusivity(unchecked) private var leftReference: Unmanaged<SQLFragment>?
  @exclusivity(unchecked) private var rightReference: Unmanaged<SQLFragment>?
  @exclusivity(unchecked) private var compositeReference: Unmanaged<Composite>?

  /// A fragment without text.
  @usableFromInline static let empty = SQLFragment(text: "")

  @inline(__always)
  private init(
    _ kind: Kind, _ operation: SQLOperator, _ precedence: Precedence, isNullable: Bool,
    depth: Int32, coding: ExpressionCoding?, left: consuming SQLFragment? = nil,
    right: consuming SQLFragment? = nil,
    value: consuming any DatabaseValueConvertible = 0, text: TextBytes? = nil,
    composite: Composite? = nil
  ) {
    self.kind = kind
    self.operation = operation
    self.precedence = precedence
    self.isNullable = isNullable
    self.depth = depth
    self.coding = coding
    self.value = value
    self.text = text
    bytes = text?.bytes ?? UnsafeBufferPointer(start: nil, count: 0)
    leftReference = if let left { .passRetained(left) } else { nil }
    rightReference = if let right { .passRetained(right) } else { nil }
    compositeReference = if let composite { .passRetained(composite) } else { nil }
  }

  // MARK: What a fragment can be

  /// Words or names as they are.
  ///
  /// - Parameter known: ``SQLOperator/key`` or ``SQLOperator/real`` for such a column.
  package convenience init(
    text: String, _ precedence: Precedence = .atom, isNullable: Bool = true,
    as known: SQLOperator = .or, coding: ExpressionCoding? = nil
  ) {
    self.init(
      .text, known, precedence, isNullable: isNullable, depth: 0, coding: coding,
      text: TextBytes(text))
  }

  /// The name of a declared table, maybe with an alias. Statements that have it
  /// find the declaration by its number.
  convenience init(text: String, of table: any ExpectedTable, _ number: Int) {
    self.init(
      .table, .or, .atom, isNullable: true, depth: 0, coding: nil,
      value: MentionedTable(table: table), text: TextBytes(text, tableNumber: number))
  }

  /// A value, which is bound.
  package convenience init(
    value: any DatabaseValueConvertible, isNullable: Bool = true, coding: ExpressionCoding? = nil
  ) {
    self.init(.value, .or, .atom, isNullable: isNullable, depth: 0, coding: coding, value: value)
  }

  /// SQL of the program's own.
  package convenience init(sql: SQL, _ precedence: Precedence = .lowest) {
    self.init(.sql(sql), precedence)
  }

  /// An operator before, after or around another fragment, which stands as it is.
  package convenience init(
    _ operation: SQLOperator, _ operand: SQLFragment, _ precedence: Precedence? = nil,
    isNullable: Bool = true, coding: ExpressionCoding? = nil
  ) {
    self.init(
      .unary, operation, precedence ?? operation.precedence, isNullable: isNullable,
      depth: operand.depth + 1, coding: coding, left: operand)
  }

  /// An operator between two fragments, which stand as they are.
  package convenience init(
    _ left: consuming SQLFragment, _ operation: SQLOperator, _ right: consuming SQLFragment,
    isNullable: Bool = true, coding: ExpressionCoding? = nil
  ) {
    let depth = max(left.depth, right.depth) + 1
    self.init(
      .binary, operation, operation.precedence, isNullable: isNullable, depth: depth,
      coding: coding, left: left, right: right)
  }

  /// An operator between a fragment, which stands as it is, and a value, which is bound.
  @inline(__always)
  package convenience init(
    _ left: consuming SQLFragment, _ operation: SQLOperator,
    value: consuming any DatabaseValueConvertible
  ) {
    let depth = left.depth + 1
    self.init(
      .comparison, operation, operation.precedence, isNullable: true, depth: depth, coding: nil,
      left: left, value: value)
  }

  /// A call of a function, by the name that SQLite has for it.
  package static func call(
    _ function: StaticString, _ arguments: SQLFragment..., isNullable: Bool = true,
    coding: ExpressionCoding? = nil
  ) -> SQLFragment {
    SQLFragment(.call(function, arguments), isNullable: isNullable, coding: coding)
  }

  /// Fragments with a text between them.
  package static func list(
    _ parts: [SQLFragment], separator: StaticString = ", "
  ) -> SQLFragment {
    SQLFragment(.list(parts, separator: separator), .lowest)
  }

  package convenience init(
    _ content: Composite.Content, _ precedence: Precedence = .atom, isNullable: Bool = true,
    coding: ExpressionCoding? = nil
  ) {
    let composite = Composite(content)
    var depth: Int32 = 0
    composite.forEachPart { depth = max(depth, $0.depth) }
    self.init(
      .composite, .or, precedence, isNullable: isNullable, depth: depth + 1, coding: coding,
      composite: composite)
  }

  /// The only operand, or the left one.
  package var left: SQLFragment? { leftReference?.takeUnretainedValue() }
  /// The right operand, where it isn't ``value``.
  package var right: SQLFragment? { rightReference?.takeUnretainedValue() }
  /// The words or the name of a fragment that consists only of these.
  package var words: String? { text.map { String(decoding: $0.bytes, as: UTF8.self) } }
  /// The stored form of the bound value; nil if the fragment isn't a value, or one that can't be stored.
  package var boundValue: DatabaseValue? { kind == .value ? try? value.databaseValue : nil }
  private var composite: Composite? { compositeReference?.takeUnretainedValue() }
  /// The number of a declared table; 0 for any other fragment.
  var tableNumber: Int { text?.tableNumber ?? 0 }
  /// The declared table that the fragment names.
  var table: (any ExpectedTable)? { (value as? MentionedTable)?.table }
  /// The content of a composite fragment.
  package var content: Composite.Content? { composite?.content }

  /// The fragments that this one directly consists of.
  var innerParts: [SQLFragment] { [left, right].compactMap(\.self) + (composite?.parts ?? []) }

  /// The fragments of a list; only this one if it is no list.
  var parts: [SQLFragment] {
    if case .list(let parts, _) = content { return parts }
    return [self]
  }

  /// Whether this is a list without parts.
  var isEmptyList: Bool {
    if case .list(let parts, _) = content { return parts.isEmpty }
    return false
  }

  /// The fragment, marked as a term of ORDER BY for dialects in which NULL stands elsewhere.
  private var orderingTerm: SQLFragment {
    switch (kind, operation) {
    case (.unary, .ascending), (.unary, .descending), (.unary, .nullsFirst), (.unary, .nullsLast):
      self
    default: SQLFragment(.ascending, self, isNullable: isNullable)
    }
  }

  /// The terms of ORDER BY, each marked as such.
  var orderingTerms: SQLFragment { .list(parts.map(\.orderingTerm)) }

  /// The terms of GROUP BY, each marked as such.
  var groupingTerms: SQLFragment {
    .list(parts.map { SQLFragment(.grouping, $0, isNullable: $0.isNullable) })
  }

  /// A list with this fragment, or the parts of this list, added at its end.
  consuming func added(to list: SQLFragment?) -> SQLFragment {
    guard let list else { return self }
    return .list(list.parts + parts)
  }

  // MARK: Depth

  /// The greatest depth at which fragments are written and released recursively. Deeper ones are handled one
  /// after the other, since recursion would take more of the stack than there may be.
  private static let deepest: Int32 = 200

  deinit {
    if depth > Self.deepest { return takeApart() }
    leftReference?.release()
    rightReference?.release()
    compositeReference?.release()
  }

  /// Releases the parts one after the other, without recursion.
  private func takeApart() {
    var rest: [SQLFragment] = []
    giveUpParts(to: &rest)
    while var last = rest.popLast() {
      if last.depth > Self.deepest, isKnownUniquelyReferenced(&last) { last.giveUpParts(to: &rest) }
    }
  }

  private func giveUpParts(to rest: inout [SQLFragment]) {
    for part in [leftReference.take(), rightReference.take()] {
      if let part { rest.append(part.takeRetainedValue()) }
    }
    if let composite = compositeReference.take()?.takeRetainedValue() { rest += composite.parts }
  }

  // MARK: Writing

  /// Writes the fragment: the writer takes the text, the values, or both.
  func write<W: SQLWriter>(to writer: inout W) throws(W.Failure) {
    if W.hasDialect, kind.rawValue > Kind.value.rawValue, let other = writer.rewritten(self) {
      return try other.writeItself(to: &writer)
    }
    try writeItself(to: &writer)
  }

  private func writeItself<W: SQLWriter>(to writer: inout W) throws(W.Failure) {
    guard depth <= Self.deepest else { return try writeDeep(to: &writer) }
    switch kind {
    case .text:
      writer.append(bytes)
    case .table:
      writer.append(bytes)
      writer.note(table: self)
    case .value:
      try writer.append(value: value)
    case .unary:
      writer.append(word: operation.text)
      try Self.write(leftReference, to: &writer)
      writer.append(word: operation.suffix)
    case .binary:
      try Self.write(leftReference, to: &writer)
      writer.append(word: operation.text)
      try Self.write(rightReference, to: &writer)
    case .comparison:
      try Self.write(leftReference, to: &writer)
      writer.append(word: operation.text)
      if W.hasDialect, let left {
        try writer.append(value: value, beside: left, operation)
      } else {
        try writer.append(value: value)
      }
    case .composite:
      try composite?.forEachStep { step throws(W.Failure) in try step.write(to: &writer) }
    }
  }

  @inline(__always)
  private static func write<W: SQLWriter>(
    _ part: Unmanaged<SQLFragment>?, to writer: inout W
  ) throws(W.Failure) {
    guard let part else { return }
    // The closure can't throw a typed error.
    let result: Result<Void, W.Failure> = part._withUnsafeGuaranteedRef { part in
      do throws(W.Failure) {
        return .success(try part.write(to: &writer))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  private func writeDeep<W: SQLWriter>(to writer: inout W) throws(W.Failure) {
    var rest = Array(steps.reversed())
    while let step = rest.popLast() {
      if case .part(let part) = step, part.depth > Self.deepest {
        let other = W.hasDialect ? writer.rewritten(part) : nil
        rest += (other ?? part).steps.reversed()
      } else {
        try step.write(to: &writer)
      }
    }
  }

  /// The steps of writing the fragment, in order.
  private var steps: [WritingStep] {
    let operands = (left.map(WritingStep.part), right.map(WritingStep.part))
    return switch kind {
    case .text: [text.map(WritingStep.text)].compactMap(\.self)
    case .table: [.part(self)]
    case .value: [.value(value)]
    case .unary:
      [.word(operation.text), operands.0, .word(operation.suffix)].compactMap(\.self)
    case .binary: [operands.0, .word(operation.text), operands.1].compactMap(\.self)
    case .comparison: [operands.0, .word(operation.text), .value(value)].compactMap(\.self)
    case .composite: composite?.steps ?? []
    }
  }

  // MARK: Values beside it

  /// A value, or a CASE whose results are values, with the values stored in
  /// another way; nil for any other fragment.
  func coded(
    _ code: (any DatabaseValueConvertible) -> (any DatabaseValueConvertible)?
  ) -> SQLFragment? {
    switch (kind, content) {
    case (.value, _):
      code(value).map { SQLFragment(value: $0, isNullable: isNullable) }
    case (_, .choice(let conditions, let results)) where coding == nil:
      SQLFragment(
        .choice(conditions, results.map { $0.coded(code) ?? $0 }), isNullable: isNullable)
    default: nil
    }
  }
}
