import CSQLite

/// The facts about a table that the authorizer doesn't tell.
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
    connection.untracked { read(name, connection) }
  }

  private mutating func read(_ name: Region.TableName, _ connection: Connection) {
    // A view has columns but no rows, eponymous virtual tables have no entry in the schema.
    let schema = name.database.quotedIdentifier
    let sql = """
      SELECT sql, (SELECT count(*) FROM pragma_table_xinfo(?1, ?2) WHERE hidden > 1),
        (SELECT name FROM pragma_table_xinfo(?1, ?2) WHERE pk = 1), type = 'view'
      FROM \(schema).sqlite_schema WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE
      """
    guard let handle = connection.handle else { return }
    let entry = OwnStatement(sql, [name.table, name.database], on: handle)
    guard entry.next(), let declaration = entry[0] else {
      // A table that can't be read may be anything.
      showsOthers = entry.code != SQLITE_DONE || showsWithoutSchema(name.table, connection)
      return
    }
    keyColumn = entry[2]?.folded
    isAutoincrement = larder_mentions(declaration, "autoincrement") != 0
    if larder_mentions(declaration, "virtual table") != 0 {
      readVirtual(name, declaration, connection)
    } else if entry.integer(3) != 0 {
      showsOthers = Connection.joinsByNames(declaration)
    } else {
      isPlain = larder_mentions(declaration, "replace") == 0 && entry.integer(1) == 0
    }
  }

  // MARK: Virtual tables

  private mutating func readVirtual(
    _ name: Region.TableName, _ declaration: String, _ connection: Connection
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
    guard let names = OwnStatement(own, [prefix], on: connection.handle).texts() else {
      return showsOthers = true
    }
    partners = names.map { .init(database: name.database, table: $0) }
    guard let content = Self.content(of: declaration) else { return }
    let table = """
      SELECT name FROM \(schema).sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE
        AND sql NOT LIKE 'create virtual%'
      """
    if OwnStatement(table, [content], on: connection.handle).texts()?.count == 1 {
      sources = [.init(database: name.database, table: content)]
    } else {
      // A view in turn shows other tables.
      showsOthers = true
    }
  }

  /// The table whose text a full-text index covers (`content = …`); nil if it keeps its own, or none.
  private static func content(of declaration: String) -> String? {
    let tokens = declaration.sqlTokens
    for (index, token) in tokens.enumerated()
    where token.isWord("content") && tokens.dropFirst(index + 1).first?.isSymbol("=") == true {
      let value = tokens.dropFirst(index + 2).first?.name ?? ""
      return value.isEmpty ? nil : value
    }
    return nil
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
    let sql = "SELECT name FROM pragma_module_list WHERE name = ?1 COLLATE NOCASE"
    return OwnStatement(sql, [name], on: connection.handle).texts()?.isEmpty != true
  }

  /// Modules whose rows are made from their arguments alone.
  private static let modulesOfArguments: Set<String> = [
    "json_each", "json_tree", "jsonb_each", "jsonb_tree", "generate_series", "carray",
  ]
}
