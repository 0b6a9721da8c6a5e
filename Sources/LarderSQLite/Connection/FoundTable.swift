import CSQLite

/// A table or view as SQLite has it, for comparing it with a program's declaration.
package struct FoundTable: Sendable {
  package let name: String
  package let columns: [FoundColumn]
  package let isView: Bool
  /// Whether its rows have a row id: false for views and tables WITHOUT ROWID.
  package let hasRowID: Bool
  /// The column that is an alias of the row id, if there is one.
  package let rowIDColumn: Int?
  /// Whether the table is STRICT. Only looked up if a column's type is ANY, for which it matters.
  private let isStrict: Bool

  /// The position of a column by its name in any case.
  package func index(of name: String) -> Int? { index(ofFolded: name.foldedName) }

  /// The position of a column by its name in small letters.
  package func index(ofFolded name: [UInt8]) -> Int? {
    columns.firstIndex { $0.foldedName == name }
  }

  /// Whether a name is one of SQLite's names for the row id itself.
  package func isRowID(_ name: String) -> Bool {
    hasRowID && index(of: name) == nil && Self.rowIDNames.contains(name.lowercased())
  }

  private static let rowIDNames = ["rowid", "_rowid_", "oid"]

  /// The affinity of a column, which converts values that are stored in it, or compared with it.
  package func affinity(of column: Int) -> ColumnAffinity {
    ColumnAffinity(type: columns[column].type, isStrict: isStrict)
  }

  /// Whether a column can be NULL. SQLite admits NULL in most primary keys.
  package func admitsNull(_ column: Int) -> Bool {
    let found = columns[column]
    return !found.isNotNull && column != rowIDColumn && (hasRowID || found.keyPosition == 0)
  }

  // MARK: Reading

  /// Reads a table from the schema, which SQLite has verified to be that of the file; nil if there is no such
  /// table. A temporary table hides others of its name, as in statements.
  init?(_ name: String, on look: SchemaLook) throws {
    let columns = try look.rows("PRAGMA table_xinfo(\(name.quotedIdentifier))") { row in
      let name = row.text(1)
      return FoundColumn(
        name: name, type: row.text(2), isNotNull: row.integer(3) != 0, hasDefault: !row.isNull(4),
        isGenerated: (2...3).contains(row.integer(6)), keyPosition: row.integer(5),
        foldedName: name.foldedName)
    }
    if columns.isEmpty { return nil }
    self.name = name
    self.columns = columns
    isView = !look.hasColumn(nil, of: name)
    let isStrict = try columns.contains { $0.type.isWord("any") } && look.isStrict(name)
    self.isStrict = isStrict
    if isView {
      (hasRowID, rowIDColumn) = (false, nil)
      return
    }
    let free = Self.rowIDNames.first { name in
      !columns.contains { $0.foldedName.elementsEqual(name.utf8) }
    }
    if let free {
      hasRowID = look.hasColumn(free, of: name)
    } else {
      hasRowID = try !look.isWithoutRowID(name)
    }
    // Only a type that is just INTEGER makes an alias of the row id. INTEGER PRIMARY KEY DESC doesn't, by an
    // old mistake of SQLite's: such a key has an index.
    let key = columns.indices.filter { columns[$0].keyPosition > 0 }
    guard hasRowID, key.count == 1, columns[key[0]].type.isWord("integer"),
      try !look.hasKeyIndex(name)
    else {
      rowIDColumn = nil
      return
    }
    rowIDColumn = key[0]
  }
}

/// A column of a found table, hidden ones of virtual tables included.
package struct FoundColumn: Sendable {
  package let name: String
  /// The declared type; for a view's column, the type of the column behind it, or an empty text.
  package let type: String
  /// Whether the column is declared NOT NULL.
  package let isNotNull: Bool
  package let hasDefault: Bool
  /// Whether it is a generated column.
  package let isGenerated: Bool
  /// Its place from 1 in the primary key, or 0 if it isn't a part of it.
  package let keyPosition: Int
  fileprivate let foldedName: [UInt8]
}

/// Reads a connection's schema by statements of its own, which aren't reported, and pass any authorizer.
///
/// The unsafe pointer is sound: the handle is open as long as this is used.
struct SchemaLook {
  let handle: OpaquePointer

