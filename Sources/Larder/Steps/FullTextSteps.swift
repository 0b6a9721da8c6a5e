import LarderSQLite

// Steps by names for full-text indexes.

extension SchemaStep {
  /// Creates a full-text index of a table's columns, with the rows that exist: what ``FullTextIndex/create(_:ifNotExists:)``
  /// makes, but by names, so that the step stays as it is when the record changes.
  ///
  /// ```swift
  /// .create(fullText: "entry_text", of: "entry", "title", "body", prefixes: [2, 3])
  /// ```
  ///
  /// Give the table its unique columns and indexes before: in SQLite the index's triggers depend on them, so that an index
  /// from before is to be dropped, and created anew.
  ///
  /// The name and the options are those of the record's ``FullTextIndex``, whose name is that of the table with
  /// `_text` by default. To index other columns later, drop the index and create it in a new migration. Undoing
  /// the step drops the index.
  public static func create(
    fullText name: String, of table: String, _ columns: String...,
    tokenizer: FullTextTokenizer = .unicode61(), prefixes: [Int] = [], weights: [Double] = [],
    storage: FullTextStorage = .table, detail: FullTextDetail = .full, sizes: Bool = true
  ) -> SchemaStep {
    let detailText = "create the full-text index “\(name)” of “\(table)”"
    let lists = [
      ("prefix", prefixes.map { "\($0)" }), ("weights", weights.map { "\($0)" }),
      ("storage", storage == .table ? [] : ["\(storage)"]),
      ("detail", detail == .full ? [] : [detail.rawValue]), ("sizes", sizes ? [] : ["0"]),
    ]
    return SchemaStep(
      detailText,
      NamedStep(
        [
          "create full text", name.quotedIdentifier, table.quotedIdentifier, columns.identifierList,
          tokenizer.option,
        ] + lists.filter { !$0.1.isEmpty }.map { "\($0.0) \($0.1.joined(separator: " "))" },
        undo: { try drop(fullText: name, of: table).execute($0) }
      ) { db in
        let target = try AlteredTable(table, for: detailText, in: db)
        let names = try columns.map { target.found.columns[try target.position(of: $0)].name }
        if let other = try target.fullTextIndex(name) {
          throw target.problem("“\(target.found.name)” has the index “\(other)” already")
        }
        if db.engine == nil { try AlteredTable.checkIsFree(name, for: detailText, in: db) }
        try FullTextDefinition(
          name, of: target.found, names, tokenizer, prefixes, weights, storage, detail, sizes
        ).create(db)
      })
  }

  /// Drops a full-text index. Create it again after the steps that rename its table, or change its columns.
  public static func drop(fullText name: String, of table: String) -> SchemaStep {
    let detail = "drop the full-text index “\(name)” of “\(table)”"
    return SchemaStep(
      detail,
      NamedStep(["drop full text", name.quotedIdentifier, table.quotedIdentifier]) { db in
        let target = try AlteredTable(table, for: detail, in: db)
        guard let index = try target.fullTextIndex(name) else {
          if let index = try target.indexesOfOthers().first(where: {
            $0.foldedName == name.foldedName
          }) {
            throw target.problem(Self.isOfAnother(index))
          }
          let names = try target.fullTextIndexes().map(\.name)
          throw target.problem(
            names.isEmpty
              ? "“\(target.found.name)” has no full-text index"
              : "“\(target.found.name)” has no such index, but \(names.quotedList)")
        }
        try target.dropFullTextIndex(index)
      })
  }
}

extension SchemaStep {
  fileprivate static func isOfAnother(_ index: String) -> String {
    "“\(index)” and its triggers are another program's: drop them by SQL, with .run(…)"
  }
}

extension AlteredTable {
  /// A full-text index, with tests whether it needs a column, and whether its own declaration names one.
  typealias FoundIndex = (
    name: String, uses: (_ column: String) -> Bool, declares: (_ column: String) -> Bool
  )

