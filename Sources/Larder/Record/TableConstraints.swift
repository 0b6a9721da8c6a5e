import LarderSQLite

/// What a table is besides its columns.
public struct TableOptions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: Int
  /// Options from their bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Its rows are kept by the primary key and have no row id;
  /// see [WITHOUT ROWID](https://www.sqlite.org/withoutrowid.html).
  public static let withoutRowID = TableOptions(rawValue: 1)
  /// It has no primary key: records are inserted and read, but not found, updated or deleted.
  public static let noPrimaryKey = TableOptions(rawValue: 2)
  /// Its columns take values of other types too, as SQLite's tables do by default;
  /// see [STRICT](https://www.sqlite.org/stricttables.html).
  public static let notStrict = TableOptions(rawValue: 4)
}

/// A constraint on several columns of a table, or an index.
///
/// A record's table names the columns by its `Columns`; a
/// ``LarderSQLite/TableSchema/init(_:_:constraints:indexes:options:)`` without a record by their names.
public struct TableConstraint<R>: Sendable {
  let definition: TableConstraintDefinition

  /// No two rows have the same values in all these columns; NULLs don't count.
  public static func unique<each Value>(_ columns: repeat Column<R, each Value>) -> Self {
    Self(definition: .unique(names(repeat each columns)))
  }

  /// An expression that must not be false.
  public static func check(_ condition: SQL) -> Self { Self(definition: .check(condition)) }

  /// A foreign key: these columns are the primary key of a row of another record's table, or one of
  /// them is NULL.
  public static func foreignKey<Target: Record, each Value>(
    _ columns: repeat Column<R, each Value>, references target: Target.Type,
    onDelete: ForeignKeyAction = .noAction, onUpdate: ForeignKeyAction = .noAction,
    deferred: Bool = false
  ) -> Self {
    let names = names(repeat each columns)
    return Self(
      definition: .foreignKey {
        Target.foreignKey(from: names, onDelete: onDelete, onUpdate: onUpdate, isDeferred: deferred)
      })
  }

  /// An index, or a unique one, on columns, or on those of its rows that meet a condition.
  ///
  /// - `name`: the index's name; made of the table's and the columns' if nil.
  /// - `condition`: see [partial indexes](https://www.sqlite.org/partialindex.html).
  public static func index<each Value>(
    _ columns: repeat Column<R, each Value>, unique: Bool = false, where condition: SQL? = nil,
    name: String? = nil
  ) -> Self {
    Self(definition: .index(names(repeat each columns), isUnique: unique, condition, name: name))
  }
}

extension TableConstraint where R == Never {
  /// No two rows have the same values in all these columns; NULLs don't count.
  public static func unique(_ columns: String...) -> Self { Self(definition: .unique(columns)) }

  /// A foreign key: these columns are others of a row of another table, or one of them is NULL.
  public static func foreignKey(
    _ columns: [String], references table: String, columns targets: [String],
    onDelete: ForeignKeyAction = .noAction, onUpdate: ForeignKeyAction = .noAction,
    deferred: Bool = false
  ) -> Self {
    let key = ForeignKeySchema(
      columns: columns, referencedTable: table, referencedColumns: targets, onDelete: onDelete,
      onUpdate: onUpdate, isDeferred: deferred)
    return Self(definition: .foreignKey { key })
  }

  /// An index, or a unique one, on columns, or on those of its rows that meet a condition.
  ///
  /// - `name`: the index's name; made of the table's and the columns' if nil.
  /// - `condition`: see [partial indexes](https://www.sqlite.org/partialindex.html).
  public static func index(
    _ columns: String..., unique: Bool = false, where condition: SQL? = nil, name: String? = nil
  ) -> Self {
    Self(definition: .index(columns, isUnique: unique, condition, name: name))
  }
}

/// A ``TableConstraint`` without the type of the record.
enum TableConstraintDefinition: Sendable {
  case unique([String])
  case check(SQL)
  /// Made late: the other table may refer back to this one.
  case foreignKey(@Sendable () -> ForeignKeySchema)
  case index([String], isUnique: Bool, SQL?, name: String?)
}

extension Record {
  /// A foreign key to the primary key of this record's table.
  static func foreignKey(
    from columns: [String], onDelete: ForeignKeyAction, onUpdate: ForeignKeyAction,
    isDeferred: Bool
  ) -> ForeignKeySchema {
    ForeignKeySchema(
      columns: columns, referencedTable: table.name,
      referencedColumns: table.core.primaryKey.map(\.name), onDelete: onDelete,
      onUpdate: onUpdate, isDeferred: isDeferred)
  }
}

private func names<R, each Value>(_ columns: repeat Column<R, each Value>) -> [String] {
  var names: [String] = []
  repeat names.append((each columns).name)
  return names
}