  /// What a closure makes of a statement's rows, without nil.
  func rows<T>(_ sql: String, _ body: (OwnStatement) -> T?) throws -> [T] {
    let statement = OwnStatement(sql, on: handle)
    var found: [T] = []
    while statement.next() {
      if let value = body(statement) { found.append(value) }
    }
    guard statement.code == SQLITE_DONE else { throw LookFailure(code: statement.code, sql: sql) }
    return found
  }

  /// Whether a table, not a view, has a column or row id of a name; for nil, whether there is such a table.
  func hasColumn(_ column: String?, of table: String) -> Bool {
    sqlite3_table_column_metadata(handle, nil, table, column, nil, nil, nil, nil, nil) == SQLITE_OK
  }

  /// The declared type and the collation of a table's column; nil if a table, not a view, has no such column.
  func declaration(
    of column: String, in table: String
  ) -> (type: String?, collation: String)? {
    var type: UnsafePointer<CChar>?
    var collation: UnsafePointer<CChar>?
    guard
      sqlite3_table_column_metadata(handle, nil, table, column, &type, &collation, nil, nil, nil)
        == SQLITE_OK
    else { return nil }
    // Both strings belong to the schema, which the next statement may read anew.
    return (type.map { String(cString: $0) }, collation.map { String(cString: $0) } ?? "BINARY")
  }

  /// The collation of a table's column.
  func collation(of column: String, in table: String) -> String {
    declaration(of: column, in: table)?.collation ?? "BINARY"
  }

  func isStrict(_ table: String) throws -> Bool {
    try listed(table) { $0.integer(5) != 0 } ?? false
  }

  func isWithoutRowID(_ table: String) throws -> Bool {
    try listed(table) { $0.integer(4) != 0 } ?? false
  }

  /// Whether a table is a virtual one, whose rules are its module's own.
  func isVirtual(_ table: String) throws -> Bool {
    // A virtual table that exists without CREATE needn't be listed.
    try listed(table) { $0.text(2) == "virtual" } ?? true
  }

  /// A value from the table list, for the table that a name means.
  private func listed<T>(_ table: String, _ value: (OwnStatement) -> T) throws -> T? {
    let found = try rows("PRAGMA table_list(\(table.quotedIdentifier))") { row in
      (isTemporary: row.text(0) == "temp", value: value(row))
    }
    return (found.first { $0.isTemporary } ?? found.first)?.value
  }

  func hasKeyIndex(_ table: String) throws -> Bool {
    try rows("PRAGMA index_list(\(table.quotedIdentifier))") { $0.text(3) }.contains("pk")
  }

  /// The columns of each unique index of a table, with the collations that compare them. Partial indexes, and
  /// those of expressions, aren't among them.
  func uniqueKeys(of table: String) throws -> [[(column: Int, collation: String)]] {
    let indexes = try rows("PRAGMA index_list(\(table.quotedIdentifier))") { row in
      row.integer(2) != 0 && row.integer(4) == 0 ? row.text(1) : nil
    }
    if indexes.isEmpty { return [] }
    // Another database may have an index of the same name.
    let schema = try schema(ofTable: table).quotedIdentifier
    return try indexes.compactMap { index in
      let parts = try rows("PRAGMA \(schema).index_xinfo(\(index.quotedIdentifier))") { row in
        row.integer(5) != 0 ? (column: row.integer(1), collation: row.text(4)) : nil
      }
      return parts.allSatisfy { $0.column >= 0 } ? parts : nil
    }
  }

  /// The database in which a table's name is found: first the temporary one, then the main one, then the
  /// attached ones.
  private func schema(ofTable table: String) throws -> String {
    try (["temp", "main"] + attachedDatabases()).first { name in
      let sql = "PRAGMA \(name.quotedIdentifier).table_info(\(table.quotedIdentifier))"
      return try !rows(sql) { $0.integer(0) }.isEmpty
    } ?? "main"
  }

  func attachedDatabases() throws -> [String] {
    try rows("PRAGMA database_list") { $0.integer(0) > 1 ? $0.text(1) : nil }
  }
}

/// The failure of a statement on the schema, with SQLite's code.
struct LookFailure: Error {
  let code: Int32
  let sql: String
}
