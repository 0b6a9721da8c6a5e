import LarderSQLite

/// The declaration of a column, without the property. It becomes a ``LarderSQLite/ColumnSchema`` where
/// the format of a connection's dates is known.
public struct ColumnDefinition: Sendable {
  /// The column's name.
  public let name: String
  /// How its values are stored.
  public let type: ColumnType
  /// Whether it is the primary key or a part of it.
  var isPrimaryKey = false
  var isAutoincrement = false
  var isUnique = false
  var isIndexed = false
  var isReadOnly = false
  /// The greatest version that the property's type, and an integer of SQLite's, has; nil for a column
  /// that is no version.
  var greatestVersion: Int64?
  var isVersion: Bool { greatestVersion != nil }
  var collation: String?
  /// The type in CREATE TABLE, where that isn't the one that ``type`` has.
  var sqlType: String?
  var checks: [SQLFragment] = []
  var defaultSQL: SQL?
  var generated: (expression: SQLFragment, isStored: Bool)?
  /// Made late: the other table may refer back to this one.
  var foreignKey: (@Sendable () -> ForeignKeySchema)?
  /// The default for rows that are written without this column, as a connection stores it.
  var defaultValue: (@Sendable (DateFormat) throws -> DatabaseValue)?

  /// Whether texts that are stored never look like numbers, as those of dates.
  var isNeverNumber = false
  /// Gives a value of the property's type the column's own coding, if it has one.
  var code: (@Sendable (any DatabaseValueConvertible) -> any DatabaseValueConvertible)?

  /// Whether its type in CREATE TABLE can be that of a row id, which is INTEGER and no other word. A server
  /// numbers rows by an identity, or by a default that asks a sequence.
  var isOfRowIDType: Bool {
    guard let type = sqlType?.uppercased() else { return true }
    return type == "INTEGER" || type.hasSuffix(" AS IDENTITY")
      || defaultSQL?.text.hasPrefix("nextval(") == true
  }

  /// Whether statements write it.
  var isWritten: Bool { generated == nil && !isReadOnly }
}
