import LarderSQLite

/// How an engine writes SQL where that differs from SQLite's, in which fragments write themselves.
///
/// A fragment says what is meant (null-safe equality, membership in a list, a limit, a type, a
/// function by its name) and its operands are data; a dialect looks at these, and returns another
/// fragment where its engine says it otherwise. Nothing is ever read back from text.
package protocol Dialect: Sendable {
  /// The placeholder of the value with this number, counted from 1: `$1` by default.
  func placeholder(_ number: Int) -> String

  /// The text behind a value's placeholder that tells the engine its type; nil for none.
  func type(of value: any DatabaseValueConvertible) -> StaticString?

  /// The text before a value's placeholder, if that of ``type(of:)`` closes it; nil for none.
  func opening(of value: any DatabaseValueConvertible) -> StaticString?

  /// Whether a value beside a column, or assigned to it, has that column's type,
  /// so that the type needn't be written.
  func takesType(
    of column: SQLFragment, _ operation: SQLOperator, _ value: any DatabaseValueConvertible
  ) -> Bool

  /// A fragment as it is written as a condition, in which NULL counts as false.
  func condition(_ fragment: SQLFragment) -> SQLFragment

  /// The replacement of a fragment; nil to write it as it is. The method isn't called for names and values,
  /// nor for the replacement that it returned, but for the parts of that.
  func rewrite(_ fragment: SQLFragment) -> SQLFragment?

  /// The name of a column's type.
  func typeName(of type: ColumnType) -> String

  /// The name of the type of a column that stores values in a form; ``typeName(of:)`` by default.
  func typeName(of type: ColumnType, storedAs form: StoredForm) -> String

  /// A value as a literal for a column of this type. Throws ``UnsupportedByEngine`` where there is none.
  func literal(of value: DatabaseValue, as type: ColumnType) throws -> String

  /// A value as a literal for a column that stores values in a form; ``literal(of:as:)`` by default.
  func literal(of value: DatabaseValue, as type: ColumnType, storedAs form: StoredForm) throws
    -> String

  /// The differences in the definitions of tables; nil for SQLite.
  var definitions: (any DefinitionDialect)? { get }

  /// Whether a repeated value reuses its parameter. An engine that knows parameters only by their numbers
  /// recognizes two equal expressions only then.
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
  package func typeName(of type: ColumnType, storedAs form: StoredForm) -> String {
    typeName(of: type)
  }
  package func literal(of value: DatabaseValue, as type: ColumnType) throws -> String {
    try value.literal
  }
  package func literal(
    of value: DatabaseValue, as type: ColumnType, storedAs form: StoredForm
  ) throws -> String { try literal(of: value, as: type) }
}

/// The first placeholders, which nearly every statement needs.
private let placeholders = (0..<64).map { "$\($0)" }

/// How an engine other than SQLite defines tables.
package protocol DefinitionDialect: Sendable {
  /// The engine's name.
  var engine: String { get }
  /// The type of a column that numbers its rows.
  var rowIDType: String { get }
  /// Throws if the engine can't have such a column, or its name.
  ///
  /// - Parameter isKey: whether the column is a part of the primary key, or a foreign key.
  func check(
    column name: String, _ type: ColumnType, collation: String?, isKey: Bool, of table: String
  ) throws
  /// A column as an index has it, so that texts are equal that are equal by the collation; nil if there is none.
  func folded(_ column: String, by collation: String?) -> String?
  /// Throws if nothing can have this name.
  func check(name: String) throws
  /// The term of an index for a column or expression, so that the index has the order of queries.
  func indexTerm(_ term: String, isNullable: Bool) -> String
  /// A declared table in the engine's own spelling.
  ///
  /// - Parameter draft: the statements that make the same as a temporary table.
  func spelled(_ declared: TableSchema, draft: [String], in db: Database) throws -> TableSchema
  /// Changes a table into another one, and returns the number of its rows. Called in a transaction.
  ///
  /// - Parameters:
  ///   - copying: expressions for columns of the new table, by name.
  ///   - losing: what may get lost.
  func alter(
    _ db: Database, to new: TableSchema, copying: [String: SQL], losing: RebuildLosses
  ) throws -> Int
  /// Runs a closure while the table's triggers aren't fired. Called in a transaction.
  func withoutTriggers(
    of table: TableSchema, in db: Database, _ body: () throws -> Void
  ) throws
  /// Creates an enumeration type with these values in their order, or adds those that it lacks.
  func createEnum(_ name: String, _ values: [String], in db: Database) throws
  /// The table of the migrations' history: its quoted name, the search path, and whether it is there.
  func historyTable(
    in db: Database
  ) throws -> (name: String, searchPath: String, isThere: Bool)
  /// The migrations in the history's table, the table's definition as text (columns, indexes, triggers and
  /// rules), and the search path.
  func history(
    in table: String, _ db: Database
  ) throws -> (
    applied: [(name: String, checksum: String?)], objects: String?, searchPath: String
  )
  /// Runs a closure while the current schema is empty and others don't exist, and then undoes everything.
  /// Called in a transaction.
  ///
  /// - Parameter others: the names of schemas that the closure makes.
  func inEmptySchema<T>(
    _ db: Database, besides others: [String], _ body: (Database) throws -> T
  ) throws -> T
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
