import FoundationEssentials
import LarderSQLite

/// An option of a column's declaration, such as a key, a constraint, an index or a default value.
public struct ColumnOption<Value: Sendable>: Sendable {
  let apply: @Sendable (inout ColumnDefinition) -> Void
  private(set) var defaultValue: Value?
  /// Whether the column is the time of the insert, and the value of a time; nil unless it is a timestamp.
  private(set) var timestamp: (isOfCreation: Bool, value: @Sendable (Date) -> Value)?

  init(_ apply: @escaping @Sendable (inout ColumnDefinition) -> Void) { self.apply = apply }

  /// The primary key, or a part of it if several columns are marked. SQLite chooses an integer key that is
  /// nil when the record is inserted.
  public static var primaryKey: Self { Self { $0.isPrimaryKey = true } }
  /// An integer primary key whose values are never used again after a deletion;
  /// see [AUTOINCREMENT](https://www.sqlite.org/autoinc.html).
  public static var autoincrement: Self {
    Self {
      $0.isPrimaryKey = true
      $0.isAutoincrement = true
    }
  }
  /// A unique constraint: no two rows have the same value; NULLs don't count.
  public static var unique: Self { Self { $0.isUnique = true } }
  /// An index on this column alone.
  public static var indexed: Self { Self { $0.isIndexed = true } }
  /// A column that is read but never written: a trigger or the column's default fills it.
  public static var readOnly: Self { Self { $0.isReadOnly = true } }

  /// The value of rows that are inserted without this column.
  public static func `default`(_ value: Value) -> Self {
    var option = Self { _ in }
    option.defaultValue = value
    return option
  }

  static func timestamp(
    isOfCreation: Bool, _ value: @escaping @Sendable (Date) -> Value
  ) -> Self {
    var option = Self { _ in }
    option.timestamp = (isOfCreation, value)
    return option
  }

  /// An expression for the value of rows that are inserted without this column.
  public static func `default`(sql: SQL) -> Self { Self { $0.defaultSQL = sql } }

  /// A CHECK constraint: an expression that must not be false.
  public static func check(_ condition: SQL) -> Self {
    Self { $0.checks.append(SQLFragment(sql: condition)) }
  }

  /// The column's collation, by which text is compared: `BINARY`, `NOCASE`, `RTRIM`, or the program's own.
  ///
  /// `NOCASE` takes texts for equal that differ only in the case of ASCII letters. With ``unique``, no two rows
  /// have such texts, as with addresses of e-mail:
  ///
  /// ```swift
  /// let email = Column("email", \User.email, .unique, .collate("NOCASE"))
  /// // "email" TEXT NOT NULL COLLATE "NOCASE" UNIQUE; on PostgreSQL a unique index on lower("email")
  /// ```
  ///
  /// On PostgreSQL, Larder folds such a column where it is compared, put in order or grouped, and in indexes, by
  /// `lower` or `rtrim`. A primary or foreign key can't be such a column there, and neither can it be in
  /// `min`, `max`, `count(distinct:)` or `in` with a query: all of these throw ``LarderSQLite/UnsupportedByEngine``.
  /// `DISTINCT`, `UNION` and SQL of your own compare it byte by byte. Other collations aren't available there.
  public static func collate(_ name: String) -> Self { Self { $0.collation = name } }

  /// The column's declared type in CREATE TABLE, to match an existing database: `.sqlType("NVARCHAR(160)")`.
  /// An empty one declares none. Values are still stored as the property's type or coding says, unless the
  /// declared type's [affinity](https://www.sqlite.org/datatype3.html#type_affinity) converts them: a
  /// `NUMERIC` column turns the text `007` into 7.
  ///
  /// A [STRICT table](https://www.sqlite.org/stricttables.html) accepts only
  /// SQLite's own types; for others the table has to be ``TableOptions/notStrict``.
  /// A row id is always an `INTEGER`. Another engine gets the type unchanged.
  public static func sqlType(_ type: String) -> Self { sqlType(sqlite: type, postgres: type) }

  /// The column's declared type in CREATE TABLE on each engine: `.sqlType(postgres: "citext")`. Without a type
  /// for an engine, the column has there the one of its property or coding.
  ///
  /// - Parameters:
  ///   - sqlite: the type in SQLite.
  ///   - postgres: the type on a PostgreSQL server.
  public static func sqlType(sqlite: String? = nil, postgres: String? = nil) -> Self {
    Self { ($0.sqlType, $0.serverType) = (sqlite, postgres) }
  }

  /// The form in which values are stored, for a column without a property.
  package static func stored(as form: StoredForm) -> Self { Self { $0.form = form } }

  /// A generated column: an expression over other columns computes its value, which is never written.
  /// See [generated columns](https://www.sqlite.org/gencol.html).
  ///
  /// - `stored`: whether it is computed when the row is written, rather than when read.
  public static func generated(_ expression: SQL, stored: Bool = false) -> Self {
    Self { $0.generated = (SQLFragment(sql: expression), stored) }
  }

  /// A constraint that the column holds JSON or NULL: rows with any other text are refused. On SQLite only
  /// Larder's connections can write to such a table, since others lack the function that checks it.
  public static var validJSON: Self {
    Self { column in
      column.checks.append(.isValidJSON(SQLFragment(text: column.name.quotedIdentifier)))
    }
  }
}

extension ColumnOption where Value: DatabaseValueConvertible {
  /// A generated column with the value at a path in another column's JSON; NULL
  /// if that isn't of the property's type.
  ///
  /// ```swift
  /// let customer = Column("customer", \Job.customer,
  ///   .generated(json: JSONExpression(column: "payload")["customer"]["id"]), .indexed)
  /// // "customer" INTEGER GENERATED ALWAYS AS (larder_json_if("payload", '["customer","id"]', 'number'))
  /// ```
  ///
  /// The type has to be a number, a text or a Bool: creating the table throws
  /// ``LarderSQLite/DatabaseError`` for other types. On SQLite only Larder's
  /// connections can write to such a table, since others lack the function.
  public static func generated(json path: JSONExpression, stored: Bool = false) -> Self {
    Self { $0.generated = (path.declared(as: Value.self, isCompared: false), stored) }
  }
}

extension ColumnOption where Value: FixedWidthInteger {
  /// A version column for optimistic locking: a number that every update raises. Updating or deleting a
  /// record that somebody else has changed since it was read throws ``RecordError/stale(table:key:)``. At the
  /// greatest number of its type, updates throw and change nothing.
  public static var version: Self { Self { $0.greatestVersion = Int64(clamping: Value.max) } }
}

extension ColumnOption {
  // The compiler finds this one for all other types. Without it, its message doesn't say what is wrong.
  /// Not available: only integers are versions.
  @_documentation(visibility: internal)
  @available(*, unavailable, message: "a version has to be an integer that is never nil")
  public static var version: Self { Self { _ in } }
}
