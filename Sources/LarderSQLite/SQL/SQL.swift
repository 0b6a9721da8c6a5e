/// SQL text together with the values that belong into it.
///
/// It is made from a literal. A value between `\(` and `)` is bound to a parameter and never becomes
/// part of the text, so that no input can change what the statement does:
///
/// ```swift
/// let name = "Robert'); DROP TABLE city;--"
/// try db.executeUpdate("INSERT INTO city (name) VALUES (\(name))")
/// // INSERT INTO city (name) VALUES (?)
/// ```
///
/// | Interpolation | becomes |
/// |---|---|
/// | `\(value)`, `\(optional)` | `?` |
/// | `\([1, 2, 3])` | `(?, ?, ?)`; `()` for an empty list, in which nothing is |
/// | `\(otherSQL)` | its text and its values |
/// | `\(table: [1, 2, 3])` | a table of these rows, one parameter however many they are; its column is `value` |
/// | `\(table: pairs, columns: "id", "name")` | the same of tuples |
/// | `\(identifier: name)` | the name of a table or column in double quotes |
///
/// A `String` that is only known at run time is no SQL; ``init(raw:)`` makes it one, for the rare
/// case that needs it.
public struct SQL: Sendable {
  /// The statement or fragment, with `?` where an interpolated value stood.
  public package(set) var text: String
  /// The interpolated values in order.
  @usableFromInline package var values: [(any DatabaseValueConvertible)?] = []
  /// False for text that is not likely to come again in the same form.
  package var isCacheable = true

  /// Lists longer than this make text of their own for every length. Compiling it anew costs
  /// little beside binding the values, but would drive better statements from the cache.
  static let longestCachedList = 16

  /// SQL from text that was put together at run time.
  ///
  /// Nothing is checked or escaped: text from outside of the program must not get here.
  public init(raw text: String) { self.text = text }

  /// The interpolated values in order.
  public var arguments: Arguments { Arguments(values) }
}

extension SQL: ExpressibleByStringInterpolation {
  /// SQL without values.
  @inlinable
  public init(stringLiteral value: String) { self.init(raw: value) }

  /// SQL with bound values.
  public init(stringInterpolation: Interpolation) { self = stringInterpolation.sql }

  /// Gathers text and values; see ``SQL`` for what may stand in an interpolation.
  @_documentation(visibility: internal)
  public struct Interpolation: StringInterpolationProtocol, Sendable {
    var sql: SQL

    /// Begins an empty text.
    public init(literalCapacity: Int, interpolationCount: Int) {
      sql = SQL(raw: "")
      sql.text.reserveCapacity(literalCapacity + 2 * interpolationCount)
      sql.values.reserveCapacity(interpolationCount)
    }

    /// Text of the literal.
    @_documentation(visibility: internal)
    public mutating func appendLiteral(_ literal: String) { sql.text += literal }

    /// A value, which is bound.
    @_documentation(visibility: internal)
    public mutating func appendInterpolation<T: DatabaseValueConvertible>(_ value: T) {
      append(value)
    }

    /// A value of any type, or NULL, which is bound.
    @_documentation(visibility: internal)
    public mutating func appendInterpolation(_ value: (any DatabaseValueConvertible)?) {
      append(value)
    }

    /// A list of integers in parentheses, each of which is bound: what `[1, 2, 3]` is meant to be.
    @_documentation(visibility: internal)
    public mutating func appendInterpolation(_ list: [Int]) { append(list: list) }

    /// A list of values in parentheses, each of which is bound.
    @_disfavoredOverload  // [UInt8] and Data are values
    @_documentation(visibility: internal)
    public mutating func appendInterpolation<S: Sequence>(_ list: S)
    where S.Element: DatabaseValueConvertible {
      append(list: list)
    }

    private mutating func append<S: Sequence>(list: S) where S.Element: DatabaseValueConvertible {
      let start = sql.values.count
      sql.text += "("
      for value in list {
        if sql.values.count > start { sql.text += ", " }
        append(value)
      }
      sql.text += ")"
      if sql.values.count - start > SQL.longestCachedList { sql.isCacheable = false }
    }

    /// Another piece of SQL with its values.
    @_documentation(visibility: internal)
    public mutating func appendInterpolation(_ other: SQL) {
      sql.text += other.text
      sql.values += other.values
      sql.isCacheable = sql.isCacheable && other.isCacheable
    }

    /// The name of a table, column or the like in double quotes. It can't be bound, since it
    /// decides what is compiled.
    @_documentation(visibility: internal)
    public mutating func appendInterpolation(identifier: String) {
      sql.text += identifier.quotedIdentifier
    }

    mutating func append(_ value: (any DatabaseValueConvertible)?) {
      sql.text += "?"
      sql.values.append(value)
    }
  }
}

extension SQL: CustomStringConvertible {
  /// The text, without the values.
  public var description: String { text }
}
