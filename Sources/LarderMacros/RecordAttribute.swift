import Larder

/// The arguments of the attributes `@Record` and `@Column`.
///
/// The compiler checks an attribute's arguments before there is a table, so it can't know a column's type
/// yet. Hence these types, which have the same members as ``Larder/ColumnOption`` and
/// ``Larder/TableConstraint``. The macros copy the arguments' text; no value of these types is ever used.
@_documentation(visibility: internal)
public enum RecordAttribute {
  /// An option of a column (see ``Larder/ColumnOption``), or its name as a string literal.
  ///
  /// The name is one of these, rather than a parameter, because the compiler checks each attribute against
  /// each overload that it could be, in each of its processes.
  public struct ColumnOption: ExpressibleByStringLiteral {
    /// The column's name, which comes before its options.
    public init(stringLiteral name: StaticString) {}
    private init() {}

    /// The primary key, or a part of it.
    public static var primaryKey: Self { Self() }
    /// An integer primary key whose values are never used again after a deletion.
    public static var autoincrement: Self { Self() }
    /// A UNIQUE constraint: no two rows have the same value; NULLs don't count.
    public static var unique: Self { Self() }
    /// An index on this column.
    public static var indexed: Self { Self() }
    /// A column that is read, but never written.
    public static var readOnly: Self { Self() }
    /// A check that the text is JSON or NULL: rows with any other text are refused.
    public static var validJSON: Self { Self() }
    /// Optimistic locking: a number that each update increments.
    public static var version: Self { Self() }
    /// The time of the insert, which each insert sets.
    public static var createdAt: Self { Self() }
    /// The time of the last write, which each insert and update sets.
    public static var updatedAt: Self { Self() }

    /// Any value. The compiler shows this name in its error for `.default(.active)`, since it doesn't know the
    /// property's type there.
    @_documentation(visibility: internal)
    public typealias ValueWrittenWithItsType = Any?

    /// The value of rows that are inserted without this column. If it isn't a literal, its type is written:
    /// `.default(Status.active)`.
    public static func `default`(_ value: ValueWrittenWithItsType) -> Self { Self() }
    /// An expression for the value of rows that are inserted without this column.
    public static func `default`(sql: SQL) -> Self { Self() }
    /// A CHECK constraint: an expression that must not be false.
    public static func check(_ condition: SQL) -> Self { Self() }
    /// The column's type in CREATE TABLE.
    public static func sqlType(_ type: String) -> Self { Self() }
    /// The column's types in CREATE TABLE in SQLite and on PostgreSQL.
    public static func sqlType(sqlite: String? = nil, postgres: String? = nil) -> Self { Self() }
    /// The collation by which text is compared.
    public static func collate(_ name: String) -> Self { Self() }
    /// A generated column: the expression over other columns that computes its value.
    public static func generated(_ expression: SQL, stored: Bool = false) -> Self { Self() }
    /// A generated column: the value at a path in another column's JSON. The path begins with that column's
    /// name.
    public static func generated(json path: JSONExpression, stored: Bool = false) -> Self { Self() }
    /// A foreign key: the value is the primary key of a row of another record's table, or NULL.
    public static func references(
      _ target: Any.Type, onDelete: ForeignKeyAction = .noAction,
      onUpdate: ForeignKeyAction = .noAction, deferred: Bool = false
    ) -> Self { Self() }
    /// A foreign key to a table by its name: the value is NULL or that of a column there, which is the primary
    /// key or unique.
    public static func references(
      _ table: String, column: String, onDelete: ForeignKeyAction = .noAction,
      onUpdate: ForeignKeyAction = .noAction, deferred: Bool = false
    ) -> Self { Self() }
  }

  /// A coding whose name doesn't depend on a type: `as: .json`, `as: .array`.
  @_documentation(visibility: internal)
  public struct JSON {
    /// The value as JSON; see ``Larder/ColumnCoding``.
    public static var json: Self { Self() }
    /// An array, for which a server has a type; see ``Larder/ColumnCoding``.
    public static var array: Self { Self() }
    /// A range, for which a server has types; see ``Larder/ColumnCoding``.
    public static func range() -> Self { Self() }
  }

  /// A stand-in for a record type that doesn't exist yet: `\.name` names a property of it.
  @_documentation(visibility: internal)
  @dynamicMemberLookup
  public struct Properties {
    /// Any property. The macro checks whether it exists.
    public subscript(dynamicMember name: String) -> Property { Property() }
  }

  /// A stand-in for a property and the values in its JSON: `\.payload["lines"][0]`.
  @_documentation(visibility: internal)
  public struct Property {
    /// The JSON value with a name.
    public subscript(name: String) -> Property { self }
    /// An element of a JSON array.
    public subscript(index: Int) -> Property { self }
  }

  /// A constraint on several columns of a table, or an index; see ``Larder/TableConstraint``.
  public struct TableConstraint {
    /// A UNIQUE constraint: no two rows have the same values in all these columns; NULLs don't count.
    public static func unique(_ columns: PartialKeyPath<Properties>...) -> Self { Self() }
    /// A CHECK constraint: an expression that must not be false.
    public static func check(_ condition: SQL) -> Self { Self() }
    /// An index on columns, perhaps unique, and perhaps only on the rows that meet a condition.
    public static func index(
      _ columns: PartialKeyPath<Properties>..., unique: Bool = false, where condition: SQL? = nil,
      name: String? = nil
    ) -> Self { Self() }
    /// An index, perhaps unique, on the value at a path in a column's JSON: `\.payload["customer"]["id"]`.
    public static func index(
      on path: PartialKeyPath<Properties>, as type: Any.Type, unique: Bool = false,
      where condition: SQL? = nil, name: String? = nil
    ) -> Self { Self() }
    /// A foreign key: these columns have the values of another table's primary key, or one of them is NULL.
    public static func foreignKey(
      _ columns: PartialKeyPath<Properties>..., references target: Any.Type,
      onDelete: ForeignKeyAction = .noAction, onUpdate: ForeignKeyAction = .noAction,
      deferred: Bool = false
    ) -> Self { Self() }
  }
}
