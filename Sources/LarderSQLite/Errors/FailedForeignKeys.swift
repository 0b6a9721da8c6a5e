import CSQLite

// SQLite doesn't tell which foreign key has failed, so the error lists those that the statement can break.

extension Connection {
  /// The foreign keys that a statement can break by its own changes of rows, in words; nil if none is found.
  /// Only the schema is read. Triggers and cascades may have broken others.
  func foreignKeys(changedBy sql: String) -> String? {
    guard let change = RowStatement(sql) else { return nil }
    let found = untracked {
      (change.writesRows ? keys(of: change) : []) + (change.removesRows ? keys(to: change) : [])
    }
    let names = found.prefix(5).map(\.description).reduce(into: [String]()) {
      if !$0.contains($1) { $0.append($1) }
    }
    guard !names.isEmpty else { return nil }
    let list = names.joined(separator: ", ") + (found.count > 5 ? ", …" : "")
    return names.count == 1 ? "the foreign key is \(list)" : "the foreign keys are \(list)"
  }

  /// The foreign keys that the changed table has in columns that get values.
  private func keys(of change: RowStatement) -> [NamedForeignKey] {
    let rows = OwnStatement(
      """
      SELECT ?1, id, "from", "table", "from" FROM pragma_foreign_key_list(?1, ?2)
      ORDER BY id DESC, seq
      """, [change.table, change.schema ?? "main"], on: handle)
    return keys(in: rows, change)
  }

  /// The foreign keys that refer to columns of the changed table that lose values.
  private func keys(to change: RowStatement) -> [NamedForeignKey] {
    let schema = change.schema ?? "main"
    let rows = OwnStatement(
      """
      SELECT s.name, k.id, k."from", k."table",
        coalesce(k."to", (SELECT name FROM pragma_table_info(?1, ?2) WHERE pk = k.seq + 1))
      FROM \(schema.quotedIdentifier).sqlite_schema AS s, pragma_foreign_key_list(s.name, ?2) AS k
      WHERE s.type = 'table' AND k."table" = ?1 COLLATE NOCASE ORDER BY s.rowid, k.id DESC, k.seq
      """, [change.table, schema], on: handle)
    return keys(in: rows, change)
  }

  /// Reads rows of a table, the number of its key, a column, the referenced table, and the column that changes.
  private func keys(in rows: OwnStatement, _ change: RowStatement) -> [NamedForeignKey] {
    var keys: [NamedForeignKey] = []
    while rows.next() {
      let (table, number) = (rows.text(0), rows.integer(1))
      if keys.last?.table != table || keys.last?.number != number {
        keys.append(NamedForeignKey(table: table, number: number, referencedTable: rows.text(3)))
      }
      keys[keys.count - 1].columns.append(rows.text(2))
      if change.changes(rows.text(4)) { keys[keys.count - 1].isChanged = true }
    }
    return keys.filter(\.isChanged)
  }
}

/// A foreign key for a message.
private struct NamedForeignKey: CustomStringConvertible {
  let table: String
  let number: Int
  let referencedTable: String
  var columns: [String] = []
  /// Whether the statement changes one of the columns.
  var isChanged = false

  var description: String {
    "“\(table)” (\(columns.joined(separator: ", "))) to “\(referencedTable)”"
  }
}

/// The table and columns that an INSERT, UPDATE or DELETE changes, as far as its words tell.
private struct RowStatement {
  let schema: String?
  let table: String
  /// Whether rows get values, which may refer to rows that don't exist.
  let writesRows: Bool
  /// Whether rows go, or lose values to which others may refer.
  let removesRows: Bool
  /// The columns that an UPDATE assigns; nil if all columns count.
  private let assigned: Set<String>?

  /// The number of bytes in which the names are looked for. A batch of rows may be much longer.
  private static let length = 10_000

  init?(_ sql: String) {
    let tokens = String(decoding: sql.utf8.prefix(Self.length), as: UTF8.self).sqlTokens
    var depth = 0
    // Behind WITH, the verb is the first one outside of parentheses.
    let verb = tokens.firstIndex { token in
      depth += token.isSymbol("(") ? 1 : token.isSymbol(")") ? -1 : 0
      return depth == 0 && ["insert", "replace", "update", "delete"].contains(where: token.isWord)
    }
    guard let verb else { return nil }
    var rest = tokens[(verb + 1)...]
    let replaces =
      tokens[verb].isWord("replace") || rest.dropFirst().first?.isWord("replace") == true
    if rest.first?.isWord("or") == true { rest = rest.dropFirst(2) }
    if ["into", "from"].contains(where: { rest.first?.isWord($0) == true }) {
      rest = rest.dropFirst()
    }
    guard let first = rest.first?.name else { return nil }
    let isQualified = rest.dropFirst().first?.isSymbol(".") == true
    schema = isQualified ? first : nil
    guard let table = isQualified ? rest.dropFirst(2).first?.name : first else { return nil }
    self.table = table
    let isUpdate = tokens[verb].isWord("update")
    writesRows = !tokens[verb].isWord("delete")
    removesRows = !tokens[verb].isWord("insert") || replaces
    assigned = isUpdate ? Self.assignedColumns(rest) : nil
  }

  /// The names before equals signs, up to WHERE. A list in parentheses counts too, and so may a comparison in a
  /// value: a key too many is better than none.
  private static func assignedColumns(_ tokens: ArraySlice<SQLPiece>) -> Set<String>? {
    guard let start = tokens.firstIndex(where: { $0.isWord("set") }) else { return nil }
    let list = tokens[start...].prefix { !$0.isWord("where") }
    if list.dropFirst().first?.isSymbol("(") == true { return nil }
    return Set(
      zip(list, list.dropFirst()).compactMap { $1.isSymbol("=") ? $0.name?.folded : nil })
  }

  func changes(_ column: String) -> Bool { assigned?.contains(column.folded) ?? true }
}
