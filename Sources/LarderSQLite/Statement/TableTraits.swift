import CSQLite

/// The facts about a table that the authorizer doesn't tell.
///
/// The unsafe pointers are sound: the handle is open while the table is read, and each statement is finalized
/// in the call that makes it.
struct TableTraits {
  /// Whether an update of some columns changes nothing but these: no column is generated, and no row
  /// has to give way to another.
  private(set) var isPlain = false
  /// The first column of the primary key, folded. It may be the row id, in whose order rows are found.
  private(set) var keyColumn: String?
  /// Whether it shows content that is written under other names, which SQLite doesn't report. Virtual tables
  /// do, among them those of the schema or of pages, and views that join by names.
  private(set) var showsOthers = false
  /// Whether SQLite keeps its last key in `sqlite_sequence`.
  private(set) var isAutoincrement = false
  /// The tables in which a module stores this one's content. The module's statements for that are compiled
  /// once, so SQLite reports them only with the first statement that needs them.
  private(set) var partners: [Region.TableName] = []
  /// The tables from which a module reads the content that this one shows, with the same limits.
  private(set) var sources: [Region.TableName] = []
  /// Whether writing to it may write to any other table.
  private(set) var writesOthers = false

  init(of name: Region.TableName, on connection: Connection) {
    guard let handle = connection.handle else { return }
    connection.untracked { read(name, on: handle, connection) }
  }

  private mutating func read(
    _ name: Region.TableName, on handle: OpaquePointer, _ connection: Connection
  ) {
    // A view has columns but no rows, eponymous virtual tables have no entry in the schema.
    let schema = name.database.quotedIdentifier
    let sql = """
      SELECT sql, (SELECT count(*) FROM pragma_table_xinfo(?1, ?2) WHERE hidden > 1),
        (SELECT name FROM pragma_table_xinfo(?1, ?2) WHERE pk = 1), type = 'view'
      FROM \(schema).sqlite_schema WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE
      """
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
      return showsOthers = true
    }
    defer { sqlite3_finalize(statement) }
    Self.bind([name.table, name.database], to: statement)
    let code = sqlite3_step(statement)
    guard code == SQLITE_ROW, let text = sqlite3_column_text(statement, 0) else {
      // A table that can't be read may be anything.
      showsOthers = code != SQLITE_DONE || showsWithoutSchema(name.table, connection)
      return
    }
    let declaration = String(cString: text)
    keyColumn = sqlite3_column_text(statement, 2).map { String(cString: $0).folded }
    isAutoincrement = larder_mentions(declaration, "autoincrement") != 0
    if larder_mentions(declaration, "virtual table") != 0 {
      readVirtual(name, declaration, on: handle)
    } else if sqlite3_column_int64(statement, 3) != 0 {
      showsOthers = Connection.joinsByNames(declaration)
    } else {
      isPlain =
        larder_mentions(declaration, "replace") == 0 && sqlite3_column_int64(statement, 1) == 0
    }
  }

  // MARK: Virtual tables

  private mutating func readVirtual(
    _ name: Region.TableName, _ declaration: String, on handle: OpaquePointer
  ) {
    let showsOwnRows = ["using fts", "using rtree", "using geopoly"].contains {
      (module: String) in larder_mentions(declaration, module) != 0
    }
    guard showsOwnRows, larder_mentions(declaration, "vocab") == 0 else {
      showsOthers = true
      writesOthers = true
      return
    }
    let schema = name.database.quotedIdentifier
    let prefix = name.table + "_"
    let own = """
      SELECT name FROM \(schema).sqlite_schema WHERE type = 'table'
        AND substr(name, 1, length(?1)) = ?1 COLLATE NOCASE
      """
    guard let names = Self.names(own, [prefix], on: handle) else { return showsOthers = true }
    partners = names.map { .init(database: name.database, table: $0) }
    guard let content = Self.content(of: declaration) else { return }
    let table = """
      SELECT name FROM \(schema).sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE
        AND sql NOT LIKE 'create virtual%'
      """
    if Self.names(table, [content], on: handle)?.count == 1 {
      sources = [.init(database: name.database, table: content)]
    } else {
      // A view in turn shows other tables.
      showsOthers = true
    }
  }

  /// The table whose text a full-text index covers (`content = …`); nil if it keeps its own, or none.
  private static func content(of declaration: String) -> String? {
    let bytes = Array(declaration.utf8)
    let folded = declaration.foldedName
    let word = Array("content".utf8)
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
    func isPartOfName(_ byte: UInt8) -> Bool {
      byte == UInt8(ascii: "_") || byte >= 0x80
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    for start in folded.indices.dropFirst()
    where folded[start...].starts(with: word) && !isPartOfName(folded[start - 1]) {
      var rest = bytes[(start + word.count)...].drop(while: isSpace)
      guard rest.first == UInt8(ascii: "=") else { continue }
      rest = rest.dropFirst().drop(while: isSpace)
      let value: [UInt8]
      switch rest.first {
      case UInt8(ascii: "'")?, UInt8(ascii: "\"")?, UInt8(ascii: "`")?:
        value = quoted(rest)
      case UInt8(ascii: "[")?: value = Array(rest.dropFirst().prefix { $0 != UInt8(ascii: "]") })
      default: value = Array(rest.prefix(while: isPartOfName))
      }
      return value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
    }
    return nil
  }

  /// The content of the quotes that a text begins with. A doubled quote stands for one.
  private static func quoted(_ text: ArraySlice<UInt8>) -> [UInt8] {
    guard let quote = text.first else { return [] }
    var value: [UInt8] = []
    var index = text.startIndex + 1
    while index < text.endIndex {
      if text[index] == quote {
        guard index + 1 < text.endIndex, text[index + 1] == quote else { break }
        index += 1
      }
      value.append(text[index])
      index += 1
    }
    return value
  }

  /// Whether a name that is in no schema is that of a module which shows the database's content, as PRAGMAs
  /// do and `dbstat`. Names of common table expressions aren't.
  private func showsWithoutSchema(_ name: String, _ connection: Connection) -> Bool {
    if Self.modulesOfArguments.contains(name) || name == BoundRows.table
      || connection.hooks.tables.contains(name.foldedName)
    {
      return false
    }
    if name.hasPrefix("pragma_") { return true }
    guard let handle = connection.handle else { return true }
    let sql = "SELECT name FROM pragma_module_list WHERE name = ?1 COLLATE NOCASE"
    return Self.names(sql, [name], on: handle)?.isEmpty != true
  }

  /// Modules whose rows are made from their arguments alone.
  private static let modulesOfArguments: Set<String> = [
    "json_each", "json_tree", "jsonb_each", "jsonb_tree", "generate_series", "carray",
  ]

  // MARK: Statements

  /// The first column of a statement's rows; nil if the statement fails.
  private static func names(
    _ sql: String, _ values: [String], on handle: OpaquePointer
  ) -> [String]? {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { return nil }
    defer { sqlite3_finalize(statement) }
    bind(values, to: statement)
    var names: [String] = []
    var code = sqlite3_step(statement)
    while code == SQLITE_ROW {
      if let name = sqlite3_column_text(statement, 0) { names.append(String(cString: name)) }
      code = sqlite3_step(statement)
    }
    return code == SQLITE_DONE ? names : nil
  }

  private static func bind(_ values: [String], to statement: OpaquePointer?) {
    for (index, text) in values.enumerated() {
      larder_bind_text_transient(statement, Int32(index + 1), text, UInt64(text.utf8.count))
    }
  }
}