  /// The full-text indexes of the table: in SQLite the FTS5 tables to which its triggers write.
  func fullTextIndexes() throws -> [FoundIndex] {
    guard db.engine == nil else {
      let indexes = try db.fullText?.indexes(of: found, db) ?? []
      return indexes.map { index in
        (index.name, { index.sql.sqlNames($0) }, { index.sql.sqlNames($0) })
      }
    }
    let entries = try db.schema()
    let triggers = entries.filter {
      $0.kind == .trigger && $0.table.foldedName == found.name.foldedName
    }
    return entries.filter { $0.isVirtualTable && $0.names("fts5") }
      .compactMap { index in
        let own = triggers.filter { $0.name.hasPrefix(index.name + "_") && $0.names(index.name) }
        guard !own.isEmpty else { return nil }
        return (index.name, { column in own.contains { $0.names(column) } }, index.names)
      }
  }

  /// The name of the table's full-text index with this name, in its own spelling; nil if there is none.
  fileprivate func fullTextIndex(_ name: String) throws -> String? {
    try fullTextIndexes().first { found.key($0.name) == found.key(name) }?.name
  }

  fileprivate func dropFullTextIndex(_ name: String) throws {
    try FullTextDefinition(
      name, of: found, [], .unicode61(), [], [], .table, .full, true
    ).drop(db, ifExists: true)
  }

  /// Drops the table's full-text indexes, whose tables SQLite would keep.
  func dropFullTextIndexes() throws {
    for index in try fullTextIndexes() { try dropFullTextIndex(index.name) }
  }

  /// The full-text tables of SQLite that another program has made of this table: those that name it as their content
  /// (https://www.sqlite.org/fts5.html#external_content_tables).
  ///
  /// - Parameter column: a column that they declare; nil for all of them.
  fileprivate func indexesOfOthers(_ column: String? = nil) throws -> [String] {
    guard db.engine == nil else { return [] }
    let own = Set(try fullTextIndexes().map(\.name))
    return try db.schema().filter { entry in
      guard entry.isVirtualTable, entry.names("fts5") || entry.names("fts4"),
        !own.contains(entry.name), column.map(entry.names) ?? true
      else { return false }
      let tokens = entry.sql?.sqlTokens ?? []
      return tokens.indices.dropLast(2).contains {
        tokens[$0].isWord("content") && tokens[$0 + 1].isSymbol("=")
          && tokens[$0 + 2].name?.foldedName == found.name.foldedName
      }
    }.map(\.name)
  }

  /// Throws if SQLite would rename the table, or a column, but not the names that a full-text index has of it:
  /// searching goes on then, and marking and checking fail.
  func checkCanBeRenamed(_ column: String? = nil) throws {
    guard db.engine == nil else { return }
    let index = try fullTextIndexes().first { index in column.map(index.declares) ?? true }
    if let index { throw problem(needs(index.name)) }
    try checkHasNoIndexOfOthers(column)
  }

  /// Throws if another program's full-text table has this one as its content, or one of its columns.
  func checkHasNoIndexOfOthers(_ column: String? = nil) throws {
    guard let index = try indexesOfOthers(column).first else { return }
    throw problem(
      "the full-text index “\(index)” needs it, and \(SchemaStep.isOfAnother(index))")
  }

  private func needs(_ index: String) -> String {
    """
    the full-text index “\(index)” needs it: drop that before, by .drop(fullText: "\(index)", \
    of: "\(found.name)"), and create it anew afterwards
    """
  }

  /// Throws if a full-text index or a computed column needs a column that is to be removed.
  func checkIsUnused(_ column: String) throws {
    if let index = try fullTextIndexes().first(where: { $0.uses(column) }) {
      throw problem(needs(index.name))
    }
    try checkHasNoIndexOfOthers(column)
    let computed = found.columns.first {
      $0.name.foldedName != column.foldedName && $0.generated?.sqlNames(column) == true
    }
    if let computed { throw problem("“\(computed.name)” is computed from it") }
  }
}

extension String {
  /// Whether this SQL contains a name.
  fileprivate func sqlNames(_ name: String) -> Bool {
    sqlTokens.contains { $0.identifier?.foldedName == name.foldedName }
  }
}
