/// Reads the schema of a table or view from SQLite's PRAGMAs, and what these don't tell from the text of the
/// CREATE TABLE.
struct TableReader {
  private let db: Database
  private let name: String
  /// The name of the database that has the table, such as `main`; nil if none lists it, as for
  /// `sqlite_schema`.
  private let schema: String?
  /// The statements that made the table and its indexes, by folded names.
  private var sources: [[UInt8]: String] = [:]
  private let text: CreateTableParser

  /// Finds the table. A temporary table hides another one unless a schema is given.
  init(_ name: String, in schema: String?, _ db: Database) throws {
    self.db = db
    self.name = name
    let candidates =
      try schema.map { [$0] }
      ?? db.executeQuery("SELECT name FROM pragma_database_list ORDER BY seq <> 1, seq").map {
        try $0.get(at: 0)
      }
    var found: String?
    for candidate in candidates where found == nil {
      let rows = try db.executeQuery(
        """
        SELECT name, sql, type FROM \(identifier: candidate).sqlite_schema
        WHERE tbl_name = \(name) COLLATE NOCASE AND type <> 'trigger'
        """)
      while try rows.next() {
        found = candidate
        guard let sql = try rows.get(at: 1, as: String?.self) else { continue }
        let name = try rows.get(at: 0, as: String.self).foldedName
        let isView = try rows.get(at: 2, as: String.self) == "view"
        if !isView, sources[name] == nil { sources[name] = sql }
      }
    }
    self.schema = schema ?? found
    text = CreateTableParser(sources[name.foldedName] ?? "")
  }

  func table(isStrict: Bool, isWithoutRowID: Bool) throws -> TableSchema {
    var table = TableSchema(name: name, sql: sources[name.foldedName] ?? "")
    table.columns = try columns()
    table.isAutoincrement = text.isAutoincrement
    table.checks = text.checks
    table.constraints = text.constraints
    table.foreignKeys = try foreignKeys()
    table.isStrict = isStrict
    table.isWithoutRowID = isWithoutRowID
    table.conflictClauses = text.conflictClauses
    let indexes = try indexes()
    table.indexes = indexes.filter { $0.kind == .created }
    table.uniqueIndexes = indexes.filter { $0.kind == .unique }
    let keyIndex = indexes.first { $0.kind == .primaryKey }
    table.primaryKeyTerms = keyIndex?.terms ?? table.primaryKey.map(\.quotedIdentifier)
    // A primary key without an index is the row id. (One of type INT, or declared as INTEGER PRIMARY KEY
    // DESC, has an index.)
    if keyIndex == nil, !isWithoutRowID { table.rowIDColumn = table.primaryKey.first }
    return table
  }

  func columns() throws -> [ColumnSchema] {
    // `hidden` is 1 for hidden columns of virtual tables, 2 and 3 for generated columns. A type is read as
    // bytes: SQLite drops the last byte of a type that begins with a quote, which may cut a character.
    let columns = try db.executeQuery(
      """
      SELECT name, type, "notnull", dflt_value, pk, hidden IN (2, 3), hidden = 3
      FROM pragma_table_xinfo(?, ?) WHERE hidden <> 1 ORDER BY cid
      """, name, schema
    ).map { row in
      let name = try row.get(at: 0, as: String.self)
      var column = text.columns[name.foldedName] ?? ColumnSchema(name: name)
      column.name = name
      column.type = try row.withUnsafeBytes(at: 1) { String(decoding: $0, as: UTF8.self) }
      column.isNotNull = try row.get(at: 2)
      column.default = try row.get(at: 3)
      column.primaryKeyPosition = try row.get(at: 4)
      column.generated = try row.get(at: 5) ? column.generated ?? "" : nil
      column.isStored = try row.get(at: 6)
      return column
    }
    if columns.isEmpty { throw DatabaseError(.error, "no such table: \(name)") }
    return columns
  }

  func indexes() throws -> [IndexSchema] {
    let indexes = try db.executeQuery(
      #"SELECT name, "unique", origin FROM pragma_index_list(?, ?) ORDER BY seq DESC"#, name, schema
    ).map { row in try index(row.get(at: 0), isUnique: row.get(at: 1), row.get(at: 2)) }
    if indexes.isEmpty { _ = try columns() }
    return indexes
  }

