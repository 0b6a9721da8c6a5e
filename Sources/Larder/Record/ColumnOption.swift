import LarderSQLite

/// What a column is besides its name and type.
public struct ColumnOption<Value: Sendable>: Sendable {
  let apply: @Sendable (inout ColumnDefinition) -> Void
  private(set) var defaultValue: Value?

  init(_ apply: @escaping @Sendable (inout ColumnDefinition) -> Void) { self.apply = apply }

  /// The primary key, or a part of it where several columns are marked. An integer key that is nil
  /// is chosen by SQLite when the record is inserted.
  public static var primaryKey: Self { Self { $0.isPrimaryKey = true } }
  /// An integer primary key whose values are never used again after a deletion;
  /// see [AUTOINCREMENT](https://www.sqlite.org/autoinc.html).
  public static var autoincrement: Self {
    Self {
      $0.isPrimaryKey = true
      $0.isAutoincrement = true
    }
  }
  /// No two rows have the same value; NULLs don't count.
  public static var unique: Self { Self { $0.isUnique = true } }
  /// Has an index of its own.
  public static var indexed: Self { Self { $0.isIndexed = true } }
  /// Read, but never written: a trigger or the column's default fills it.
  public static var readOnly: Self { Self { $0.isReadOnly = true } }

  /// The value of rows that are inserted without this column.
  public static func `default`(_ value: Value) -> Self {
    var option = Self { _ in }
    option.defaultValue = value
    return option
  }

  /// An expression for the value of rows that are inserted without this column.
  public static func `default`(sql: SQL) -> Self { Self { $0.defaultSQL = sql } }

  /// An expression that must not be false.
  public static func check(_ condition: SQL) -> Self {
    Self { $0.checks.append(SQLFragment(sql: condition)) }
  }

  /// How text is compared: `BINARY`, `NOCASE`, `RTRIM`, or a collation of the program's own.
  public static func collate(_ name: String) -> Self { Self { $0.collation = name } }

  /// The column's type as it stands in CREATE TABLE, where that is an existing database's own:
  /// `.sqlType("NVARCHAR(160)")`; empty for a column without one. What is stored stays what the property's
  /// type or coding says, as far as the type's [affinity](https://www.sqlite.org/datatype3.html#type_affinity)
  /// leaves it alone: of the text `007` a `NUMERIC` column makes 7.
  ///
  /// A [STRICT table](https://www.sqlite.org/stricttables.html) takes SQLite's own types only, so that others
  /// need ``TableOptions/notStrict``, and a row id is an `INTEGER`. Another engine is given the type as it is.
  public static func sqlType(_ type: String) -> Self { Self { $0.sqlType = type } }

  /// An expression over other columns that the value is computed from; it is never written.
  /// See [generated columns](https://www.sqlite.org/gencol.html).
  ///
  /// - `stored`: whether it is computed when the row is written, rather than when read.
  public static func generated(_ expression: SQL, stored: Bool = false) -> Self {
    Self { $0.generated = (SQLFragment(sql: expression), stored) }
  }

  /// JSON or NULL: rows with any other text are refused. Only Larder's connections write to such a table on SQLite:
  /// others don't have the function that looks.
  public static var validJSON: Self {
    Self { column in
      column.checks.append(.isValidJSON(SQLFragment(text: column.name.quotedIdentifier)))
    }
  }
}

extension ColumnOption where Value: DatabaseValueConvertible {
  /// The value at a path in another column's JSON, of the property's type: NULL for one of another type.
  ///
  /// ```swift
  /// let customer = Column("customer", \Job.customer,
  ///   .generated(json: JSONExpression(column: "payload")["customer"]["id"]), .indexed)
  /// // "customer" INTEGER GENERATED ALWAYS AS (larder_json_if("payload", '["customer","id"]', 'number'))
  /// ```
  ///
  /// For numbers, texts and Bools: creating the table throws ``LarderSQLite/DatabaseError`` for other types. Only
  /// Larder's connections write to such a table on SQLite: others don't have the function.
  public static func generated(json path: JSONExpression, stored: Bool = false) -> Self {
    Self { $0.generated = (path.declared(as: Value.self, isCompared: false), stored) }
  }
}

extension ColumnOption where Value: FixedWidthInteger {
  /// Optimistic locking: a number that goes up with every update, by which a record that somebody else has
  /// changed since it was read is noticed: update and delete throw ``RecordError/stale(table:key:)`` then.
  /// Where it is the greatest that its type has, updates throw and change nothing.
  public static var version: Self { Self { $0.greatestVersion = Int64(clamping: Value.max) } }
}
