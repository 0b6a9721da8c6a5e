/// SQL text together with the values that belong to it.
///
/// It is made from a string literal. A value between `\(` and `)` is bound to a parameter and never becomes
/// part of the text, so no input can change what the statement does:
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
/// | `\([1, 2, 3])` | `(?, ?, ?)`; `()` for an empty list, which contains nothing |
/// | `\(otherSQL)` | its text and its values |
/// | `\(table: [1, 2, 3])` | a table of these rows, bound as one parameter; its column is `value` |
/// | `\(table: pairs, columns: "id", "name")` | a table of tuples, with these columns |
/// | `\(identifier: name)` | the name of a table or column in double quotes |
///
/// A `String` that is only known at run time isn't SQL; ``init(raw:)`` converts it, for the rare case that
/// needs it.
public struct SQL: Sendable {
  /// The statement or fragment, with `?` in place of each interpolated value.
  public package(set) var text: String
  /// The interpolated values, in order.
  @usableFromInline package var values: [(any DatabaseValueConvertible)?] = []
  package var isCacheable = true

  /// The longest list whose text is cached. Every length has its own text. Compiling a longer one again costs
  /// little compared with binding its values, whereas caching it would evict more useful statements.
  static let longestCachedList = 16

  /// Creates SQL from text that was assembled at run time.
  ///
  /// Nothing is checked or escaped: text from outside of the program must not get here.
  public init(raw text: String) { self.text = text }

  /// The interpolated values, in order.
  public var arguments: Arguments { Arguments(values) }
}

extension SQL: ExpressibleByStringInterpolation {
  /// Creates SQL without values.
  @inlinable
  public init(stringLiteral value: String) { self.init(raw: value) }

  /// Creates SQL with bound values.
  public init(stringInterpolation: Interpolation) { self = stringInterpolation.sql }

  /// The builder of interpolated SQL; see ``SQL`` for the supported interpolations.
  @_documentation(visibility: internal)
  public struct Interpolation: StringInterpolationProtocol, Sendable {
    var sql: SQL

    /// Creates an empty text.
    public init(literalCapacity: Int, interpolationCount: Int) {
      sql = SQL(raw: "")
      sql.text.reserveCapacity(literalCapacity + 2 * interpolationCount)
      sql.values.reserveCapacity(interpolationCount)
    }

    /// Appends a part of the literal.
    @_documentation(visibility: internal)
    public mutating func appendLiteral(_ literal: String) { sql.text += literal }

    /// Appends a placeholder for a value.
    @_documentation(visibility: internal)
    public mutating func appendInterpolation<T: DatabaseValueConvertible>(_ value: T) {
      append(value)
    }

    /// Appends a placeholder for a value of any type, or NULL.
    @_documentation(visibility: internal)
    public mutating func appendInterpolation(_ value: (any DatabaseValueConvertible)?) {
      append(value)
    }

    /// Appends a list of integers in parentheses, each of them bound. An array literal means this overload.
    @_documentation(visibility: internal)
    public mutating func appendInterpolation(_ list: [Int]) { append(list: list) }

    /// Appends a list of values in parentheses, each of them bound.
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

    /// Appends another piece of SQL with its values.
    @_documentation(visibility: internal)
    public mutating func appendInterpolation(_ other: SQL) {
      sql.text += other.text
      sql.values += other.values
      sql.isCacheable = sql.isCacheable && other.isCacheable
    }

    /// Appends the name of a table, column or the like in double quotes. Names can't be bound, since they
    /// decide what is compiled.
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
