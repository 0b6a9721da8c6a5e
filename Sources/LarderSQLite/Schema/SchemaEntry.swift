/// One object of the schema: a row of [sqlite_schema](https://www.sqlite.org/schematab.html).
public struct SchemaEntry: Hashable, Sendable {
  /// The kind of an object of the schema.
  public enum Kind: String, Hashable, Sendable, DatabaseValueConvertible {
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    case table, index, view, trigger
  }

  /// The object's kind.
  public let kind: Kind
  /// The object's name.
  public let name: String
  /// The table to which the object belongs; its own name for tables and views.
  public let table: String
  /// The statement that made the object; nil for the indexes that SQLite makes by itself.
  public let sql: String?

  package init(kind: Kind, name: String, table: String, sql: String?) {
    self.kind = kind
    self.name = name
    self.table = table
    self.sql = sql
  }
}
