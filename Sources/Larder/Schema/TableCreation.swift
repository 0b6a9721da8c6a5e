import LarderSQLite

extension Table {
  /// Creates the table and its indexes, in a transaction or savepoint.
  ///
  /// ```swift
  /// try City.table.create(db)
  /// // CREATE TABLE "city" (
  /// //   "id" INTEGER PRIMARY KEY,
  /// //   "name" TEXT NOT NULL,
  /// //   "population" INTEGER NOT NULL
  /// // ) STRICT
  /// // CREATE INDEX "city_population_index" ON "city" ("population")
  /// ```
  ///
  /// The table is [STRICT](https://www.sqlite.org/stricttables.html) unless it is declared with
  /// ``TableOptions/notStrict``; what isn't Optional is NOT NULL, and so is a primary key. Tables
  /// may refer to one another, and be created in any order.
  ///
  /// - Parameter ifNotExists: whether a table that is there is no error, whatever its columns are
  ///   (see ``differences(_:)``). Its indexes that are missing are created.
  public func create(_ db: Database, ifNotExists: Bool = false) throws {
    try core.check()
    let table = DeclaredTable(core: core, dateFormat: db.dateFormat)
    try db.inTransaction { db in
      // Not IF NOT EXISTS: it would take another table's index of the same name for this one's.
      let isThere = try ifNotExists && db.tableExists(name)
      let present = Set(isThere ? try db.indexes(of: name).map(\.name.foldedName) : [])
      if !isThere { try db.executeStatements(SQL(raw: table.createSQL())) }
      for index in try table.indexes() where !present.contains(index.name.foldedName) {
        try db.executeStatements(SQL(raw: table.createSQL(index)))
      }
    }
  }

  /// Drops the table with its indexes and triggers.
  ///
  /// Its rows are deleted first, so that those of other tables that refer to them are deleted too,
  /// or keep the table from being dropped;
  /// see [DROP TABLE](https://www.sqlite.org/lang_droptable.html).
  ///
  /// - Parameter ifExists: whether a table that isn't there is no error.
  public func drop(_ db: Database, ifExists: Bool = false) throws {
    try core.check()
    let table = name.quotedIdentifier
    try db.executeStatements(SQL(raw: "DROP TABLE \(ifExists ? "IF EXISTS " : "")\(table)"))
  }

  /// The statements that ``create(_:ifNotExists:)`` runs: one for the table, one for each index.
  ///
  /// Throws where the declaration is wrong, or a default can't be stored.
  ///
  /// - Parameter dateFormat: the connection's ``Configuration/dateFormat``.
  public func createSQL(dateFormat: DateFormat = .secondsSince1970) throws -> [String] {
    try core.check()
    let table = DeclaredTable(core: core, dateFormat: dateFormat)
    return [try table.createSQL()] + (try table.indexes().map(table.createSQL))
  }
}

extension DeclaredTable {
  /// The CREATE TABLE; see [its syntax](https://www.sqlite.org/lang_createtable.html).
  func createSQL() throws -> String {
    var lines = try core.columns.map(columnSQL)
    let key = core.primaryKey.map(\.name)
    if key.count > 1 { lines.append("PRIMARY KEY (\(key.identifierList))") }
    lines += try core.constraints.map(constraintSQL)
    let body = lines.map { "  " + $0 }.joined(separator: ",\n")
    let options = optionsText.map { " " + $0 } ?? ""
    return "CREATE TABLE \(name.quotedIdentifier) (\n\(body)\n)\(options)"
  }

  /// A column with everything that is its own.
  func columnSQL(_ column: ColumnDefinition) throws -> String {
    var parts = [column.name.quotedIdentifier, type(of: column)]
    if let collation = column.collation { parts.append("COLLATE \(collation.quotedIdentifier)") }
    if column.isPrimaryKey, core.primaryKey.count == 1 { parts.append("PRIMARY KEY") }
    if column.isAutoincrement { parts.append("AUTOINCREMENT") }
    if isNotNull(column) { parts.append("NOT NULL") }
    if column.isUnique { parts.append("UNIQUE") }
    if let value = try defaultText(of: column) { parts.append("DEFAULT \(value)") }
    parts += try column.checks.map { "CHECK (\(try text($0)))" }
    if let generated = try generatedText(of: column) {
      parts.append("GENERATED ALWAYS \(generated)")
    }
    if let reference = column.reference {
      parts.append(try self.reference([column.name], reference).sql)
    }
    return parts.filter { !$0.isEmpty }.joined(separator: " ")
  }

  private func constraintSQL(_ constraint: TableConstraintDefinition) throws -> String {
    switch constraint {
    case .unique(let columns): "UNIQUE (\(columns.identifierList))"
    case .check(let condition): "CHECK (\(try text(condition)))"
    case .foreignKey(let columns, let definition):
      "FOREIGN KEY (\(columns.identifierList)) \(try reference(columns, definition).sql)"
    }
  }

  /// The CREATE INDEX; see [its syntax](https://www.sqlite.org/lang_createindex.html).
  func createSQL(_ index: Index) -> String {
    "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(index.name.quotedIdentifier) "
      + "ON \(name.quotedIdentifier) (\(index.columns.identifierList))"
      + (index.condition.map { " WHERE \($0)" } ?? "")
  }
}

extension DeclaredTable.Reference {
  /// The clause without the columns that refer.
  var sql: String {
    var text = "REFERENCES \(table.quotedIdentifier) (\(targetColumns.identifierList))"
    if definition.onDelete != .noAction { text += " ON DELETE \(definition.onDelete.rawValue)" }
    if definition.onUpdate != .noAction { text += " ON UPDATE \(definition.onUpdate.rawValue)" }
    return text + (definition.isDeferred ? " DEFERRABLE INITIALLY DEFERRED" : "")
  }
}
