/// A table's schema as a value: as a record or a list of columns declares it, or as a database has it.
///
/// Expressions are SQL, as they were written. `differences(from:)` compares two tables, and knows which
/// spellings mean the same.
public struct TableSchema: Hashable, Sendable {
  /// The table's name.
  public let name: String
  /// The schema (namespace) that a declaration names, or from which the table was read by its name; nil for
  /// the first one of the search path, or SQLite's `main`.
  public package(set) var schema: String?
  /// Whether the named schema is the first one of the search path.
  package var isInCurrentSchema = false
  /// The columns in order.
  public package(set) var columns: [ColumnSchema] = []
  /// Whether the key is [AUTOINCREMENT](https://www.sqlite.org/autoinc.html).
  package var isAutoincrement = false
  /// The expression of each CHECK constraint, those of columns first.
  package var checks: [String] = []
  /// The foreign keys, those of columns first.
  public package(set) var foreignKeys: [ForeignKeySchema] = []
  /// The indexes that CREATE INDEX makes.
  public package(set) var indexes: [IndexSchema] = []
  /// Whether the table is [STRICT](https://www.sqlite.org/stricttables.html).
  public package(set) var isStrict = false
  /// Whether the table is [WITHOUT ROWID](https://www.sqlite.org/withoutrowid.html).
  public package(set) var isWithoutRowID = false
  /// The CREATE TABLE, without the indexes.
  public package(set) var sql: String
  /// The column that is an alias of the row id: an INTEGER that is the whole key, with two exceptions; see
  /// [INTEGER PRIMARY KEY](https://www.sqlite.org/lang_createtable.html#rowid).
  package var rowIDColumn: String?
  /// The primary key with its collations and orders, as SQL.
  package var primaryKeyTerms: [String] = []
  /// The table constraints, as they stand after the columns in CREATE TABLE.
  package var constraints: [String] = []
  package var uniqueIndexes: [IndexSchema] = []
  /// The ON CONFLICT clauses of constraints, except ABORT.
  package var conflictClauses: [ConflictClause] = []
  /// The engine in whose SQL the table is written; nil for SQLite. Other engines compare names exactly.
  package var engine: String?
  /// The CREATE TABLE without foreign keys, for an engine that requires the referenced tables to exist.
  package var unreferencedSQL: String?
  /// The names of the CHECK constraints, if the engine has given them some.
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
  package var uniqueConstraints: [[String]] { uniqueIndexes.map { $0.columns.compactMap { $0 } } }
  /// The statements that create the table and its indexes: one for the table, one for each index.
  public var statements: [String] { [sql] + indexes.map(\.sql) }

  package func column(_ name: String) -> ColumnSchema? {
    columns.first { engine == nil ? $0.name.foldedName == name.foldedName : $0.name == name }
  }

  package var quotedName: String { name.quoted(in: schema) }
  /// The name for messages, behind that of the schema, if there is one.
  package var fullName: String { schema.map { "\($0).\(name)" } ?? name }

  /// A name as it is compared: regardless of case, or exactly on another engine.
  package func key(_ name: String) -> [UInt8] { engine == nil ? name.foldedName : Array(name.utf8) }

  package var rowIDNames: [String] {
    isWithoutRowID || engine != nil ? [] : ["rowid", "_rowid_", "oid"].filter { column($0) == nil }
  }
}

extension TableSchema {
  /// Writes the CREATE TABLE anew, from the columns and constraints.
  package mutating func writeStatement() {
    sql = Self.statement(name, in: schema, columns.map(\.sql) + constraints)
  }

  /// Writes a CREATE TABLE statement.
  ///
  /// - Parameter definitions: those of the columns, then those of the constraints.
  package static func statement(
    _ name: String, in schema: String? = nil, _ definitions: [String], isTemporary: Bool = false
  ) -> String {
    let lines = definitions.map { "  " + $0 }.joined(separator: ",\n")
    return "CREATE \(isTemporary ? "TEMP " : "")TABLE \(name.quoted(in: schema)) (\n\(lines)\n)"
  }
}

