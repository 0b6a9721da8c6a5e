/// A table as a value: what a record or a list of columns declares, or what a database has.
///
/// Expressions are SQL, as they were written. Two tables are compared by `differences(from:)`, which
/// knows what means the same in other words.
public struct TableSchema: Hashable, Sendable {
  /// The table's name.
  public let name: String
  /// The columns in order.
  public package(set) var columns: [ColumnSchema] = []
  /// Whether the key is [AUTOINCREMENT](https://www.sqlite.org/autoinc.html).
  public package(set) var isAutoincrement = false
  /// The expression of each CHECK constraint, those of columns first.
  public package(set) var checks: [String] = []
  /// The foreign keys, those of columns first.
  public package(set) var foreignKeys: [ForeignKeySchema] = []
  /// The indexes that CREATE INDEX makes.
  public package(set) var indexes: [IndexSchema] = []
  /// Whether it is [STRICT](https://www.sqlite.org/stricttables.html).
  public package(set) var isStrict = false
  /// Whether it is [WITHOUT ROWID](https://www.sqlite.org/withoutrowid.html).
  public package(set) var isWithoutRowID = false
  /// The CREATE TABLE, without the indexes.
  public package(set) var sql: String
  /// The column that is the row id by another name: an INTEGER that is the whole key, with two
  /// exceptions; see [INTEGER PRIMARY KEY](https://www.sqlite.org/lang_createtable.html#rowid).
  package var rowIDColumn: String?
  /// The primary key with its collations and orders, as SQL.
  package var primaryKeyTerms: [String] = []
  /// The constraints that stand behind the columns in CREATE TABLE, as they stand there.
  package var constraints: [String] = []
  /// The UNIQUE constraints.
  package var uniqueIndexes: [IndexSchema] = []
  /// What happens, other than ABORT, to rows that break a constraint.
  package var conflictClauses: [ConflictClause] = []
  /// The engine whose words it is written in; nil for SQLite's. Others compare names exactly.
  package var engine: String?
  /// The CREATE TABLE without foreign keys, where the engine wants the other tables to be there.
  package var unreferencedSQL: String?
  /// The names of the CHECK constraints, where the engine has given them some.
  package var checkNames: [String] = []

  package init(name: String, sql: String = "") {
    self.name = name
    self.sql = sql
  }

  /// The names of the primary key's columns in order; empty if there is none.
  public var primaryKey: [String] {
    columns.filter { $0.primaryKeyPosition > 0 }
      .sorted { $0.primaryKeyPosition < $1.primaryKeyPosition }.map(\.name)
  }
  /// The columns of each UNIQUE constraint.
  public var uniqueConstraints: [[String]] { uniqueIndexes.map { $0.columns.compactMap { $0 } } }
  /// The statements that make it: one for the table, one for each index.
  public var statements: [String] { [sql] + indexes.map(\.sql) }

  package func column(_ name: String) -> ColumnSchema? {
    columns.first {
      engine == nil ? $0.name.foldedName == name.foldedName : $0.name == name
    }
  }

  /// The names of the row id that no column has.
  package var rowIDNames: [String] {
    isWithoutRowID || engine != nil ? [] : ["rowid", "_rowid_", "oid"].filter { column($0) == nil }
  }
}

/// A column of a table or view.
public struct ColumnSchema: Hashable, Sendable {
  /// Its name.
  public package(set) var name: String
  /// The declared type; empty for a column that takes all.
  public package(set) var type = ""
  /// Whether NULL is ruled out by NOT NULL.
  public package(set) var isNotNull = false
  /// What stands behind DEFAULT, if anything.
  public package(set) var defaultSQL: String?
  /// Its place from 1 in the primary key, or 0 if it isn't a part of it.
  public package(set) var primaryKeyPosition = 0
  /// The collation that is declared, if any.
  public package(set) var collation: String?
  /// The expression that it is computed from, if it is.
  public package(set) var generatedSQL: String?
  /// Whether what is computed is stored when the row is written.
  public package(set) var isStored = false
  /// What stands in CREATE TABLE; the name alone where there is none, as for views.
  public package(set) var sql: String
  /// The CHECK constraints in its definition.
  package var checks: [String] = []
  /// Whether a foreign key stands in its definition.
  package var isReference = false
  /// What makes another engine than SQLite number the rows by it; empty for nothing.
  package var identity = ""

