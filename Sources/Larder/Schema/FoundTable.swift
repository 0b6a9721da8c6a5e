import LarderSQLite

extension TableSchema {
  /// What a database has of a table. A temporary table hides another one unless a schema is given.
  /// Nil where there is none of this name.
  static func found(
    _ name: String, in db: Database, schema: String? = nil
  ) throws -> TableSchema? {
    let listed = try db.executeQuery(
      """
      SELECT schema, name, strict, wr FROM pragma_table_list(?1)
      WHERE type <> 'view' AND schema IN ('main', 'temp') AND schema = ifnull(?2, schema)
      ORDER BY schema = 'main' LIMIT 1
      """, name, schema
    ).map {
      FoundTable(
        db: db, schema: try $0.get(at: 0), name: try $0.get(at: 1), isStrict: try $0.get(at: 2),
        isWithoutRowID: try $0.get(at: 3))
    }
    return try listed.first?.read()
  }
}

/// A table on its way from a database to a ``TableSchema``.
private struct FoundTable {
  let db: Database
  let schema: String
  let name: String
  let isStrict: Bool
  let isWithoutRowID: Bool

  func read() throws -> TableSchema {
    let sources = try statements()
    let sql = sources[name.foldedName] ?? ""
    let text = CreateTableParser(sql)
    let columns = try db.columns(of: name, in: schema)
    let indexes = try db.indexes(of: name, in: schema)
    let key = columns.filter { $0.primaryKeyPosition > 0 }
      .sorted { $0.primaryKeyPosition < $1.primaryKeyPosition }.map(\.name)
    let keyIndex = indexes.first { $0.origin == .primaryKey }
    return TableSchema(
      name: name, columns: columns.map { self.column($0, text.columns[$0.name.foldedName]) },
      primaryKey: key, isAutoincrement: text.isAutoincrement,
      checks: text.checks, foreignKeys: try foreignKeys(text.areDeferred),
      indexes: indexes.filter { $0.origin == .created }.map {
        self.index($0, sources[$0.name.foldedName] ?? "")
      }, isStrict: isStrict, isWithoutRowID: isWithoutRowID, sql: sql,
      // A key that needs no index is the row id. (One of type INT, or declared as INTEGER PRIMARY
      // KEY DESC, has one.)
      rowIDColumn: keyIndex == nil && !isWithoutRowID ? key.first : nil,
      primaryKeyTerms: try keyIndex.map { try terms(of: $0, text) } ?? key.map { KeyTerm($0) },
      uniqueTerms: try indexes.filter { $0.origin == .unique }.map { try terms(of: $0, text) },
      conflictClauses: text.conflictClauses)
  }

  /// The columns of a constraint's index, with what the constraint says of them.
  private func terms(of index: TableIndex, _ text: CreateTableParser) throws -> [KeyTerm] {
    try db.executeQuery(
      """
      SELECT name, upper(coll), "desc" FROM pragma_index_xinfo(?, ?) WHERE "key" ORDER BY seqno
      """, index.name, schema
    ).map { row in
      let column = try row.get(at: 0, as: String.self)
      let collation = try row.get(at: 1, as: String.self)
      let own = text.columns[column.foldedName]?.collation?.uppercased() ?? "BINARY"
      return KeyTerm(
        column: column, collation: collation == own ? nil : collation,
        isDescending: try row.get(at: 2))
    }
  }

  /// The statements that made the table and its indexes, by folded names.
  private func statements() throws -> [[UInt8]: String] {
    let rows = try db.executeQuery(
      """
      SELECT name, sql FROM \(identifier: schema).sqlite_schema
      WHERE tbl_name = \(name) COLLATE NOCASE AND type IN ('table', 'index') AND sql NOT NULL
      """
    ).map { (try $0.get(at: 0, as: String.self).foldedName, try $0.get(at: 1, as: String.self)) }
    return Dictionary(rows) { first, _ in first }
  }

  private func column(_ column: TableColumn, _ text: CreateTableParser.Column?) -> ColumnSchema {
    ColumnSchema(
      name: column.name, type: column.declaredType, isNotNull: column.isNotNull,
      defaultSQL: column.defaultSQL, collation: text?.collation,
      generatedSQL: column.isGenerated ? text?.generatedSQL ?? "" : nil, isStored: column.isStored,
      sql: text?.sql ?? column.name.quotedIdentifier)
  }

  private func index(_ index: TableIndex, _ sql: String) -> IndexSchema {
    let tokens = sql.sqlTokens
    let terms = tokens.group(from: 0)
    let rest = terms.map { tokens[($0.end + 1)...] } ?? []
    return IndexSchema(
      name: index.name, terms: terms?.tokens.splitAtCommas().map(\.text) ?? [],
      isUnique: index.isUnique,
      condition: rest.first?.isWord("where") == true ? Array(rest.dropFirst()).text : nil, sql: sql)
  }

  private func foreignKeys(_ areDeferred: [Bool]) throws -> [ForeignKeySchema] {
    try db.foreignKeys(of: name, in: schema).enumerated().map { index, key in
      ForeignKeySchema(
        columns: key.columns, referencedTable: key.referencedTable,
        referencedColumns: key.referencedColumns,
        onDelete: ForeignKeyAction(rawValue: key.onDelete) ?? .noAction,
        onUpdate: ForeignKeyAction(rawValue: key.onUpdate) ?? .noAction,
        isDeferred: areDeferred.indices.contains(index) && areDeferred[index])
    }
  }
}
