extension Database {
  /// Whether there is a table of this name, in any case. Views don't count.
  public func tableExists(_ name: String) throws -> Bool {
    try value(
      """
      SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE
        UNION ALL
        SELECT 1 FROM sqlite_temp_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE)
      """, name, as: Bool.self) ?? false
  }

  /// Whether a table or view has a column of this name, in any case; false if there is no table.
  public func columnExists(_ column: String, in table: String) throws -> Bool {
    try value(
      """
      SELECT EXISTS (SELECT 1 FROM pragma_table_xinfo(?) WHERE name = ? COLLATE NOCASE)
      """, table, column, as: Bool.self) ?? false
  }

  /// All tables, indexes, views and triggers, in the order in which they were made.
  public func schema() throws -> [SchemaEntry] {
    try executeQuery("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid").map {
      SchemaEntry(
        kind: try $0.get(at: 0), name: try $0.get(at: 1), table: try $0.get(at: 2),
        sql: try $0.get(at: 3))
    }
  }

  /// The columns of a table or view in order. Throws where there is none of this name.
  public func columns(of table: String) throws -> [TableColumn] { try columns(of: table, in: nil) }

  /// The same of a table of one schema, such as `main`; of that which its name means if nil.
  package func columns(of table: String, in schema: String?) throws -> [TableColumn] {
    // Hidden columns are 1 for those of virtual tables, 2 and 3 for generated ones. A type is read as
    // bytes: of one that begins with a quote SQLite drops the last byte, whatever that is, which may
    // leave a part of a character.
    let columns = try executeQuery(
      """
      SELECT name, CAST(type AS BLOB), "notnull", dflt_value, pk, hidden IN (2, 3), hidden = 3
      FROM pragma_table_xinfo(?, ?) WHERE hidden <> 1 ORDER BY cid
      """, table, schema
    ).map {
      TableColumn(
        name: try $0.get(at: 0),
        declaredType: String(decoding: try $0.get(at: 1, as: [UInt8].self), as: UTF8.self),
        isNotNull: try $0.get(at: 2),
        defaultSQL: try $0.get(at: 3), primaryKeyPosition: try $0.get(at: 4),
        isGenerated: try $0.get(at: 5), isStored: try $0.get(at: 6))
    }
    if columns.isEmpty { throw noSuchTable(table) }
    return columns
  }

  /// The indexes of a table. Throws where there is no table or view of this name.
  public func indexes(of table: String) throws -> [TableIndex] { try indexes(of: table, in: nil) }

  package func indexes(of table: String, in schema: String?) throws -> [TableIndex] {
    let indexes = try executeQuery(
      #"SELECT name, "unique", origin, partial FROM pragma_index_list(?, ?) ORDER BY seq DESC"#,
      table, schema
    ).map { row in
      let name = try row.get(at: 0, as: String.self)
      let columns = try executeQuery(
        "SELECT name FROM pragma_index_info(?, ?) ORDER BY seqno", name, schema
      ).map { try $0.get(at: 0, as: String?.self) }
      return TableIndex(
        name: name, columns: columns, isUnique: try row.get(at: 1), isPartial: try row.get(at: 3),
        origin: try row.get(at: 2))
    }
    if indexes.isEmpty { _ = try columns(of: table, in: schema) }
    return indexes
  }

  /// The foreign keys of a table. Throws where there is no table or view of this name.
  public func foreignKeys(of table: String) throws -> [ForeignKey] {
    try foreignKeys(of: table, in: nil)
  }

  package func foreignKeys(of table: String, in schema: String?) throws -> [ForeignKey] {
    struct Part {
      var id: Int
      var table: String
      var from: String
      var to: String?
      var onUpdate: String
      var onDelete: String
    }
    let parts = try executeQuery(
      """
      SELECT id, "table", "from", "to", on_update, on_delete
      FROM pragma_foreign_key_list(?, ?) ORDER BY id DESC, seq
      """, table, schema
    ).map {
      Part(
        id: try $0.get(at: 0), table: try $0.get(at: 1), from: try $0.get(at: 2),
        to: try $0.get(at: 3), onUpdate: try $0.get(at: 4), onDelete: try $0.get(at: 5))
    }
    if parts.isEmpty { _ = try columns(of: table, in: schema) }
    var keys: [(id: Int, parts: [Part])] = []
    for part in parts {
      if keys.last?.id == part.id {
        keys[keys.count - 1].parts.append(part)
      } else {
        keys.append((part.id, [part]))
      }
    }
    return keys.compactMap { key in
      key.parts.first.map { first in
        ForeignKey(
          columns: key.parts.map(\.from), referencedTable: first.table,
          referencedColumns: key.parts.compactMap(\.to), onUpdate: first.onUpdate,
          onDelete: first.onDelete)
      }
    }
  }

  private func noSuchTable(_ name: String) -> DatabaseError {
    DatabaseError(.error, "no such table: \(name)")
  }

  /// A number of the program's own in the file's header, 0 at first;
  /// see [user_version](https://www.sqlite.org/pragma.html#pragma_user_version).
  public var userVersion: Int32 {
    get throws { try value("PRAGMA user_version", as: Int32.self) ?? 0 }
  }

  /// Sets ``userVersion``. Throws where the database can't be written.
  public func setUserVersion(_ version: Int32) throws {
    try executeUpdate(SQL(raw: "PRAGMA user_version = \(version)"))
  }

  /// A number in the file's header that tells what kind of file it is, 0 at first;
  /// see [application_id](https://www.sqlite.org/pragma.html#pragma_application_id).
  public var applicationID: Int32 {
    get throws { try value("PRAGMA application_id", as: Int32.self) ?? 0 }
  }

  /// Sets ``applicationID``. Throws where the database can't be written.
  public func setApplicationID(_ id: Int32) throws {
    try executeUpdate(SQL(raw: "PRAGMA application_id = \(id)"))
  }
}
