import LarderSQLite

/// Text that may be NULL or not: String and its Optional.
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
    let match: SQLExpression<Bool> = infix(" LIKE ", SQL(bound: pattern), .equality)
    guard let escape else { return match }
    return SQLExpression<Bool>(
      SQL(match.sql, " ESCAPE ", SQL(bound: String(escape))), .equality)
  }

  /// Whether it matches a pattern in which `*` stands for any text, `?` for any character and
  /// `[a-z]` for one of several.
  public func glob(_ pattern: String) -> SQLExpression<Bool> {
    infix(" GLOB ", SQL(bound: pattern), .equality)
  }

  /// Whether it begins with a text: a range of the column's order, for which SQLite uses an index.
  /// After ``collate(_:)``, whether its beginning equals the text by that collation.
  public func hasPrefix(_ prefix: String) -> SQLExpression<Bool> {
    // The texts that begin with one are a range only byte by byte.
    if precedence == .collate {
      return part("1, ", prefix.unicodeScalars.count, equals: prefix)
    }
    // In the order of a column that ignores case, the range would be another one.
    func exactly(_ text: String) -> SQL { SQL("", SQL(bound: text), " COLLATE BINARY") }
    let start: SQLExpression<Bool> = infix(" >= ", exactly(prefix), .comparison)
    guard let end = prefix.firstBeyondItsExtensions else { return start }
    let limit: SQLExpression<Bool> = infix(" < ", exactly(end), .comparison)
    return start && limit
  }

  /// Whether it ends with a text, byte by byte; after ``collate(_:)``, by that collation, up to the
  /// first NUL.
  public func hasSuffix(_ suffix: String) -> SQLExpression<Bool> {
    // The last 0 characters would be all.
    if suffix.isEmpty { return hasPrefix(suffix) }
    if precedence == .collate { return part("", -suffix.unicodeScalars.count, equals: suffix) }
    // Of text SQLite finds the end at the first NUL, of bytes where it is. They are those of the
    // database's encoding, which SQLite alone knows. A part of no bytes is NULL to it.
    return SQLExpression<Bool>(
      """
      coalesce(substr(CAST(\(sql) AS BLOB), -length(CAST(\(suffix) AS BLOB))), \(sql)) \
      = CAST(\(suffix) AS BLOB)
      """, .equality)
  }

  /// Whether a part of it, from where it begins to its length, equals a text.
  private func part(_ start: String, _ count: Int, equals text: String) -> SQLExpression<Bool> {
    SQLExpression<Bool>(
      SQL(
        SQL("substr(", SQL(sql, ", \(start)", SQL(bound: count)), ")"), " = ", SQL(bound: text)),
      .equality)
  }

  /// Whether a text is anywhere in it, byte by byte whatever the collation.
  public func contains(_ text: String) -> SQLExpression<Bool> {
    SQLExpression<Bool>(
      SQL("instr(", SQL(sql, ", ", SQL(bound: text)), ") > 0"), .comparison)
  }

  /// The letters of ASCII made small.
  public var lowercased: Self { Self(SQL("lower(", sql, ")"), isNullable: isNullable) }
  /// The letters of ASCII made capital.
  public var uppercased: Self { Self(SQL("upper(", sql, ")"), isNullable: isNullable) }

  /// The same text, compared by another collation: `NOCASE`, `RTRIM`, or one of the program's own.
  public func collate(_ name: String) -> Self {
    Self(
      SQL("", inside(.collate), " COLLATE \(name.quotedIdentifier)"), .collate,
      isNullable: isNullable)
  }

  /// This text and another; NULL where there is none.
  public static func + (left: Self, right: String) -> Self {
    SQLExpression(left.node.infix(" || ", right, .concatenation))
  }

  /// This text and another; NULL where one of them is.
  public static func + (left: Self, right: Self) -> Self {
    SQLExpression(left.node.infix(" || ", right.node, .concatenation))
  }

  /// Appends to an assignment's value; NULL stays NULL.
  public static func += (left: inout Self, right: String) { left = left + right }
}

extension SQLExpression where Value == String? {
  /// This text and another; NULL where there is none.
  public static func + (left: Self, right: SQLExpression<String>) -> Self {
    SQLExpression(left.node.infix(" || ", right.node, .concatenation))
  }

  /// This text and another; NULL where there is none.
  public static func + (left: SQLExpression<String>, right: Self) -> Self {
    SQLExpression(left.node.infix(" || ", right.node, .concatenation))
  }
}

extension SQLExpression where Value == String {
  /// The number of Unicode scalars up to the first NUL.
  public var length: SQLExpression<Int> {
    SQLExpression<Int>(SQL("length(", sql, ")"), isNullable: isNullable)
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
