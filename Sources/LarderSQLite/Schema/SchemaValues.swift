/// One object of the schema: a row of [sqlite_schema](https://www.sqlite.org/schematab.html).
public struct SchemaEntry: Hashable, Sendable {
  /// What it is.
  public enum Kind: String, Hashable, Sendable, DatabaseValueConvertible {
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    case table, index, view, trigger
  }

  /// What it is.
  public let kind: Kind
  /// Its name.
  public let name: String
  /// The table that it belongs to; its own name for tables and views.
  public let table: String
  /// The statement that made it; nil for the indexes that SQLite makes by itself.
  public let sql: String?

  package init(kind: Kind, name: String, table: String, sql: String?) {
    self.kind = kind
    self.name = name
    self.table = table
    self.sql = sql
  }
}

/// A column of a table or view.
public struct TableColumn: Hashable, Sendable {
  /// Its name.
  public let name: String
  /// The type as it was declared, or an empty text.
  public let declaredType: String
  /// Whether it has a NOT NULL constraint.
  public let isNotNull: Bool
  /// Its default as SQL, or nil.
  public let defaultSQL: String?
  /// Its place from 1 in the primary key, or 0 if it isn't a part of it.
  public let primaryKeyPosition: Int
  /// Whether it is computed from others.
  public let isGenerated: Bool
  /// Whether what is computed is stored when the row is written.
  public let isStored: Bool
}

/// An index of a table.
public struct TableIndex: Hashable, Sendable {
  /// What made an index.
  public enum Origin: String, Hashable, Sendable, DatabaseValueConvertible {
    /// CREATE INDEX.
    case created = "c"
    /// A UNIQUE constraint.
    case unique = "u"
    /// A PRIMARY KEY.
    case primaryKey = "pk"
  }

  /// Its name.
  public let name: String
  /// The indexed columns in order; nil stands for an expression.
  public let columns: [String?]
  /// Whether its rows are unique.
  public let isUnique: Bool
  /// Whether it has a WHERE clause.
  public let isPartial: Bool
  /// What made it.
  public let origin: Origin
}

/// A foreign key of a table.
public struct ForeignKey: Hashable, Sendable {
  /// The columns of this table.
  public let columns: [String]
  /// The table that they refer to.
  public let referencedTable: String
  /// The columns there; empty for its primary key.
  public let referencedColumns: [String]
  /// What happens when the key there changes, such as `CASCADE`.
  public let onUpdate: String
  /// What happens when the row there is deleted, such as `SET NULL`.
  public let onDelete: String
}
