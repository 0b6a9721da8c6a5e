import LarderSQLite

/// How an engine writes SQL: what differs from the form in which fragments write themselves, which
/// is SQLite's.
///
/// A fragment says what is meant (null-safe equality, membership in a list, a limit, a type, a
/// function by its name) and its operands are data; a dialect looks at these, and returns another
/// fragment where its engine says it otherwise. Nothing is ever read back from text.
package protocol Dialect: Sendable {
  /// The placeholder of the value with this number, counted from 1: `$1` where nothing is said.
  func placeholder(_ number: Int) -> String

  /// What stands behind the placeholder of a value, so that the engine doesn't have to guess its type.
  func type(of value: any DatabaseValueConvertible) -> StaticString?

  /// What stands before the placeholder of a value, where ``type(of:)`` closes it.
  func opening(of value: any DatabaseValueConvertible) -> StaticString?

  /// Whether a value beside a column, or assigned to it, has that column's type, so that nothing is said of it.
  func takesType(
    of column: SQLFragment, _ operation: SQLOperator, _ value: any DatabaseValueConvertible
  ) -> Bool

  /// A fragment as it is written where it is a condition: where NULL is as good as false.
  func condition(_ fragment: SQLFragment) -> SQLFragment

  /// What is written in the place of a fragment; nil for the fragment as it is. It isn't asked about names and
  /// values, and not again about what it returned, but about the parts of that.
  func rewrite(_ fragment: SQLFragment) -> SQLFragment?

  /// The name of a column's type.
  func typeName(of type: ColumnType) -> String

  /// A value as a literal for a column of this type. Throws ``UnsupportedByEngine`` where there is none.
  func literal(of value: DatabaseValue, as type: ColumnType) throws -> String

  /// What is other in the definitions of tables; nil for SQLite.
  var definitions: (any DefinitionDialect)? { get }

  /// Whether a value that comes again is the same parameter: engines that know a statement's parameters by
  /// their numbers only see then that an expression is the same as another.
  var reusesPlaceholders: Bool { get }
}

extension Dialect {
  package func placeholder(_ number: Int) -> String {
    number < placeholders.count ? placeholders[number] : "$\(number)"
  }

  package var reusesPlaceholders: Bool { false }
  package func type(of value: any DatabaseValueConvertible) -> StaticString? { nil }
  package func opening(of value: any DatabaseValueConvertible) -> StaticString? { nil }
  package func takesType(
    of column: SQLFragment, _ operation: SQLOperator, _ value: any DatabaseValueConvertible
  ) -> Bool { false }
  package func condition(_ fragment: SQLFragment) -> SQLFragment { fragment }
  package var definitions: (any DefinitionDialect)? { nil }
  package func literal(of value: DatabaseValue, as type: ColumnType) throws -> String {
    try value.literal
  }
}

/// The first placeholders, which each statement has.
private let placeholders = (0..<64).map { "$\($0)" }

/// What an engine other than SQLite says of the definition of tables.
package protocol DefinitionDialect: Sendable {
  /// The engine's name.
  var engine: String { get }
  /// The type of a column that numbers its rows.
  var rowIDType: String { get }
  /// Throws where a column can't be had, or its name.
  func check(
    column name: String, _ type: ColumnType, collation: String?, of table: String
  ) throws
  /// Throws where nothing can have this name.
  func check(name: String) throws
  /// What an index has in its list for a column or expression, so that it has the order of queries.
  func indexTerm(_ term: String, isNullable: Bool) -> String
  /// The statement that keeps others from a table until the end of the transaction.
  func lock(_ table: String) -> String
  /// The query of a table's triggers that are on, by its name: their names, and the words that turn them on.
  var enabledTriggers: String { get }
  /// The statement that makes a column number rows after those that are there.
  func renumber(_ table: String, column: String) -> String
}

/// SQLite's own dialect.
///
/// See [SQL As Understood By SQLite](https://www.sqlite.org/lang.html).
package struct SQLiteDialect: Dialect {
  package init() {}

  package func placeholder(_ number: Int) -> String { "?" }

  package func rewrite(_ fragment: SQLFragment) -> SQLFragment? { nil }

  package func typeName(of type: ColumnType) -> String { type.name }
}

extension ColumnType {
  /// SQLite's name of the type; see [STRICT tables](https://www.sqlite.org/stricttables.html). Dates
  /// are stored as the connection's format says, which the type doesn't know.
  var name: String {
    switch kind {
    case .integer, .bool: "INTEGER"
    case .real: "REAL"
    case .text, .decimal: "TEXT"
    case .blob, .uuid: "BLOB"
    case .any, .date: "ANY"
    }
  }
}
