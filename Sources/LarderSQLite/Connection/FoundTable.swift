import CSQLite

/// A table or view as SQLite has it: what has to be known to use it by a declaration of another program's.
package struct FoundTable: Sendable {
  package let name: String
  package let columns: [FoundColumn]
  package let isView: Bool
  /// Whether its rows have a row id: false for views and tables WITHOUT ROWID.
  package let hasRowID: Bool
  /// The column that is the row id by another name, if one is.
  package let rowIDColumn: Int?
  /// Whether it is STRICT, where that makes a difference: where a column's type is ANY.
  private let isStrict: Bool

  /// The position of a column by its name in any case.
  package func index(of name: String) -> Int? { index(ofFolded: name.foldedName) }

  /// The same by the name in small letters.
  package func index(ofFolded name: [UInt8]) -> Int? {
    columns.firstIndex { $0.foldedName == name }
  }

  /// Whether a name is one that SQLite has for the row id itself.
  package func isRowID(_ name: String) -> Bool {
    hasRowID && index(of: name) == nil && Self.rowIDNames.contains(name.lowercased())
  }

  private static let rowIDNames = ["rowid", "_rowid_", "oid"]

  /// What a column makes of the values that are stored in it, or compared with it.
  package func affinity(of column: Int) -> ColumnAffinity {
    ColumnAffinity(type: columns[column].type, isStrict: isStrict)
  }

  // MARK: Reading

  /// Reads it from the schema, which SQLite has checked to be that of the file; nil where there is no such table.
  /// One of the temporary database hides others of its name, as in statements.
  init?(_ name: String, on look: SchemaLook) throws {
    var columns: [FoundColumn] = []
    try look.rows("PRAGMA table_xinfo(\(name.quotedIdentifier))") { row in
      let name = row.text(1)
      columns.append(
        FoundColumn(
          name: name, type: row.text(2), isNotNull: row.integer(3) != 0,
          hasDefault: !row.isNull(4), isGenerated: (2...3).contains(row.integer(6)),
          keyPosition: row.integer(5), foldedName: name.foldedName))
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
    // A type of any other words is no row id's. Nor is INTEGER PRIMARY KEY DESC, by an old mistake: such a key has
    // an index.
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

/// A column of a found table, those of virtual tables that are hidden included.
package struct FoundColumn: Sendable {
  package let name: String
  /// The declared type; of a view's column that of the column behind it, or nothing.
  package let type: String
  /// Whether NULL is ruled out by NOT NULL.
  package let isNotNull: Bool
  package let hasDefault: Bool
  /// Whether it is computed from others.
  package let isGenerated: Bool
  /// Its place from 1 in the primary key, or 0 if it isn't a part of it.
  package let keyPosition: Int
  fileprivate let foldedName: [UInt8]
}

/// A look into a connection's schema, by statements of its own, which nobody is told of and no authorizer refuses.
///
/// What makes the unsafe pointers sound: the handle is open as long as the look lasts, and each statement is
/// finalized in the call that makes it.
struct SchemaLook {
  let handle: OpaquePointer

  func rows(_ sql: String, _ body: (SchemaRow) throws -> Void) throws {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    var code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    if code == SQLITE_OK { code = sqlite3_step(statement) }
    while code == SQLITE_ROW {
      try body(SchemaRow(statement: statement))
      code = sqlite3_step(statement)
    }
    guard code == SQLITE_DONE else { throw LookFailure(code: code, sql: sql) }
  }

  /// Whether a table, no view, has a column, or the row id, of a name; whether there is such a table if that is nil.
  func hasColumn(_ column: String?, of table: String) -> Bool {
    sqlite3_table_column_metadata(handle, nil, table, column, nil, nil, nil, nil, nil) == SQLITE_OK
  }

  /// The collation of a table's column.
  func collation(of column: String, in table: String) -> String {
    var collation: UnsafePointer<CChar>?
    let code = sqlite3_table_column_metadata(
      handle, nil, table, column, nil, &collation, nil, nil, nil)
    return code == SQLITE_OK ? collation.map { String(cString: $0) } ?? "BINARY" : "BINARY"
  }

  func isStrict(_ table: String) throws -> Bool {
    try listed(table) { $0.integer(5) != 0 } ?? false
  }

  func isWithoutRowID(_ table: String) throws -> Bool {
    try listed(table) { $0.integer(4) != 0 } ?? false
  }

  /// Whether a table is one of a module's, whose rules nobody knows.
  func isVirtual(_ table: String) throws -> Bool {
    // Tables that nobody has created needn't be listed.
    try listed(table) { $0.text(2) == "virtual" } ?? true
  }

  /// What the list of tables says of the one that a name means.
  private func listed<T>(_ table: String, _ value: (SchemaRow) -> T) throws -> T? {
    var found: T?
    try rows("PRAGMA table_list(\(table.quotedIdentifier))") { row in
      if found == nil || row.text(0) == "temp" { found = value(row) }
    }
    return found
  }

  func hasKeyIndex(_ table: String) throws -> Bool {
    var found = false
    try rows("PRAGMA index_list(\(table.quotedIdentifier))") { row in
      if row.text(3) == "pk" { found = true }
    }
    return found
  }

  /// The columns of each index of a table that no two rows can have in common, with the collation by which they are
  /// compared. Indexes of some rows, or of expressions, aren't among them.
  func uniqueKeys(of table: String) throws -> [[(column: Int, collation: String)]] {
    var indexes: [String] = []
    try rows("PRAGMA index_list(\(table.quotedIdentifier))") { row in
      if row.integer(2) != 0, row.integer(4) == 0 { indexes.append(row.text(1)) }
    }
    if indexes.isEmpty { return [] }
    // Another database may have an index of the same name.
    let schema = try schema(ofTable: table).quotedIdentifier
    return try indexes.compactMap { index in
      var parts: [(column: Int, collation: String)] = []
      try rows("PRAGMA \(schema).index_xinfo(\(index.quotedIdentifier))") { row in
        if row.integer(5) != 0 { parts.append((row.integer(1), row.text(4))) }
      }
      return parts.allSatisfy { $0.column >= 0 } ? parts : nil
    }
  }

  /// The database that a table's name means: the temporary one comes first, then the main one, then those that are
  /// attached.
  private func schema(ofTable table: String) throws -> String {
    var names = ["temp", "main"]
    try rows("PRAGMA database_list") { row in
      if row.integer(0) > 1 { names.append(row.text(1)) }
    }
    return try names.first { name in
      var isThere = false
      try rows("PRAGMA \(name.quotedIdentifier).table_info(\(table.quotedIdentifier))") { _ in
        isThere = true
      }
      return isThere
    } ?? "main"
  }
}

/// A row of a statement on the schema.
struct SchemaRow {
  fileprivate let statement: OpaquePointer?

  /// A text, which may hold what is no UTF-8: that is replaced.
  func text(_ column: Int32) -> String {
    guard let bytes = sqlite3_column_text(statement, column) else { return "" }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(statement, column)) }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
}

/// Thrown by a look into the schema that has failed, with SQLite's code.
struct LookFailure: Error {
  let code: Int32
  let sql: String
}