/// A column of a table or view.
public struct ColumnSchema: Hashable, Sendable {
  /// The column's name.
  public package(set) var name: String
  /// The declared type; empty for a column that takes values of any type.
  public package(set) var type = ""
  /// Whether the column is declared NOT NULL.
  public package(set) var isNotNull = false
  /// The DEFAULT expression, if any.
  public package(set) var `default`: String?
  /// The column's position in the primary key, from 1; 0 if it isn't a part of it.
  public package(set) var primaryKeyPosition = 0
  /// The declared collation, if any.
  public package(set) var collation: String?
  /// The expression of a generated column; nil for other columns.
  public package(set) var generated: String?
  /// Whether a generated column is STORED, rather than VIRTUAL.
  package var isStored = false
  /// The column's definition in CREATE TABLE; only the name if there is none, as for views.
  public package(set) var sql: String
  package var checks: [String] = []
  package var isReference = false
  /// The clause by which another engine numbers rows, such as GENERATED ALWAYS AS IDENTITY; empty for none.
  package var identity = ""
  /// Whether another engine numbers rows by a sequence of the column's own in its default, as `serial` does.
  package var isSerial = false
  /// The type that a domain is made of; nil for a column whose type isn't a domain.
  package var baseType: String?
  package var isNumbered: Bool { !identity.isEmpty || isSerial }

  package init(name: String, sql: String? = nil) {
    self.name = name
    self.sql = sql ?? name.quotedIdentifier
  }
}

/// An index of a table.
public struct IndexSchema: Hashable, Sendable {
  /// The origin of an index: a statement, or a constraint.
  public enum Kind: String, Hashable, Sendable, DatabaseValueConvertible {
    /// CREATE INDEX.
    case created = "c"
    /// A UNIQUE constraint.
    case unique = "u"
    /// A PRIMARY KEY.
    case primaryKey = "pk"
  }

  /// The index's name; empty for that of a declared constraint, which SQLite names when it makes the table.
  public let name: String
  /// The indexed columns in order; nil stands for an expression.
  public let columns: [String?]
  /// The indexed columns or expressions as SQL, with their collation and order.
  package let terms: [String]
  /// Whether the index is UNIQUE.
  public let isUnique: Bool
  /// The WHERE condition of a [partial index](https://www.sqlite.org/partialindex.html), if any.
  public let condition: String?
  /// The origin of the index.
  public let kind: Kind
  /// The CREATE INDEX statement, or the constraint.
  public package(set) var sql: String
  /// False for a server's index that no record can declare: of another method than B-tree, of another operator
  /// class than the type's own, with further columns (INCLUDE), or of an exclusion constraint.
  package var isDeclarable = true

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
  /// The referencing columns of this table.
  public package(set) var columns: [String]
  /// The referenced table.
  public let referencedTable: String
  /// The schema of the referenced table; nil for the first one of the search path.
  package var referencedSchema: String?
  /// Whether the named schema of the referenced table is the first one of the search path.
  package var refersToCurrentSchema = false
  /// The referenced columns; empty for the table's primary key.
  public package(set) var referencedColumns: [String]
  /// The action when the referenced row is deleted.
  public let onDelete: ForeignKeyAction
  /// The action when the referenced key changes.
  public let onUpdate: ForeignKeyAction
  /// Whether the key is checked when the transaction commits, rather than at once.
  package let isDeferred: Bool
  /// The name that the engine has given the key; nil for SQLite's.
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

/// The action on referencing rows when the referenced row is deleted or gets another key.
///
/// See [foreign key actions](https://www.sqlite.org/foreignkeys.html#fk_actions).
public enum ForeignKeyAction: String, Sendable {
  /// The change is refused, at the end of the statement or transaction.
  case noAction = "NO ACTION"
  /// The change is refused at once.
  case restrict = "RESTRICT"
  /// The referencing columns become NULL.
  case setNull = "SET NULL"
  /// The referencing columns get their default.
  case setDefault = "SET DEFAULT"
  /// The referencing rows are deleted, or get the new key.
  case cascade = "CASCADE"
}