  package init(name: String, sql: String? = nil) {
    self.name = name
    self.sql = sql ?? name.quotedIdentifier
  }
}

/// An index of a table.
public struct IndexSchema: Hashable, Sendable {
  /// What makes an index.
  public enum Kind: String, Hashable, Sendable, DatabaseValueConvertible {
    /// CREATE INDEX.
    case created = "c"
    /// A UNIQUE constraint.
    case unique = "u"
    /// A PRIMARY KEY.
    case primaryKey = "pk"
  }

  /// Its name; empty for that of a constraint, which SQLite names when it makes the table.
  public let name: String
  /// The indexed columns in order; nil stands for an expression.
  public let columns: [String?]
  /// What is indexed, as SQL: columns, or expressions, with their collation and order.
  package let terms: [String]
  /// Whether its rows are unique.
  public let isUnique: Bool
  /// What stands behind WHERE, if anything; see
  /// [partial indexes](https://www.sqlite.org/partialindex.html).
  public let condition: String?
  /// What makes it.
  public let kind: Kind
  /// The CREATE INDEX, or the constraint.
  public package(set) var sql: String

  package init(
    name: String, columns: [String?], terms: [String], isUnique: Bool, condition: String?,
    sql: String
  ) {
    self.name = name
    self.columns = columns
    self.terms = terms
    self.isUnique = isUnique
    self.condition = condition
    kind = .created
    self.sql = sql
  }

  /// The index of a UNIQUE or PRIMARY KEY constraint.
  package init(
    constraint kind: Kind, name: String = "", columns: [String], terms: [String]? = nil
  ) {
    self.name = name
    self.columns = columns
    self.terms = terms ?? columns.map(\.quotedIdentifier)
    isUnique = true
    condition = nil
    self.kind = kind
    let word = kind == .primaryKey ? "PRIMARY KEY" : "UNIQUE"
    sql = "\(word) (\(self.terms.joined(separator: ", ")))"
  }
}

/// A foreign key of a table.
public struct ForeignKeySchema: Hashable, Sendable {
  /// The columns of this table.
  public package(set) var columns: [String]
  /// The table that they refer to.
  public let referencedTable: String
  /// The columns there; empty for its primary key.
  public package(set) var referencedColumns: [String]
  /// What happens when the row there is deleted.
  public let onDelete: ForeignKeyAction
  /// What happens when the key there changes.
  public let onUpdate: ForeignKeyAction
  /// Whether it is checked when the transaction commits, rather than at once.
  public let isDeferred: Bool
  /// The name that the engine has given it; nil for SQLite's.
  package let name: String?

  package init(
    columns: [String], referencedTable: String, referencedColumns: [String],
    onDelete: ForeignKeyAction, onUpdate: ForeignKeyAction, isDeferred: Bool, name: String? = nil
  ) {
    self.name = name
    self.columns = columns
    self.referencedTable = referencedTable
    self.referencedColumns = referencedColumns
    self.onDelete = onDelete
    self.onUpdate = onUpdate
    self.isDeferred = isDeferred
  }
}

/// What happens to rows whose foreign key refers to a row that is deleted, or gets another key.
///
/// See [foreign key actions](https://www.sqlite.org/foreignkeys.html#fk_actions).
public enum ForeignKeyAction: String, Sendable {
  /// The change is refused, at the end of the statement or transaction.
  case noAction = "NO ACTION"
  /// The change is refused at once.
  case restrict = "RESTRICT"
  /// They get NULL.
  case setNull = "SET NULL"
  /// They get the column's default.
  case setDefault = "SET DEFAULT"
  /// They are deleted, or get the new key.
  case cascade = "CASCADE"
}
