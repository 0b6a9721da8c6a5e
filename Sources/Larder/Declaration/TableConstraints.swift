import LarderSQLite

/// The options of a table's declaration.
public struct TableOptions: OptionSet, Sendable {
  /// The options as bits.
  public let rawValue: Int
  /// Options from their bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The rows are stored by primary key and have no row id;
  /// see [WITHOUT ROWID](https://www.sqlite.org/withoutrowid.html).
  public static let withoutRowID = TableOptions(rawValue: 1)
  /// The table has no primary key: records are inserted and read, but not found, updated or deleted.
  public static let noPrimaryKey = TableOptions(rawValue: 2)
  /// The columns accept values of other types too, as SQLite's tables do by default;
  /// see [STRICT](https://www.sqlite.org/stricttables.html).
  public static let notStrict = TableOptions(rawValue: 4)
  /// The table is a view, whose records are only read, also without a key. Writing to it throws
  /// ``RecordError/view(table:)``, and so does creating it: `SchemaEntry.view` creates a view.
  public static let view = TableOptions(rawValue: 8)
  /// The record has only some of the table's columns, which another record declares.
  static let part = TableOptions(rawValue: 1 << 30)
}

/// A constraint on several columns of a table, or an index.
///
/// A record's table names the columns by its `Columns`. A
/// ``LarderSQLite/TableSchema/init(_:_:constraints:indexes:options:in:)`` without a record uses their names.
public struct TableConstraint<R>: Sendable {
  let definition: TableConstraintDefinition

  /// A unique constraint: no two rows have the same values in all these columns; NULLs don't count.
  public static func unique<each Value>(_ columns: repeat Column<R, each Value>) -> Self {
    Self(definition: .unique(columnNames(repeat each columns)))
  }

  /// A CHECK constraint: an expression that must not be false.
  public static func check(_ condition: SQL) -> Self { Self(definition: .check(condition)) }

  /// An index on columns, optionally unique, and optionally only of the rows that meet a condition.
  ///
  /// - `name`: the index's name; made of the table's and the columns' if nil.
  /// - `condition`: see [partial indexes](https://www.sqlite.org/partialindex.html).
  public static func index<each Value>(
    _ columns: repeat Column<R, each Value>, unique: Bool = false, where condition: SQL? = nil,
    name: String? = nil
  ) -> Self {
    Self(
      definition: .index(columnNames(repeat each columns), isUnique: unique, condition, name: name))
  }
}

extension TableConstraint where R == Never {
  /// A unique constraint: no two rows have the same values in all these columns; NULLs don't count.
  public static func unique(_ columns: String...) -> Self { Self(definition: .unique(columns)) }

  package static func unique(columns: [String]) -> Self { Self(definition: .unique(columns)) }

  package static func index(
    columns: [String], unique: Bool, where condition: SQL?, name: String?
  ) -> Self { Self(definition: .index(columns, isUnique: unique, condition, name: name)) }

  /// An index on columns, optionally unique, and optionally only of the rows that meet a condition.
  ///
  /// - `name`: the index's name; made of the table's and the columns' if nil.
  /// - `condition`: see [partial indexes](https://www.sqlite.org/partialindex.html).
  public static func index(
    _ columns: String..., unique: Bool = false, where condition: SQL? = nil, name: String? = nil
  ) -> Self { Self(definition: .index(columns, isUnique: unique, condition, name: name)) }
}

/// A ``TableConstraint`` without the type of the record.
enum TableConstraintDefinition: Sendable {
  case unique([String])
  case check(SQL)
  /// A foreign key. It is made lazily, since the other table may refer back to this one.
  case foreignKey(@Sendable () -> ForeignKeySchema)
  case index([String], isUnique: Bool, SQL?, name: String?)
  /// An index on an expression. The suffix becomes a part of its name if none is given.
  case expressionIndex(SQLFragment, suffix: String, isUnique: Bool, SQL?, name: String?)

  /// The columns that are unique together, among all rows or those that meet a condition; nil for none.
  var uniqueColumns: [String]? {
    switch self {
    case .unique(let columns), .index(let columns, isUnique: true, _, _): columns
    case .index, .expressionIndex, .check, .foreignKey: nil
    }
  }
}

func columnNames<R, each Value>(_ columns: repeat Column<R, each Value>) -> [String] {
  var names: [String] = []
  repeat names.append((each columns).name)
  return names
}
