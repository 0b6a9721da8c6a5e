import LarderSQLite

// Foreign keys in declarations: of one column, and of several.

extension ColumnOption {
  /// A foreign key: the value is the primary key of a row of another record's table, or NULL. If that key is of
  /// a type that no value of the column can equal, creating or comparing the table throws
  /// ``RecordError/declaration(table:problem:)``.
  ///
  /// - `onDelete`: what happens when that row is deleted.
  /// - `onUpdate`: what happens when its key changes.
  /// - `deferred`: whether it is checked when the transaction commits, rather than at once.
  public static func references<Target: Record>(
    _ target: Target.Type, onDelete: ForeignKeyAction = .noAction,
    onUpdate: ForeignKeyAction = .noAction, deferred: Bool = false
  ) -> Self {
    Self { definition in
      definition.foreignKey = { [name = definition.name] in
        Target.foreignKey(
          from: [name], onDelete: onDelete, onUpdate: onUpdate, isDeferred: deferred)
      }
      definition.referencedKey = { Target.table.core.primaryKey }
    }
  }
}

extension ColumnOption {
  /// A foreign key to a table by its name: the value is NULL or that of a column
  /// there, which is the primary key or unique.
  public static func references(
    _ table: String, column: String, onDelete: ForeignKeyAction = .noAction,
    onUpdate: ForeignKeyAction = .noAction, deferred: Bool = false
  ) -> Self {
    Self { definition in
      let key = ForeignKeySchema(
        columns: [definition.name], referencedTable: table, referencedColumns: [column],
        onDelete: onDelete, onUpdate: onUpdate, isDeferred: deferred)
      definition.foreignKey = { key }
    }
  }
}

extension TableConstraint {
  /// A foreign key: these columns are the primary key of a row of another record's table, or one of
  /// them is NULL.
  public static func foreignKey<Target: Record, each Value>(
    _ columns: repeat Column<R, each Value>, references target: Target.Type,
    onDelete: ForeignKeyAction = .noAction, onUpdate: ForeignKeyAction = .noAction,
    deferred: Bool = false
  ) -> Self {
    let names = columnNames(repeat each columns)
    return Self(
      definition: .foreignKey {
        Target.foreignKey(from: names, onDelete: onDelete, onUpdate: onUpdate, isDeferred: deferred)
      })
  }
}

extension TableConstraint where R == Never {
  /// A foreign key: these columns have the values of other ones in a row of
  /// another table, or one of them is NULL.
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
}

extension Record {
  /// A foreign key to the primary key of this record's table.
  static func foreignKey(
    from columns: [String], onDelete: ForeignKeyAction, onUpdate: ForeignKeyAction, isDeferred: Bool
  ) -> ForeignKeySchema {
    var key = ForeignKeySchema(
      columns: columns, referencedTable: table.name,
      referencedColumns: table.core.primaryKey.map(\.name), onDelete: onDelete,
      onUpdate: onUpdate, isDeferred: isDeferred)
    key.referencedSchema = table.schema
    return key
  }
}
