import LarderSQLite

/// A table as a value: what a record or ``init(_:_:constraints:indexes:options:)`` declares, or what
/// a database has (``Schema/init(_:)``).
///
/// Expressions are SQL, as they were written. Two tables are compared by
/// ``differences(from:)``, which knows what means the same in other words.
public struct TableSchema: Hashable, Sendable {
  /// The table's name.
  public let name: String
  /// The columns in order.
  public let columns: [ColumnSchema]
  /// The names of the primary key's columns in order; empty if there is none.
  public let primaryKey: [String]
  /// Whether the key is [AUTOINCREMENT](https://www.sqlite.org/autoinc.html).
  public let isAutoincrement: Bool
  /// The columns of each UNIQUE constraint.
  public var uniqueConstraints: [[String]] { uniqueTerms.map { $0.map(\.column) } }
  /// The expression of each CHECK constraint, those of columns first.
  public let checks: [String]
  /// The foreign keys, those of columns first.
  public let foreignKeys: [ForeignKeySchema]
  /// The indexes that CREATE INDEX makes.
  public internal(set) var indexes: [IndexSchema]
  /// Whether it is [STRICT](https://www.sqlite.org/stricttables.html).
  public let isStrict: Bool
  /// Whether it is [WITHOUT ROWID](https://www.sqlite.org/withoutrowid.html).
  public let isWithoutRowID: Bool
  /// The CREATE TABLE, without the indexes.
  public let sql: String
  /// The column that is the row id by another name: an INTEGER that is the whole key, with two
  /// exceptions; see [INTEGER PRIMARY KEY](https://www.sqlite.org/lang_createtable.html#rowid).
  let rowIDColumn: String?
  /// The primary key with its collations and orders.
  let primaryKeyTerms: [KeyTerm]
  /// The UNIQUE constraints with theirs.
  let uniqueTerms: [[KeyTerm]]
  /// What happens, other than ABORT, to rows that break a constraint.
  let conflictClauses: [ConflictClause]

  /// The statements that make it: one for the table, one for each index.
  public var createSQL: [String] { [sql] + indexes.map(\.sql) }
}

/// A column of a ``TableSchema``.
public struct ColumnSchema: Hashable, Sendable {
  /// Its name.
  public let name: String
  /// The declared type; empty for a column that takes all.
  public let type: String
  /// Whether NULL is ruled out.
  public let isNotNull: Bool
  /// What stands behind DEFAULT, if anything.
  public let defaultSQL: String?
  /// The collation that is declared, if any.
  public let collation: String?
  /// The expression that it is computed from, if it is.
  public let generatedSQL: String?
  /// Whether what is computed is stored when the row is written.
  public let isStored: Bool
  /// What stands in CREATE TABLE.
  public let sql: String

  /// The most of it in always the same words.
  var summary: String {
    [
      name.quotedIdentifier, type, isNotNull ? "NOT NULL" : "",
      defaultSQL.map { "DEFAULT \($0)" } ?? "", generatedSQL == nil ? "" : "GENERATED ALWAYS",
    ].filter { !$0.isEmpty }.joined(separator: " ")
  }
}

/// An index of a ``TableSchema``.
public struct IndexSchema: Hashable, Sendable {
  /// Its name.
  public let name: String
  /// What is indexed, as SQL: columns, or expressions, with their collation and order.
  public let terms: [String]
  /// Whether its rows are unique.
  public let isUnique: Bool
  /// What stands behind WHERE, if anything.
  public let condition: String?
  /// The CREATE INDEX.
  public let sql: String
}

/// A foreign key of a ``TableSchema``.
public struct ForeignKeySchema: Hashable, Sendable {
  /// The columns of this table.
  public let columns: [String]
  /// The table that they refer to.
  public let referencedTable: String
  /// The columns there; empty for its primary key.
  public let referencedColumns: [String]
  /// What happens when the row there is deleted.
  public let onDelete: ForeignKeyAction
  /// What happens when the key there changes.
  public let onUpdate: ForeignKeyAction
  /// Whether it is checked when the transaction commits, rather than at once.
  public let isDeferred: Bool

  /// The clause without the columns that refer.
  var clause: String {
    var text = "REFERENCES \(referencedTable.quotedIdentifier)"
    if !referencedColumns.isEmpty { text += " (\(referencedColumns.identifierList))" }
    if onDelete != .noAction { text += " ON DELETE \(onDelete.rawValue)" }
    if onUpdate != .noAction { text += " ON UPDATE \(onUpdate.rawValue)" }
    return text + (isDeferred ? " DEFERRABLE INITIALLY DEFERRED" : "")
  }

  var sql: String { "(\(columns.identifierList)) \(clause)" }
}

extension TableSchema {
  func column(_ name: String) -> ColumnSchema? {
    columns.first { $0.name.foldedName == name.foldedName }
  }

  /// A name of the row id that no column has; nil if there is none.
  var rowIDName: String? { rowIDNames.first }

  /// The names of the row id that no column has.
  var rowIDNames: [String] {
    isWithoutRowID ? [] : ["rowid", "_rowid_", "oid"].filter { column($0) == nil }
  }

  /// What follows the parentheses of CREATE TABLE.
  var optionsText: String? {
    let options = (isStrict ? ["STRICT"] : []) + (isWithoutRowID ? ["WITHOUT ROWID"] : [])
    return options.isEmpty ? nil : options.joined(separator: ", ")
  }
}

extension [String] {
  /// Names in double quotes, with commas.
  var identifierList: String { map(\.quotedIdentifier).joined(separator: ", ") }
}
