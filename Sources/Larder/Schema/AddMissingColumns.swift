import LarderSQLite

// ALTER TABLE … ADD COLUMN for the columns that a table lacks.

extension Table {
  /// Adds the columns that are declared here and missing in the database, with their indexes, in a
  /// transaction or savepoint; returns their names.
  ///
  /// ```swift
  /// try City.table.addMissingColumns(db)
  /// // ALTER TABLE "city" ADD COLUMN "mayor" TEXT
  /// ```
  ///
  /// Existing rows get the column's default; other differences stay. Throws
  /// ``SchemaError/cannotAddColumn(table:column:reason:)`` for a column that [ALTER
  /// TABLE](https://www.sqlite.org/lang_altertable.html#altertabaddcol) can't add, but `rebuild` can: one
  /// that is part of the key, UNIQUE, or NOT NULL without a default; in SQLite also one that is computed and
  /// stored, has an expression as its default, or refers to another table and has a default. Throws
  /// ``SchemaError/brokenDependent(table:dependent:reason:)`` if a view or trigger would no longer work.
  @discardableResult
  public func addMissingColumns(_ db: Database) throws -> [String] {
    try core.schema(in: db).addMissingColumns(db)
  }
}

extension TableSchema {
  /// Adds the missing columns; see `Table.addMissingColumns(_:)`.
  ///
  /// - Throws: ``Larder/SchemaError``, and ``LarderSQLite/UnsupportedByEngine`` for another engine's table.
  @discardableResult
  public func addMissingColumns(_ db: Database) throws -> [String] {
    try checkEngine(of: db)
    return try db.keepingDependents(of: name) { db in
      guard let found = try TableSchema.found(name, in: db, schema: schema) else {
        throw SchemaError.noTable(name)
      }
      let missing = columns.filter { found.column($0.name) == nil }
      for column in missing {
        if let reason = blockedReason(adding: column) {
          throw SchemaError.cannotAddColumn(table: name, column: column.name, reason: reason)
        }
      }
      for column in missing { try db.executeUpdate(SQL(raw: DDL.addColumn(column, to: self))) }
      for index in missingIndexes(in: found)
      where missing.contains(where: { index.key.uses($0.name) }) {
        try db.create(index, of: self)
      }
      return missing.map(\.name)
    }
  }

  /// The reason why ALTER TABLE can't add a column to a table with rows; nil if it can.
  func blockedReason(adding column: ColumnSchema) -> String? {
    let name = column.name.foldedName
    if column.primaryKeyPosition > 0 { return "it is part of the primary key" }
    if uniqueConstraints.contains(where: { $0.contains { $0.foldedName == name } }) {
      return "it is UNIQUE"
    }
    if engine != nil { return column.needsValue ? "it is NOT NULL and has no default" : nil }
    if column.isStored { return "it is a STORED generated column" }
    if column.generated != nil { return nil }
    let value = column.default?.normalizedSQL ?? ["null"]
    if value == ["null"] { return column.isNotNull ? "it is NOT NULL and has no default" : nil }
    if value.first == "(" || value.first?.hasPrefix("current_") == true {
      return "its default is an expression"
    }
    if foreignKeys.contains(where: { $0.columns.contains { $0.foldedName == name } }) {
      return "it refers to another table and has a default"
    }
    return nil
  }
}
