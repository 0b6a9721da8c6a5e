import LarderSQLite

/// What a database says of a table of it.
struct FoundTable {
  let columns: [TableColumn]
  let foreignKeys: [ForeignKey]
  let indexes: [Index]
  let isStrict: Bool
  let isWithoutRowID: Bool
  /// The names of the generated columns that are stored, folded.
  private let storedColumns: Set<[UInt8]>
  /// The statement that made the table, without what means nothing.
  let essence: [String]

  struct Index {
    let schema: TableIndex
    /// What stands behind WHERE, without what means nothing.
    let condition: [String]
  }

  /// Nil where there is no such table.
  init?(_ name: String, in db: Database) throws {
    guard try db.tableExists(name) else { return nil }
    columns = try db.columns(of: name)
    foreignKeys = try db.foreignKeys(of: name)
    let sources = try Self.sources(of: name, in: db)
    essence = sources.first { $0.name == name.foldedName }?.essence ?? []
    indexes = try db.indexes(of: name).map { index in
      let source = sources.first { $0.name == index.name.foldedName }?.essence ?? []
      let end = index.isPartial ? source.firstIndex(of: "where").map { $0 + 1 } : nil
      return Index(schema: index, condition: end.map { Array(source[$0...]) } ?? [])
    }
    storedColumns = Set(
      try db.executeQuery("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 3", name)
        .map { try $0.get(at: 0, as: String.self).foldedName })
    let options = try db.executeQuery(
      """
      SELECT strict, wr FROM pragma_table_list(?)
      ORDER BY schema <> 'temp', schema <> 'main' LIMIT 1
      """, name
    ).map { (try $0.get(at: 0, as: Bool.self), try $0.get(at: 1, as: Bool.self)) }
    isStrict = options.first?.0 ?? false
    isWithoutRowID = options.first?.1 ?? false
  }

  /// The statements that made the table and its indexes. A temporary table hides another one.
  private static func sources(
    of name: String, in db: Database
  ) throws -> [(name: [UInt8], essence: [String])] {
    try db.executeQuery(
      """
      SELECT name, sql FROM sqlite_temp_schema WHERE tbl_name = ?1 COLLATE NOCASE AND sql NOT NULL
      UNION ALL
      SELECT name, sql FROM sqlite_schema WHERE tbl_name = ?1 COLLATE NOCASE AND sql NOT NULL
      """, name
    ).map { (try $0.get(at: 0, as: String.self).foldedName, SQL(raw: try $0.get(at: 1)).essence) }
  }

  func column(_ name: String) -> TableColumn? {
    columns.first { $0.name.foldedName == name.foldedName }
  }

  /// The columns of the primary key in order.
  var primaryKey: [String] {
    columns.filter { $0.primaryKeyPosition > 0 }
      .sorted { $0.primaryKeyPosition < $1.primaryKeyPosition }.map(\.name)
  }

  func isStored(_ column: TableColumn) -> Bool { storedColumns.contains(column.name.foldedName) }
}
