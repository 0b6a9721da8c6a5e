import LarderSQLite

extension Record {
  /// Updates the row with the record's primary key, or inserts the record if there is none or the
  /// key is nil.
  ///
  /// Throws ``RecordError/stale(table:key:)`` if the row has another version.
  public mutating func save(_ db: Database) throws {
    let table = Self.table
    try table.core.checkHasKey()
    let hasKey = withUnsafePointer(to: self) { table.core.hasKey($0, db) }
    guard hasKey else { return try insert(db) }
    // Both statements see the same rows.
    try db.inTransaction { db in
      do {
        try update(db) as Void
      } catch RecordError.notFound {
        try insert(db)
      }
    }
  }

  /// The same for a record that isn't a variable; returns it with its key and new version.
  @discardableResult @_disfavoredOverload
  public func save(_ db: Database) throws -> Self {
    var record = self
    try record.save(db) as Void
    return record
  }

  /// Inserts the record or, where a row with the same primary key or other unique columns is there,
  /// updates that.
  ///
  /// ```swift
  /// try city.upsert(db)
  /// try city.upsert(db, onConflict: City.columns.name, updating: City.columns.population)
  /// // INSERT … ON CONFLICT ("name") DO UPDATE SET "population" = excluded."population"
  /// ```
  ///
  /// See [UPSERT](https://www.sqlite.org/lang_upsert.html). A key that is nil gets that of the row.
  /// The version of a row that is there goes up, whatever it was.
  ///
  /// - Parameters:
  ///   - target: the columns that decide whether the row is there, which need a unique index; the
  ///     primary key if none are named.
  ///   - columns: those that are updated; all but the key and the target if none are named.
  public mutating func upsert<each Target, each Value>(
    _ db: Database, onConflict target: repeat Column<Self, each Target>,
    updating columns: repeat Column<Self, each Value>
  ) throws {
    let table = Self.table
    try table.hooks?.willInsert(&self, db)
    let text = try table.upsert(
      table.indices(repeat each target), table.indices(repeat each columns))
    try withUnsafeMutablePointer(to: &self) { try table.core.upsert($0, db, text) }
  }

  /// The same for a record that isn't a variable; returns it with its key.
  @discardableResult @_disfavoredOverload
  public func upsert<each Target, each Value>(
    _ db: Database, onConflict target: repeat Column<Self, each Target>,
    updating columns: repeat Column<Self, each Value>
  ) throws -> Self {
    var record = self
    try record.upsert(db, onConflict: repeat each target, updating: repeat each columns) as Void
    return record
  }
}

extension Table {
  /// The statement of an upsert; nil for the one that the table has ready.
  fileprivate func upsert(_ target: [Int], _ chosen: [Int]) throws -> RecordSQL.Text? {
    if target.isEmpty && chosen.isEmpty {
      try core.checkHasKey()
      return nil
    }
    try core.check()
    if target.isEmpty { try core.checkHasKey() }
    return core.sql.upsert(onConflict: target, updating: chosen.isEmpty ? nil : chosen)
  }
}

extension TableCore {
  /// Whether no part of the record's key is NULL.
  fileprivate func hasKey(_ record: UnsafeRawPointer, _ db: Database) -> Bool {
    sql.key.allSatisfy { (try? layout.value(of: $0, in: record, db.dateFormat)) != .null }
  }

  fileprivate func upsert(
    _ record: UnsafeMutableRawPointer, _ db: Database, _ text: RecordSQL.Text?
  ) throws {
    guard let rowIDColumn, !hasKey(record, db) else {
      _ = try text.map { try write($0, record, db) } ?? write(upsert, record, db)
      return
    }
    // The last row id is that of an earlier INSERT where the row was there.
    let key = columns[rowIDColumn].name.quotedIdentifier
    let text = (text ?? sql.upsert()).returning(key)
    var rowID: Int64?
    do {
      rowID = try db.withRows(SQL(raw: text.text)) {
        try layout.bind(record, text.order, to: $0)
      } _: { statement in
        guard try statement.step() else { return nil }
        let value = try Int64(
          column: ColumnReader(
            statement: statement.arena.statement, index: 0, dateFormat: db.dateFormat))
        try statement.stepToEnd()
        return value
      }
    } catch {
      throw describe(error, writing: record, db, sql: text.text)
    }
    if let rowID { try set(record, rowIDColumn, rowID, db) }
  }
}