  private func index(
    _ name: String, isUnique: Bool, _ kind: IndexSchema.Kind
  ) throws -> IndexSchema {
    let parts = try db.executeQuery(
      """
      SELECT name, upper(coll), "desc" FROM pragma_index_xinfo(?, ?) WHERE "key" ORDER BY seqno
      """, name, schema
    ).map {
      (
        column: try $0.get(at: 0, as: String?.self), collation: try $0.get(at: 1, as: String?.self),
        isDescending: try $0.get(at: 2, as: Bool.self)
      )
    }
    guard kind == .created else {
      // A collation other than the column's own is a part of the term, and so is DESC.
      let terms = parts.map { column, collation, isDescending in
        let own = column.flatMap { text.columns[$0.foldedName]?.collation } ?? "BINARY"
        var term = (column ?? "").quotedIdentifier
        if let collation, collation != own.uppercased() {
          let isWord = collation.sqlTokens.first?.identifier == collation
          term += " COLLATE \(isWord ? collation : collation.quotedIdentifier)"
        }
        return term + (isDescending ? " DESC" : "")
      }
      return IndexSchema(
        constraint: kind, name: name, columns: parts.compactMap(\.column), terms: terms)
    }
    let sql = sources[name.foldedName] ?? ""
    let tokens = sql.sqlTokens
    let terms = tokens.group(from: 0)
    let rest = terms.map { tokens[($0.end + 1)...] } ?? []
    return IndexSchema(
      name: name, columns: parts.map(\.column),
      terms: terms?.tokens.splitAtCommas().map(\.text) ?? [], isUnique: isUnique,
      condition: rest.first?.isWord("where") == true ? Array(rest.dropFirst()).text : nil, sql: sql)
  }

  func foreignKeys() throws -> [ForeignKeySchema] {
    var keys: [ForeignKeySchema] = []
    var last: Int?
    let rows = try db.executeQuery(
      """
      SELECT id, "table", on_update, on_delete, "from", "to"
      FROM pragma_foreign_key_list(?, ?) ORDER BY id DESC, seq
      """, name, schema)
    while try rows.next() {
      let id = try rows.get(at: 0, as: Int.self)
      if id != last {
        keys.append(
          ForeignKeySchema(
            columns: [], referencedTable: try rows.get(at: 1), referencedColumns: [],
            onDelete: ForeignKeyAction(rawValue: try rows.get(at: 3)) ?? .noAction,
            onUpdate: ForeignKeyAction(rawValue: try rows.get(at: 2)) ?? .noAction,
            isDeferred: text.areDeferred.indices.contains(keys.count)
              && text.areDeferred[keys.count]))
      }
      last = id
      keys[keys.count - 1].columns.append(try rows.get(at: 4))
      if let target = try rows.get(at: 5, as: String?.self) {
        keys[keys.count - 1].referencedColumns.append(target)
      }
    }
    if keys.isEmpty { _ = try columns() }
    return keys
  }
}

extension TableSchema {
  /// The schema of a table, as the database has it; nil if there is none of this name. A temporary table
  /// hides another one unless a schema is given, which may be an attached database. On another engine, only
  /// the schema counts, or the first one of the search path; the schema `temp` has the temporary tables.
  package static func found(
    _ name: String, in db: Database, schema: String? = nil
  ) throws -> TableSchema? {
    if let catalog = db.catalog(of: schema == "temp" ? nil : schema) {
      return try catalog.table(name, isTemporary: schema == "temp")
    }
    let tables = try db.executeQuery(
      """
      SELECT schema, name, strict, wr FROM pragma_table_list(?1)
      WHERE type <> 'view' AND CASE WHEN ?2 IS NULL THEN schema IN ('main', 'temp')
        ELSE schema = ?2 COLLATE NOCASE END
      ORDER BY schema = 'main' LIMIT 1
      """, name, schema
    ).map { row in
      var table = try TableReader(row.get(at: 1), in: row.get(at: 0), db)
        .table(isStrict: row.get(at: 2), isWithoutRowID: row.get(at: 3))
      let isAttached = schema.map { !["main", "temp"].map(\.foldedName).contains($0.foldedName) }
      if isAttached == true { table.schema = schema }
      return table
    }
    return tables.first
  }
}
