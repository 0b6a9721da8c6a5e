import Larder

/// What the attributes `@Record` and `@Column` take.
///
/// The compiler checks an attribute's arguments before there is a table, when it can't know the type of a
/// column yet, so that they are of these types, which have the same members as ``Larder/ColumnOption`` and
/// ``Larder/TableConstraint``. The macros copy their text; none of them is ever made.
public enum RecordAttribute {
  /// What a column is besides its type: an option, see ``Larder/ColumnOption``, or its name as a string literal.
  ///
  /// The name is one of these, rather than a parameter, since the compiler checks each attribute against each form
  /// that it could have, in each of its processes.
  public struct ColumnOption: ExpressibleByStringLiteral {
    /// The column's name, which stands before its options.
    public init(stringLiteral name: StaticString) {}
    private init() {}

    /// The primary key, or a part of it.
    public static var primaryKey: Self { Self() }
    /// An integer primary key whose values are never used again after a deletion.
    public static var autoincrement: Self { Self() }
    /// No two rows have the same value; NULLs don't count.
    public static var unique: Self { Self() }
    /// Has an index of its own.
    public static var indexed: Self { Self() }
    /// Read, but never written.
    public static var readOnly: Self { Self() }
    /// JSON or NULL: rows with any other text are refused.
    public static var validJSON: Self { Self() }
    /// Optimistic locking: a number that goes up with every update.
    public static var version: Self { Self() }

    /// The value of rows that are inserted without this column. Its type is written where it isn't a literal:
    /// `.default(Status.active)`.
    public static func `default`(_ value: Any?) -> Self { Self() }
    /// An expression for the value of rows that are inserted without this column.
    public static func `default`(sql: SQL) -> Self { Self() }
    /// An expression that must not be false.
    public static func check(_ condition: SQL) -> Self { Self() }
    /// The column's type as it stands in CREATE TABLE.
    public static func sqlType(_ type: String) -> Self { Self() }
    /// How text is compared.
    public static func collate(_ name: String) -> Self { Self() }
    /// An expression over other columns that the value is computed from.
    public static func generated(_ expression: SQL, stored: Bool = false) -> Self { Self() }
    /// The value at a path in another column's JSON, which is named as the column is.
    public static func generated(json path: JSONExpression, stored: Bool = false) -> Self { Self() }
    /// A foreign key: the value is the primary key of a row of another record's table, or NULL.
    public static func references(
      _ target: Any.Type, onDelete: ForeignKeyAction = .noAction,
      onUpdate: ForeignKeyAction = .noAction, deferred: Bool = false
    ) -> Self { Self() }
  }

  /// The coding that is of no type: `as: .json`.
  @_documentation(visibility: internal)
  public struct JSON {
    /// As JSON; see ``Larder/ColumnCoding``.
    public static var json: Self { Self() }
  }

  /// Stands for a record that isn't there yet: `\.name` names a property of it.
  @_documentation(visibility: internal)
  @dynamicMemberLookup
  public struct Properties {
    /// Any property: whether there is one, the macro tells.
    public subscript(dynamicMember name: String) -> Property { Property() }
  }

  /// Stands for a property, and for what is in its JSON: `\.payload["lines"][0]`.
  @_documentation(visibility: internal)
  public struct Property {
    /// The value with a name.
    public subscript(name: String) -> Property { self }
    /// An element.
    public subscript(index: Int) -> Property { self }
  }

  /// A constraint on several columns of a table, or an index; see ``Larder/TableConstraint``.
  public struct TableConstraint {
    /// No two rows have the same values in all these columns; NULLs don't count.
    public static func unique(_ columns: PartialKeyPath<Properties>...) -> Self { Self() }
    /// An expression that must not be false.
    public static func check(_ condition: SQL) -> Self { Self() }
    /// An index, or a unique one, on columns, or on those of its rows that meet a condition.
    public static func index(
      _ columns: PartialKeyPath<Properties>..., unique: Bool = false, where condition: SQL? = nil,
      name: String? = nil
    ) -> Self { Self() }
    /// An index, or a unique one, on what lies at a path in a column's JSON: `\.payload["customer"]["id"]`.
    public static func index(
      on path: PartialKeyPath<Properties>, as type: Any.Type, unique: Bool = false,
      where condition: SQL? = nil, name: String? = nil
    ) -> Self { Self() }
    /// A foreign key: these columns are the primary key of a row of another record's table, or one of
    /// them is NULL.
    public static func foreignKey(
      _ columns: PartialKeyPath<Properties>..., references target: Any.Type,
      onDelete: ForeignKeyAction = .noAction, onUpdate: ForeignKeyAction = .noAction,
      deferred: Bool = false
    ) -> Self { Self() }
  }
}
