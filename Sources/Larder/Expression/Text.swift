import LarderSQLite

// Operations on text besides comparisons: patterns (LIKE, GLOB), prefixes, case, length, parts,
// concatenation.

/// Text that may be NULL or not: String and its Optional.
@_documentation(visibility: internal)
public protocol TextValue: DatabaseValueConvertible {}

extension String: TextValue {}
extension Optional: TextValue where Wrapped == String {}

extension SQLExpression where Value: TextValue {
  /// Whether the text matches a pattern. `%` stands for any text and `_` for any character. Untrusted text
  /// doesn't belong in a pattern: see `contains(_:)`, ``hasPrefix(_:)`` and ``hasSuffix(_:)``. See
  /// [LIKE](https://www.sqlite.org/lang_expr.html#like).
  ///
  /// - `escape`: a character before `%`, `_` or itself that makes it a plain character.
  /// - `caseSensitive`: true if `a` doesn't match `A` (an index can then find a pattern's beginning); false to
  ///   ignore the case of every letter of Unicode, so that `ä` matches `Ä`, as PostgreSQL's `ILIKE` does. Nil
  ///   ignores that of ASCII's letters only, as SQLite's LIKE does. Letters match by their small forms:
  ///   `σ`, `ς` and `Σ` do, but not `ß` and `ss`, or `İ` and `i`.
  public func like(
    _ pattern: String, escape: Character? = nil, caseSensitive: Bool? = nil
  ) -> SQLExpression<Bool> {
    if let caseSensitive, let pattern = LikePattern(pattern, escape: escape) {
      return SQLExpression<Bool>(pattern.match(node.computed, caseSensitive: caseSensitive))
    }
    let match = node.computed.infix(.like, operand: SQLFragment(value: pattern))
    guard let escape else { return SQLExpression<Bool>(match) }
    return SQLExpression<Bool>(
      SQLFragment(match, .escape, SQLFragment(value: String(escape))))
  }

  /// Whether the text matches a pattern. `*` stands for any text, `?` for any character and `[a-z]` for one
  /// of a set.
  public func glob(_ pattern: String) -> SQLExpression<Bool> {
    SQLExpression<Bool>(node.computed.infix(.glob, operand: SQLFragment(value: pattern)))
  }

  /// Whether the text begins with a prefix: a range condition, for which SQLite can use an index. After
  /// ``collate(_:)``, the beginning is compared by that collation.
  public func hasPrefix(_ prefix: String) -> SQLExpression<Bool> {
    let node = node.computed
    let value = SQLFragment(value: prefix)
    // The texts with a common prefix are a range only in byte order.
    if node.precedence == .collate {
      let beginning = SQLFragment.call(
        "substr", node, "1", SQLFragment(value: prefix.unicodeScalars.count))
      return SQLExpression<Bool>(form(.hasPrefix, value, SQLFragment(beginning, .equal, value)))
    }
    // BINARY is stated because the range would be wrong in the order of a column that ignores case.
    func exactly(_ text: String) -> SQLFragment {
      SQLFragment(SQLFragment(value: text), .collate, "BINARY")
    }
    let start = node.infix(.greaterOrEqual, operand: exactly(prefix))
    guard let end = prefix.firstBeyondItsExtensions else {
      return SQLExpression<Bool>(form(.hasPrefix, value, start))
    }
    let range = start.infix(.and, node.infix(.less, operand: exactly(end)))
    return SQLExpression<Bool>(form(.hasPrefix, value, range))
  }

  /// Whether the text ends with a suffix, byte by byte. After ``collate(_:)``, the end is compared by that
  /// collation, up to the first NUL.
  public func hasSuffix(_ suffix: String) -> SQLExpression<Bool> {
    // For an empty suffix, `substr(…, -0)` would return the whole text.
    if suffix.isEmpty { return hasPrefix(suffix) }
    let node = node.computed
    let value = SQLFragment(value: suffix)
    if node.precedence == .collate {
      let end = SQLFragment.call(
        "substr", node, SQLFragment(value: -suffix.unicodeScalars.count))
      return SQLExpression<Bool>(form(.hasSuffix, value, SQLFragment(end, .equal, value)))
    }
    // SQLite takes a text's end to be its first NUL, but a blob's to be its real end. So bytes are compared,
    // in the database's encoding, which only SQLite knows. For SQLite a part without bytes is NULL.
    let bytes = SQLFragment(.cast(value, .blob))
    let length = SQLFragment(.negate, .call("length", bytes))
    let end = SQLFragment.call(
      "coalesce", .call("substr", SQLFragment(.cast(node, .blob)), length), node)
    return SQLExpression<Bool>(form(.hasSuffix, value, SQLFragment(end, .equal, bytes)))
  }

