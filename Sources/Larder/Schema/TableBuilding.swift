import LarderSQLite

extension TableSchema {
  /// A table that has no record.
  ///
  /// ```swift
  /// let log = try TableSchema(
  ///   "log",
  ///   [
  ///     .column("id", .integer, .primaryKey),
  ///     .column("at", .integer, .indexed),
  ///     .column("country", .text.optional, .references("country", column: "code")),
  ///     .column("text", .text, .default("")),
  ///   ], constraints: [.unique("at", "country")])
  /// try log.create(db)
  /// ```
  ///
  /// As with records, columns are NOT NULL unless their type is
  /// ``LarderSQLite/ColumnType/optional``, and the table is STRICT unless its options say
  /// otherwise. Throws ``RecordError/declaration(table:problem:)`` where the declaration doesn't
  /// hold together.
  ///
  /// - `constraints`: those that aren't a single column's.
  /// - `indexes`: those that aren't a single column's.
  /// - `options`: whether it has no row id, or no primary key, or isn't STRICT.
  public init(
    _ name: String, _ columns: [ColumnDefinition], constraints: [TableConstraint<Never>] = [],
    indexes: [TableIndexes<Never>] = [], options: TableOptions = []
  ) throws {
    if let problem = TableBuilder.problem(table: name, columns, options) {
      throw RecordError.declaration(table: name, problem: problem)
    }
    // Its defaults are values of SQLite's, which no format of dates changes.
    self = try DeclaredTable(
      name: name, columns: columns, constraints: constraints.map(\.definition),
      indexes: indexes.map(\.definition), options: options, dateFormat: .secondsSince1970
    ).schema()
  }
}

extension ColumnDefinition {
  /// A column of a table that has no record; see
  /// ``TableSchema/init(_:_:constraints:indexes:options:)``.
  public static func column(
    _ name: String, _ type: ColumnType, _ options: ColumnOption<DatabaseValue>...
  ) -> ColumnDefinition {
    var definition = ColumnDefinition(name: name, type: type)
    for option in options {
      option.apply(&definition)
      if let value = option.defaultValue { definition.defaultValue = { _ in value } }
    }
    return definition
  }
}

extension ColumnOption where Value == DatabaseValue {
  /// A foreign key to a table by its name: the value is that of a column there which is the primary
  /// key or unique, or NULL.
  public static func references(
    _ table: String, column: String, onDelete: ForeignKeyAction = .noAction,
    onUpdate: ForeignKeyAction = .noAction, deferred: Bool = false
  ) -> Self {
    Self {
      $0.reference = .init(
        target: { (table, [column]) }, onDelete: onDelete, onUpdate: onUpdate, isDeferred: deferred)
    }
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
    Self(
      definition: .foreignKey(
        columns,
        .init(
          target: { (table, targets) }, onDelete: onDelete, onUpdate: onUpdate,
          isDeferred: deferred)))
  }
}

extension TableIndexes where R == Never {
  /// An index, or a unique one, on columns, or on those of its rows that meet a condition.
  ///
  /// - `name`: the index's name; made of the table's and the columns' if nil.
  /// - `condition`: see [partial indexes](https://www.sqlite.org/partialindex.html).
  public static func index(
    _ columns: String..., unique: Bool = false, where condition: SQL? = nil, name: String? = nil
  ) -> Self {
    Self(
      definition: TableIndexDefinition(
        name: name, columns: columns, isUnique: unique, condition: condition))
  }
}
