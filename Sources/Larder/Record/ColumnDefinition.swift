/// What a table knows of a column, without the property.
public struct ColumnDefinition: Sendable {
  /// The column's name.
  public let name: String
  /// How its values are stored.
  public let type: ColumnType
  /// Whether it is the primary key or a part of it.
  public internal(set) var isPrimaryKey = false
  var isAutoincrement = false
  var isUnique = false
  var isIndexed = false
  var isReadOnly = false
  /// The greatest version that the property's type, and an integer of SQLite's, has; nil for a column
  /// that is no version.
  var greatestVersion: Int64?
  var isVersion: Bool { greatestVersion != nil }
  var collation: String?
  var checks: [SQL] = []
  var defaultSQL: SQL?
  var generated: Generated?
  var reference: Reference?
  /// The default for rows that are written without this column, as a connection stores it.
  var defaultValue: (@Sendable (DateFormat) throws -> DatabaseValue)?

  /// Gives a value of the property's type the column's own coding, if it has one.
  var code: (@Sendable (any DatabaseValueConvertible) -> any DatabaseValueConvertible)?

  struct Generated: Sendable {
    let expression: SQL
    let isStored: Bool
  }

  /// A foreign key. The other table is looked at late: it may refer back to this one.
  struct Reference: Sendable {
    let target: @Sendable () -> (table: String, columns: [String])
    let onDelete: ForeignKeyAction
    let onUpdate: ForeignKeyAction
    let isDeferred: Bool
  }

  /// Whether statements write it.
  var isWritten: Bool { generated == nil && !isReadOnly }
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
