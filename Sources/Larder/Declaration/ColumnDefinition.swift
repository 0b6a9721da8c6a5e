import FoundationEssentials
import LarderSQLite

/// The declaration of a column, without the property. It becomes a ``LarderSQLite/ColumnSchema`` once the
/// date format of a connection is known.
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
  /// The greatest version that the property and SQLite's integers hold; nil unless this is a version column.
  var greatestVersion: Int64?
  var isVersion: Bool { greatestVersion != nil }
  /// How the column gets the time of writes; nil unless it is a timestamp.
  var timestamp: ColumnTimestamp?
  var collation: String?
  /// The collation in capital letters; nil for `BINARY`, by which columns are compared that declare none.
  var knownCollation: String? {
    collation.flatMap { $0.uppercased() == "BINARY" ? nil : $0.uppercased() }
  }
  /// A coding that tells how the column is compared, but not the type of its values; nil if that is as stored.
  var comparisonCoding: ExpressionCoding? {
    if isDateText { return ExpressionCoding(ColumnCoding<Date>.text()) }
    return knownCollation.map {
      ExpressionCoding(ColumnCoding<String>.plain, collation: $0, codesValues: false)
    }
  }
  /// The declared type in CREATE TABLE, if it isn't that of ``type``: in SQLite, and on other engines.
  var sqlType, serverType: String?
  /// The form in which the values are stored, for which other engines may have a type.
  var form = StoredForm.own
  var checks: [SQLFragment] = []
  var defaultSQL: SQL?
  var generated: (expression: SQLFragment, isStored: Bool)?
  /// The foreign key. It is made lazily, since the other table may refer back to this one.
  var foreignKey: (@Sendable () -> ForeignKeySchema)?
  /// The columns that the foreign key refers to, if a record declares them. It is made lazily, too.
  var referencedKey: (@Sendable () -> [ColumnDefinition])?
  /// The default for rows that are written without this column, as a connection stores it.
  var defaultValue: (@Sendable (DateFormat) throws -> DatabaseValue)?

  var numbers = NumberTexts.any
  /// Whether the column holds dates as text in several forms.
  var isDateText = false
  /// Gives a value of the property's type the column's own coding, if it has one.
  var code: (@Sendable (any DatabaseValueConvertible) -> any DatabaseValueConvertible)?

  /// Whether the declared type allows the column to be the row id. In SQLite only the word INTEGER does. A
  /// server numbers rows by an identity, or by a default that asks a sequence.
  var isOfRowIDType: Bool {
    if defaultSQL?.text.hasPrefix("nextval(") == true { return true }
    return [sqlType, serverType].allSatisfy { type in
      guard let type = type?.uppercased() else { return true }
      return type == "INTEGER" || type.hasSuffix(" AS IDENTITY")
    }
  }

  var isWritten: Bool { generated == nil && !isReadOnly }
}
