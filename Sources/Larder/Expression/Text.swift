import LarderSQLite

// What text has beside comparisons: patterns (LIKE, GLOB), prefixes, case, length, parts, concatenation.

/// Text that may be NULL or not: String and its Optional.
@_documentation(visibility: internal)
public protocol TextValue: DatabaseValueConvertible {}

extension String: TextValue {}
extension Optional: TextValue where Wrapped == String {}

extension SQLExpression where Value: TextValue {
  /// Whether it matches a pattern in which `%` stands for any text and `_` for any character, the
  /// case of ASCII letters aside. Text from outside doesn't belong into a pattern: see
  /// ``contains(_:)``, ``hasPrefix(_:)`` and ``hasSuffix(_:)``.
  /// See [LIKE](https://www.sqlite.org/lang_expr.html#like).
  ///
  /// - `escape`: a character that takes the meaning from `%`, `_` and itself.
  public func like(_ pattern: String, escape: Character? = nil) -> SQLExpression<Bool> {
    let match = node.computed.infix(.like, operand: SQLFragment(value: pattern))
    guard let escape else { return SQLExpression<Bool>(match) }
    return SQLExpression<Bool>(
      SQLFragment(match, .escape, SQLFragment(value: String(escape))))
  }

  /// Whether it matches a pattern in which `*` stands for any text, `?` for any character and
  /// `[a-z]` for one of several.
  public func glob(_ pattern: String) -> SQLExpression<Bool> {
    SQLExpression<Bool>(node.computed.infix(.glob, operand: SQLFragment(value: pattern)))
  }

  /// Whether it begins with a text: a range of the column's order, for which SQLite uses an index.
  /// After ``collate(_:)``, whether its beginning equals the text by that collation.
  public func hasPrefix(_ prefix: String) -> SQLExpression<Bool> {
    let node = node.computed
    let value = SQLFragment(value: prefix)
    // The texts that begin with one are a range only byte by byte.
    if node.precedence == .collate {
      let beginning = SQLFragment.call(
        "substr", node, "1", SQLFragment(value: prefix.unicodeScalars.count))
      return SQLExpression<Bool>(form(.hasPrefix, value, SQLFragment(beginning, .equal, value)))
    }
    // In the order of a column that ignores case, the range would be another one.
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

  /// Whether it ends with a text, byte by byte; after ``collate(_:)``, by that collation, up to the
  /// first NUL.
  public func hasSuffix(_ suffix: String) -> SQLExpression<Bool> {
    // The last 0 characters would be all.
    if suffix.isEmpty { return hasPrefix(suffix) }
    let node = node.computed
    let value = SQLFragment(value: suffix)
    if node.precedence == .collate {
      let end = SQLFragment.call(
        "substr", node, SQLFragment(value: -suffix.unicodeScalars.count))
      return SQLExpression<Bool>(form(.hasSuffix, value, SQLFragment(end, .equal, value)))
    }
    // Of text SQLite finds the end at the first NUL, of bytes where it is. They are those of the
    // database's encoding, which SQLite alone knows. A part of no bytes is NULL to it.
    let bytes = SQLFragment(.cast(value, .blob))
    let length = SQLFragment(.negate, .call("length", bytes))
    let end = SQLFragment.call(
      "coalesce", .call("substr", SQLFragment(.cast(node, .blob)), length), node)
    return SQLExpression<Bool>(form(.hasSuffix, value, SQLFragment(end, .equal, bytes)))
  }

  /// What has another form in each dialect.
  private func form(
    _ form: SQLForm, _ value: SQLFragment, _ inSQLite: SQLFragment
  ) -> SQLFragment {
    SQLFragment(.form(form, [node, value], inSQLite), inSQLite.precedence)
  }

  /// Whether a text is anywhere in it, byte by byte whatever the collation.
  public func contains(_ text: String) -> SQLExpression<Bool> {
    SQLExpression<Bool>(
      SQLFragment(.call("instr", node.computed, SQLFragment(value: text)), .greater, "0"))
  }

  /// The letters of ASCII made small.
  public var lowercased: Self { call("lower", isNullable: node.isNullable) }
  /// The letters of ASCII made capital.
  public var uppercased: Self { call("upper", isNullable: node.isNullable) }

  /// The same text, compared by another collation: `NOCASE`, `RTRIM`, or one of the program's own.
  public func collate(_ name: String) -> Self {
    Self(
      SQLFragment(
        node.inside(.collate), .collate, SQLFragment(text: name.quotedIdentifier),
        isNullable: node.isNullable))
  }

  /// This text and another; NULL where there is none.
  public static func + (left: Self, right: String) -> Self {
    SQLExpression(left.node.infix(.concatenate, right))
  }

  /// This text and another; NULL where one of them is.
  public static func + (left: Self, right: Self) -> Self {
    SQLExpression(left.node.infix(.concatenate, right.node))
  }

  /// Appends to an assignment's value; NULL stays NULL.
  public static func += (left: inout Self, right: String) { left = left + right }

  /// Appends to an assignment's value; NULL where one of them is.
  @_disfavoredOverload
  public static func += (left: inout Self, right: Self) { left = left + right }
}

// Generic and disfavoured, so that a literal beside text that can't be NULL is text that can't be either.
extension SQLExpression {
  /// This text and another; NULL where there is none.
  @_disfavoredOverload
  public static func + <Wrapped: TextValue>(
    left: Self, right: SQLExpression<Wrapped>
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.concatenate, right.node))
  }

  /// This text and another; NULL where there is none.
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
  /// The number of Unicode scalars up to the first NUL; NULL where there is no text.
  public var length: SQLExpression<Int?> { call("length") }
}

extension SQLExpression where Value: TextValue {
  /// A part of the text, in Unicode scalars. SQLite takes a NUL for the end of the text.
  ///
  /// - Parameters:
  ///   - start: where it begins: 0 is the first scalar, -1 the last one.
  ///   - count: its length; nil for all that follows.
  public func substring(from start: Int, count: Int? = nil) -> Self {
    // SQLite counts from one, and adds both by 32 bits. No text is longer than this.
    let longest = 1_000_000_000
    let start = Swift.max(-longest, Swift.min(start, longest))
    let count = count.map { Swift.min($0, longest) }
    let first = SQLFragment(value: start < 0 ? start : start + 1)
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
    let place: SQLFragment = "nullif(\(.call("instr", node.computed, part)), 0) - 1"
    return SQLExpression<Int?>(SQLFragment(.form(.position, [node, part], place), .sum))
  }
}

extension String {
  /// The smallest text that is greater than all that begin with this one; nil if there is none.
  fileprivate var firstBeyondItsExtensions: String? {
    var scalars = Array(unicodeScalars)
    while let last = scalars.popLast() {
      // The surrogates are no scalars.
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