  /// An operation that each dialect writes in its own form.
  private func form(
    _ form: SQLForm, _ value: SQLFragment, _ inSQLite: SQLFragment
  ) -> SQLFragment {
    SQLFragment(.form(form, [node, value], inSQLite), inSQLite.precedence)
  }

  /// Whether the text contains another one, byte by byte whatever the collation.
  public func contains(_ text: String) -> SQLExpression<Bool> {
    SQLExpression<Bool>(
      SQLFragment(.call("instr", node.computed, SQLFragment(value: text)), .greater, "0"))
  }

  /// The text with ASCII letters in lower case.
  public var lowercased: Self { call("lower", isNullable: node.isNullable) }
  /// The text with ASCII letters in upper case.
  public var uppercased: Self { call("upper", isNullable: node.isNullable) }

  /// The same text, compared by another collation: `NOCASE`, `RTRIM`, or one that the program registered.
  public func collate(_ name: String) -> Self {
    Self(
      SQLFragment(
        node.parenthesized(in: .collate), .collate, SQLFragment(text: name.quotedIdentifier),
        isNullable: node.isNullable))
  }

  /// The concatenation; NULL if either text is NULL.
  public static func + (left: Self, right: String) -> Self {
    SQLExpression(left.node.infix(.concatenate, right))
  }

  /// The concatenation; NULL if either text is NULL.
  public static func + (left: Self, right: Self) -> Self {
    SQLExpression(left.node.infix(.concatenate, right.node))
  }

  /// Appends to an assignment's value; NULL stays NULL.
  public static func += (left: inout Self, right: String) { left = left + right }

  /// Appends to an assignment's value; NULL if either is.
  @_disfavoredOverload
  public static func += (left: inout Self, right: Self) { left = left + right }
}

// These are generic and disfavoured, so that a literal beside text that can't be NULL isn't Optional either.
extension SQLExpression {
  /// The concatenation; NULL if either text is NULL.
  @_disfavoredOverload
  public static func + <Wrapped: TextValue>(
    left: Self, right: SQLExpression<Wrapped>
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.concatenate, right.node))
  }

  /// The concatenation; NULL if either text is NULL.
  @_disfavoredOverload
  public static func + <Wrapped: TextValue>(
    left: SQLExpression<Wrapped>, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.concatenate, right.node))
  }
}

extension SQLExpression where Value == String {
  /// The number of Unicode scalars up to the first NUL.
  public var length: SQLExpression<Int> {
    call("length", isNullable: node.isNullable)
  }
}

extension SQLExpression where Value == String? {
  /// The number of Unicode scalars up to the first NUL; NULL if there is no text.
  public var length: SQLExpression<Int?> { call("length") }
}

extension SQLExpression where Value: TextValue {
  /// A part of the text, in Unicode scalars. For SQLite the text ends at a NUL.
  ///
  /// - Parameters:
  ///   - start: the part's first scalar: 0 is the text's first scalar, -1 its last.
  ///   - count: the part's length; nil for the rest of the text.
  public func substring(from start: Int, count: Int? = nil) -> Self {
    // SQLite counts from one, and adds both numbers in 32 bits. No text is longer than this limit.
    let longest = 1_000_000_000
    let start = Swift.max(-longest, Swift.min(start, longest))
    let count = count.map { Swift.min($0, longest) }
    let first = SQLFragment(value: start < 0 ? start : start + 1)
    guard let count else { return call("substr", first, isNullable: node.isNullable) }
    return call(
      "substr", first, SQLFragment(value: count < 0 ? 0 : count), isNullable: node.isNullable)
  }

  /// The text with every occurrence of a part replaced.
  public func replacing(_ part: String, with replacement: String) -> Self {
    call(
      "replace", SQLFragment(value: part), SQLFragment(value: replacement),
      isNullable: node.isNullable)
  }

  /// The text without leading and trailing spaces.
  public var trimmed: Self { call("trim", isNullable: node.isNullable) }

  /// The position of a part's first occurrence, in Unicode scalars from 0; NULL if there is none.
  public func position(of part: String) -> SQLExpression<Int?> {
    let part = SQLFragment(value: part)
    let place: SQLFragment = "nullif(\(.call("instr", node.computed, part)), 0) - 1"
    return SQLExpression<Int?>(SQLFragment(.form(.position, [node, part], place), .sum))
  }
}

extension String {
  /// The smallest text that is greater than every text with this prefix; nil if there is none.
  fileprivate var firstBeyondItsExtensions: String? {
    var scalars = Array(unicodeScalars)
    while let last = scalars.popLast() {
      // Surrogates aren't Unicode scalars.
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let scalar = Unicode.Scalar(next) else { continue }
      scalars.append(scalar)
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars)
      return String(text)
    }
    return nil
  }
}
