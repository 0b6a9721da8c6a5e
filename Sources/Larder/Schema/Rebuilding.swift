import LarderSQLite

/// What a rebuild may lose; nothing unless told.
public struct RebuildLosses: OptionSet, Hashable, Sendable {
  /// The bits.
  public let rawValue: Int
  /// Losses from their bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Rows that break a NOT NULL, UNIQUE or CHECK constraint of the new table.
  public static let rows = RebuildLosses(rawValue: 1)
  /// The values of columns that the new table doesn't have.
  public static let columns = RebuildLosses(rawValue: 2)
  /// Values as they are, where the type of their new column makes others of them.
  public static let values = RebuildLosses(rawValue: 4)
  /// The row ids, by which other tables, such as those of full-text search, may know the rows.
  public static let rowIDs = RebuildLosses(rawValue: 8)
}

extension Table {
  /// Makes the table anew as it is declared here, and copies its rows; returns their number.
  ///
  /// It serves for what ALTER TABLE can't do: other types, keys, constraints and options.
  ///
  /// ```swift
  /// try City.table.rebuild(db, copying: ["population": "CAST(inhabitants AS INTEGER)"])
  /// // CREATE TABLE "city rebuilt" ( … )
  /// // INSERT INTO main."city rebuilt" ("id", "name", "population")
  /// //   SELECT "id", "name", CAST(inhabitants AS INTEGER) FROM main."city" ORDER BY "rowid"
  /// // DROP TABLE main."city"
  /// // ALTER TABLE main."city rebuilt" RENAME TO "city"
  /// ```
  ///
  /// A column gets what `copying` says, an expression over the old columns; else what the old
  /// column of its name has; else its default. Row ids, the next AUTOINCREMENT key, triggers, and
  /// indexes that aren't declared are kept, but for indexes of columns that are gone. So is the order
  /// of the columns, which `SELECT *` and INSERT without names go by: new ones take the places of
  /// those that are gone, or come last. Statistics of ANALYZE are not kept.
  ///
  /// No value changes: where the type of the new column would make another of what an old one holds,
  /// as it does of "007" or of an integer that no REAL has, this throws
  /// ``SchemaError/changesValues(table:column:count:rows:)``. What expressions yield is stored as
  /// [SQLite stores it](https://www.sqlite.org/datatype3.html#type_affinity).
  ///
  /// All of it happens in one transaction or savepoint (see [the
  /// procedure](https://www.sqlite.org/lang_altertable.html#otheralter)), in memory that doesn't
  /// grow with the table: what fails leaves the database as it was. Foreign keys have to be off
  /// meanwhile, since dropping a table would delete the rows that refer to it, and can't be turned
  /// off inside of a transaction. Outside of one (`DatabaseAccess.inDatabase`) this does it, and
  /// checks all keys from and to the table before the end. Inside of one it throws
  /// ``SchemaError/foreignKeysAreOn(table:)`` where they are on and rows may refer to the table;
  /// where they are off, the check is for whoever began the transaction.
  ///
  /// Throws ``SchemaError`` where values or rows would be lost or something else would no longer
  /// work, and ``LarderSQLite/DatabaseError`` for a row that breaks a constraint. Only tables of
  /// the `main` schema are rebuilt.
  ///
  /// - `copying`: expressions for the values of columns, by the columns' names.
  /// - `losing`: what may be lost without an error.
  @discardableResult
  public func rebuild(
    _ db: Database, copying: [String: SQL] = [:], losing: RebuildLosses = []
  ) throws -> Int {
    try schema(dateFormat: db.dateFormat).rebuild(db, copying: copying, losing: losing)
  }
}

extension TableSchema {
  /// Makes the table anew; see ``Table/rebuild(_:copying:losing:)``.
  @discardableResult
  public func rebuild(
    _ db: Database, copying: [String: SQL] = [:], losing: RebuildLosses = []
  ) throws -> Int {
    func run() throws -> Int {
      try TableRebuild(to: self, copying: copying, losing: losing, in: db).run()
    }
    guard db.enforcesForeignKeys else { return try db.inTransaction { _ in try run() } }
    if db.isInTransaction {
      guard try !isReferenced(in: db) else { throw SchemaError.foreignKeysAreOn(table: name) }
      return try db.inTransaction { _ in try run() }
    }
    return try db.withoutForeignKeys {
      try db.inTransaction { db in
        let count = try run()
        try checkForeignKeys(db)
        return count
      }
    }
  }

  /// Whether rows may refer to the table, those of the new one included.
  private func isReferenced(in db: Database) throws -> Bool {
    let isOwn = foreignKeys.contains { $0.referencedTable.foldedName == name.foldedName }
    return try isOwn || !tablesReferring(db).isEmpty
  }

  private func tablesReferring(_ db: Database) throws -> [String] {
    try db.executeQuery(
      """
      SELECT DISTINCT t.name FROM main.sqlite_schema AS t, pragma_foreign_key_list(t.name, 'main') AS k
      WHERE t.type = 'table' AND k."table" = ? COLLATE NOCASE
      """, name
    ).map { try $0.get(at: 0) }
  }

  private func checkForeignKeys(_ db: Database) throws {
    let tables = try tablesReferring(db) + (foreignKeys.isEmpty ? [] : [name])
    var count = 0
    for table in Set(tables) {
      count +=
        try db.value(
          "SELECT count(*) FROM pragma_foreign_key_check(?, 'main')", table, as: Int.self) ?? 0
    }
    if count > 0 { throw SchemaError.brokenForeignKeys(table: name, count: count) }
  }
}
