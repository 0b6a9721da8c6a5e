import LarderSQLite

extension ColumnDefinition {
  /// A column of a table without a record type, for values of a Swift type.
  ///
  /// ```swift
  /// .column("id", Int64?.self, .primaryKey)
  /// .column("url", String.self, .unique)
  /// .column("feed", Int64.self, .references("feed", column: "id", onDelete: .cascade))
  /// ```
  ///
  /// It is stored as a record's property of that type is, on each engine. The column is NOT NULL if the type
  /// isn't Optional; an Optional integer that is the key is numbered by the database.
  public static func column<Value: DatabaseValueConvertible>(
    _ name: String, _ type: Value.Type, _ options: ColumnOption<Value>...
  ) -> ColumnDefinition { column(name, .plain, options) }

  /// A column of a table without a record type, for values with a coding of their own:
  /// `.column("seen", as: ColumnCoding<Date>.unixMilliseconds)`.
  public static func column<Value: Sendable>(
    _ name: String, as coding: ColumnCoding<Value>, _ options: ColumnOption<Value>...
  ) -> ColumnDefinition { column(name, coding, options) }

  /// A column of a table without a record type, as that of a property `as:` a coding:
  /// `.column("seen", Date.self, .indexed, as: .unixMilliseconds)`.
  @_disfavoredOverload  // or `.json` would take a whole Optional, whose nil is the text `null`
  public static func column<Value: Sendable>(
    _ name: String, _ type: Value.Type, _ options: ColumnOption<Value>...,
    as coding: ColumnCoding<Value>
  ) -> ColumnDefinition { column(name, coding, options) }

  /// A nullable column of a table without a record type, with a coding for the values that aren't NULL:
  /// `.column("due", Date?.self, as: .iso8601)`.
  public static func column<Value: Sendable>(
    _ name: String, _ type: Value?.Type, _ options: ColumnOption<Value?>...,
    as coding: ColumnCoding<Value>
  ) -> ColumnDefinition { column(name, coding.optional, options) }

  private static func column<Value: Sendable>(
    _ name: String, _ coding: ColumnCoding<Value>, _ options: [ColumnOption<Value>]
  ) -> ColumnDefinition {
    var definition = ColumnDefinition(name: name, type: coding.columnType)
    definition.form = coding.form
    if coding.form != .own || coding.columnType.kind == .any {
      definition.code = { coding.coded($0) }
    }
    for option in options {
      option.apply(&definition)
      if let value = option.defaultValue {
        definition.defaultValue = { try coding.stored(value, $0) }
      }
    }
    return definition
  }
}
