import LarderSQLite

// CREATE TABLE and DROP TABLE of declared tables.

extension Table {
  /// Creates the table and its indexes in a transaction or savepoint, by ``schema(dateFormat:)``.
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
  /// ``TableOptions/notStrict``. Columns are NOT NULL if they aren't Optional, and so is a primary key.
  /// Tables may refer to one another and be created in any order. On another engine, a table comes after
  /// those that it refers to, unless `Schema.steps(from:)` creates them.
  ///
  /// Throws ``RecordError/declaration(table:problem:)`` if the declaration is wrong,
  /// ``RecordError/view(table:)`` for a view, and ``LarderSQLite/DatabaseError`` if the table exists.
  ///
  /// - `ifNotExists`: whether an existing table is accepted, whatever its columns are (see
  ///   ``differences(_:strictly:)``). Its missing indexes are created.
  public func create(_ db: Database, ifNotExists: Bool = false) throws {
    try schema(dateFormat: db.dateFormat, in: db.dialect ?? SQLiteDialect())
      .create(db, ifNotExists: ifNotExists)
  }

  /// Drops the table with its indexes and triggers.
  ///
  /// Its rows are deleted first. So rows of other tables that refer to them are deleted too, or prevent the
  /// drop; see [DROP TABLE](https://www.sqlite.org/lang_droptable.html).
  ///
  /// Throws ``LarderSQLite/DatabaseError`` if the table doesn't exist, or if rows refer to its rows.
  ///
  /// - `ifExists`: whether a missing table is accepted.
  public func drop(_ db: Database, ifExists: Bool = false) throws {
    try core.checkIsWhole()
    try db.dropTable(name, in: schema, ifExists: ifExists)
  }
}

extension TableSchema {
  /// Creates the table and its indexes; see `Table.create(_:ifNotExists:)`.
  ///
  /// - Throws: ``LarderSQLite/UnsupportedByEngine`` if the statements are for another engine,
  ///   ``LarderSQLite/DatabaseError`` if the table exists.
  public func create(_ db: Database, ifNotExists: Bool = false) throws {
    try checkEngine(of: db)
    try db.inTransaction { db in
      // IF NOT EXISTS isn't used: it would take another table's index of the same name for this one's.
      let isThere = try ifNotExists && db.tableExists(name, in: schema)
      let present = Set(
        isThere ? try db.indexes(of: name, in: schema).map(\.name.foldedName) : [])
      if !isThere { try db.create(.table, name, in: schema, by: sql) }
      for index in indexes where !present.contains(index.name.foldedName) {
        try db.create(index, of: self)
      }
    }
  }

  func checkEngine(of db: Database) throws {
    guard engine == db.engine?.name else {
      throw UnsupportedByEngine(
        engine: db.engine?.name ?? "SQLite",
        feature: "statements for \(engine ?? "SQLite"): declare “\(name)” with `in:`, the database")
    }
  }

  /// Drops the table; see `Table.drop(_:ifExists:)`.
  ///
  /// - Throws: ``LarderSQLite/DatabaseError`` if the table doesn't exist, or if rows refer to its rows.
  public func drop(_ db: Database, ifExists: Bool = false) throws {
    try db.dropTable(name, in: schema, ifExists: ifExists)
  }
}

extension Database {
  func dropTable(_ name: String, in schema: String?, ifExists: Bool) throws {
    // Another engine would search the next schemas of its path.
    if let engine, try !tableExists(name, in: schema) {
      guard !ifExists else { return }
      throw DatabaseError(.error, "no such table: \(name)", engine: engine.name)
    }
    try executeStatements(SQL(raw: DDL.drop(.table, name, in: schema, ifExists: ifExists)))
  }
}
