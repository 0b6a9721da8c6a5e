import LarderSQLite

// Declared tables in a server's spelling. Only the server knows how it writes an expression, a type or a
// default that it was given. So it is asked: a temporary table is made and read.

extension TableSchema {
  /// A declared table, in the spelling of the database's engine; for SQLite if there is no database.
  static func declared(
    _ name: String, _ columns: [ColumnDefinition], _ constraints: [TableConstraintDefinition],
    _ options: TableOptions, _ dateFormat: DateFormat, in db: Database?
  ) throws -> TableSchema {
    func declared(_ dialect: any Dialect, isDraft: Bool = false) throws -> TableSchema {
      try DeclaredTable(name, columns, constraints, options, dateFormat, dialect, isDraft: isDraft)
        .schema
    }
    guard let db, let dialect = db.dialect else { return try declared(SQLiteDialect()) }
    return try declared(dialect).spelled(by: db, declared(dialect, isDraft: true))
  }

  /// This declared table in the server's spelling.
  ///
  /// - Parameter draft: the same as a temporary table, which is created for this and rolled back.
  private func spelled(by db: Database, _ draft: TableSchema) throws -> TableSchema {
    do {
      return try db.inSavepoint { db in
        for sql in draft.statements { try db.executeUpdate(SQL(raw: sql).uncached) }
        guard let spelled = try TableSchema.found(name, in: db, schema: "temp") else {
          throw SchemaError.noTable(name)
        }
        db.setRollbackOnly()
        return with(spelled)
      }
    } catch let error as DatabaseError where error.code == .readOnly {
      throw UnsupportedByEngine(
        engine: db.engine?.name ?? error.engine,
        feature:
          "comparing a schema with its declaration in a read scope: that takes a temporary table, so "
          + "use inDatabase or inTransaction")
    }
  }

  /// The server's spelling with the parts that a temporary table doesn't have, and the declared statements.
  private func with(_ spelled: TableSchema) -> TableSchema {
    var table = spelled
    table.foreignKeys = foreignKeys
    table.unreferencedSQL = spelled.sql
    for key in foreignKeys {
      if key.columns.count == 1,
        let index = table.columns.firstIndex(where: { $0.name == key.columns[0] })
      {
        table.columns[index].sql += " \(key.clause)"
        table.columns[index].isReference = true
      } else {
        table.constraints.append("FOREIGN KEY \(key.sql)")
      }
    }
    for index in table.indexes.indices {
      let name = table.indexes[index].name
      if let declared = indexes.first(where: { $0.name == name }) {
        table.indexes[index].sql = declared.sql
      }
    }
    table.writeStatement()
    return table
  }
}
