// Questions about a database's schema.

extension Database {
  /// Whether a table of this name exists, ignoring case. Views don't count. On another engine, the name is
  /// exact, and only the first schema of the search path counts, where tables are made. Throws
  /// ``DatabaseError`` if the database can't be read.
  public func tableExists(_ name: String) throws -> Bool { try tableExists(name, in: nil) }

  /// The same for a table of one schema.
  package func tableExists(_ name: String, in schema: String?) throws -> Bool {
    if let catalog = catalog(of: schema) { return try catalog.tableExists(name) }
    if let schema { return try TableSchema.found(name, in: self, schema: schema) != nil }
    return try value(
      """
      SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE
        UNION ALL
        SELECT 1 FROM sqlite_temp_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE)
      """, name, as: Bool.self) ?? false
  }

  /// Whether a table or view has a column of this name, ignoring case; false if there is no table. On another
  /// engine, names are exact, and only the first schema of the search path counts. Throws ``DatabaseError``
  /// if the database can't be read.
  public func columnExists(_ column: String, in table: String) throws -> Bool {
    try columnExists(column, in: table, of: nil)
  }

  /// The same for a table of one schema.
  package func columnExists(
    _ column: String, in table: String, of schema: String?
  ) throws -> Bool {
    if let catalog = catalog(of: schema) { return try catalog.columnExists(column, in: table) }
    return try value(
      """
      SELECT EXISTS (SELECT 1 FROM pragma_table_xinfo(?) WHERE name = ? COLLATE NOCASE)
      """, table, column, as: Bool.self) ?? false
  }

  /// All tables, indexes, views and triggers of the `main` schema, in the order in which they were made. On
  /// another engine, those of the first schema of the search path, in that engine's SQL. Throws
  /// ``DatabaseError`` if the database can't be read.
  public func schema() throws -> [SchemaEntry] {
    try catalog?.entries(ofTable: nil) ?? schema(of: "main")
  }

  package func schema(ofTable name: String) throws -> [SchemaEntry] {
    try catalog?.entries(ofTable: name)
      ?? schema(of: "main").filter { $0.table.foldedName == name.foldedName }
  }

  /// The schema entries of one schema, such as `temp`.
  package func schema(of name: String) throws -> [SchemaEntry] {
    if let catalog = catalog(of: name) { return try catalog.entries(ofTable: nil) }
    return try executeQuery(
      "SELECT type, name, tbl_name, sql FROM \(identifier: name).sqlite_schema ORDER BY rowid"
    ).map {
      SchemaEntry(
        kind: try $0.get(at: 0), name: try $0.get(at: 1), table: try $0.get(at: 2),
        sql: try $0.get(at: 3))
    }
  }

  /// The columns of a table or view in order. A temporary table hides others of its name.
  ///
  /// Throws ``DatabaseError`` if there is none of this name.
  public func columns(of table: String) throws -> [ColumnSchema] { try columns(of: table, in: nil) }

  /// The columns of a table of one schema, such as `main`; if nil, of the table to which the name resolves.
  package func columns(of table: String, in schema: String?) throws -> [ColumnSchema] {
    try catalog(of: schema)?.columns(of: table) ?? TableReader(table, in: schema, self).columns()
  }

  /// The indexes of a table, including those of its constraints.
  ///
  /// Throws ``DatabaseError`` if there is no table or view of this name.
  public func indexes(of table: String) throws -> [IndexSchema] {
    try indexes(of: table, in: nil)
  }

  /// The indexes of a table of one schema.
  package func indexes(of table: String, in schema: String?) throws -> [IndexSchema] {
    try catalog(of: schema)?.indexes(of: table) ?? TableReader(table, in: schema, self).indexes()
  }

  /// The foreign keys of a table.
  ///
  /// Throws ``DatabaseError`` if there is no table or view of this name.
  public func foreignKeys(of table: String) throws -> [ForeignKeySchema] {
    try catalog?.foreignKeys(of: table) ?? TableReader(table, in: nil, self).foreignKeys()
  }

  /// A number in the file's header that the program may use for itself, 0 at first; see
  /// [user_version](https://www.sqlite.org/pragma.html#pragma_user_version). Throws ``DatabaseError`` if the
  /// database can't be read.
  public var userVersion: Int32 {
    get throws { try value("PRAGMA user_version", as: Int32.self) ?? 0 }
  }

  /// Sets ``userVersion``. Throws where the database can't be written.
  public func setUserVersion(_ version: Int32) throws {
    try executeUpdate(SQL(raw: "PRAGMA user_version = \(version)"))
  }

  /// A number in the file's header that tells what kind of file it is, 0 at first;
  /// see [application_id](https://www.sqlite.org/pragma.html#pragma_application_id).
  /// Throws ``DatabaseError`` where the database can't be read.
  public var applicationID: Int32 {
    get throws { try value("PRAGMA application_id", as: Int32.self) ?? 0 }
  }

  /// Sets ``applicationID``. Throws where the database can't be written.
  public func setApplicationID(_ id: Int32) throws {
    try executeUpdate(SQL(raw: "PRAGMA application_id = \(id)"))
  }
}
