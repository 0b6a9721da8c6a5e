import Larder
import LarderSQLite
import LarderTerminal

/// The statements that create the tables in another database, and the parts of the schema that it can't have.
struct CopySchema {
  /// The statements that create the tables, before rows are copied.
  var tables: [String] = []
  /// The statements for after the rows, when they are faster or first possible: indexes, foreign keys, and
  /// between files also views and triggers.
  var rest: [String] = []
  /// The parts that the target can't have, as phrases for the report.
  var leftOut: [String] = []

  // MARK: From a file to a file

  /// Takes the source's statements unchanged.
  init(_ copied: [CopiedTable], of db: Database, all: Bool) throws {
    let names = Set(copied.map { $0.name.foldedName })
    for table in copied { tables.append(table.schema.sql) }
    let entries = try db.schema().filter { !$0.name.lowercased().hasPrefix("sqlite_") }
    var missing: Set<[UInt8]> = []
    for entry in entries where entry.kind == .table && !names.contains(entry.name.foldedName) {
      missing.insert(entry.name.foldedName)
      if all, entry.isVirtualTable { leftOut.append("the virtual table “\(entry.name)”") }
    }
    // A view may use another view that is left out itself: repeats until no more are found.
    var waiting = entries.filter { $0.kind == .view && all }
    while let index = waiting.firstIndex(where: { $0.mentions(missing) }) {
      let view = waiting.remove(at: index)
      missing.insert(view.name.foldedName)
      leftOut.append("the view “\(view.name)”, which uses something that isn't copied")
    }
    let copiedViews = Set(waiting.map(\.name.foldedName))
    rest = entries.filter { $0.kind == .index && names.contains($0.table.foldedName) }
      .compactMap(\.sql)
    rest += waiting.compactMap(\.sql)
    for trigger in entries where trigger.kind == .trigger {
      let isWanted =
        names.contains(trigger.table.foldedName) || copiedViews.contains(trigger.table.foldedName)
      guard isWanted, let sql = trigger.sql else { continue }
      if trigger.mentions(missing) {
        leftOut.append("the trigger “\(trigger.name)”, which uses something that isn't copied")
      } else {
        rest.append(sql)
      }
    }
  }

  // MARK: Between a file and a server

  /// Translates the tables to the target's DDL. SQLite's are STRICT, so that columns take only values of their
  /// type.
  init(_ copied: [CopiedTable], of db: Database, translatedFor target: Database) throws {
    let dialect = target.dialect
    for (index, table) in copied.enumerated() {
      if dialect != nil {
        try Self.checkNames([table.name] + table.columns.map(\.name))
      } else {
        try Self.checkNames(of: table, after: copied[..<index])
      }
      tables.append(statement(table, among: copied, in: dialect))
      for column in dialect == nil ? try Self.searchVectors(of: table, db) : [] {
        leftOut.append("the search vector “\(table.name)”.“\(column)”, with its values")
      }
      for index in table.schema.indexes { addIndex(index, of: table, toServer: dialect != nil) }
    }
    for table in copied where dialect != nil {
      rest += references(of: table, among: copied, toServer: true).map {
        "ALTER TABLE \(table.name.quotedIdentifier) ADD \($0)"
      }
    }
    for entry in try db.schema() where entry.kind == .view || entry.kind == .trigger {
      leftOut.append("the \(entry.kind.rawValue) “\(entry.name)”")
    }
  }

  /// The length limit of a server's names, in bytes: the server would truncate longer ones silently.
  private static let longestName = 63

  private static func checkNames(_ names: [String]) throws {
    for name in names {
      guard !name.isEmpty else { throw Failure("PostgreSQL doesn't allow empty names: rename “”") }
      guard name.utf8.count <= longestName else {
        throw Failure(
          "“\(name.prefix(40))…” is too long: PostgreSQL allows names of \(longestName) bytes; rename it"
        )
      }
      guard !systemColumns.contains(name) else {
        throw Failure("PostgreSQL has a column “\(name)” of its own in every table: rename yours")
      }
    }
  }

  private static let systemColumns = ["cmax", "cmin", "ctid", "tableoid", "xmax", "xmin"]

  /// Checks that no two names are the same for SQLite.
  private static func checkNames(
    of table: CopiedTable, after others: ArraySlice<CopiedTable>
  ) throws {
    for other in others where other.name.isSameName(table.name) {
      throw Failure("“\(other.name)” and “\(table.name)” are the same name for SQLite: rename one")
    }
    for (index, column) in table.columns.enumerated() {
      for other in table.columns[..<index] where other.name.isSameName(column.name) {
        throw Failure(
          "“\(other.name)” and “\(column.name)” of “\(table.name)” are the same name for SQLite: rename one"
        )
      }
    }
  }

  /// The table's tsvector columns. ``TableSchema`` omits them, since they are computed from other columns.
  private static func searchVectors(of table: CopiedTable, _ db: Database) throws -> [String] {
    try db.executeQuery(
      """
      SELECT a.attname::text FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
      WHERE a.attrelid = to_regclass(quote_ident(?::text)) AND t.typname = 'tsvector'
        AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
      """, table.name
    ).map { try $0.get(at: 0) }
  }

  /// The statement that creates a table. A server's foreign keys follow later.
  ///
  /// - Parameter dialect: the server's dialect; nil for SQLite.
  private mutating func statement(
    _ table: CopiedTable, among copied: [CopiedTable], in dialect: (any Dialect)?
  ) -> String {
    let schema = table.schema
    let toServer = dialect != nil
    leftOut += table.leftOut
    var lines = table.columns.map { column -> String in
      let own = schema.column(column.name)
      let type = (dialect ?? SQLiteDialect()).typeName(of: column.kind.columnType)
      var line = "\(column.name.quotedIdentifier) \(type)"
      if toServer, schema.rowIDColumn?.isSameName(column.name) == true {
        line += " GENERATED BY DEFAULT AS IDENTITY"
      }
      if own?.isNotNull == true { line += " NOT NULL" }
      if column.isRowID { line += " PRIMARY KEY" }
      let isComputed = own?.generated != nil
      // An identity excludes a default, which could only be NULL.
      if let sql = own?.default, !line.contains(" IDENTITY"),
        toServer || !isComputed && !sql.hasPrefix("nextval(")
      {
        if let literal = Self.literal(sql, column.kind, toServer: toServer) {
          line += " DEFAULT \(literal)"
        } else {
          leftOut.append("the default \(sql) of “\(table.name)”.“\(column.name)”")
        }
      }
      if isComputed {
        leftOut.append(
          "the expression of “\(table.name)”.“\(column.name)”, whose values are copied")
      }
      if toServer, let collation = own?.collation, collation.uppercased() != "BINARY" {
        leftOut.append("the collation \(collation) of “\(table.name)”.“\(column.name)”")
      }
      return line
    }
    if !schema.primaryKey.isEmpty {
      lines.append(IndexSchema(constraint: .primaryKey, columns: schema.primaryKey).sql)
    }
    for columns in schema.uniqueConstraints where !columns.isEmpty {
      lines.append(IndexSchema(constraint: .unique, columns: table.spelled(columns)).sql)
    }
    if !toServer { lines += references(of: table, among: copied, toServer: false) }
    for check in schema.checks { leftOut.append("CHECK (\(check)) of “\(table.name)”") }
    return "CREATE TABLE \(table.name.quotedIdentifier) (\(lines.joined(separator: ", ")))"
      + (toServer ? "" : " STRICT")
  }

  /// The target's literal for a default; nil if the engines would read it differently.
  private static func literal(_ sql: String, _ kind: CopyKind, toServer: Bool) -> String? {
    let text = (toServer ? sql : withoutCast(sql)).trimmedParentheses
    if text.uppercased() == "NULL" { return "NULL" }
    switch kind {
    case .integer: return Int64(text).map { "\($0)" }
    case .real, .float: return Double(decimal: text.utf8).map { "\($0)" }
    case .bool:
      switch text.uppercased() {
      case "1", "TRUE": return toServer ? "TRUE" : "1"
      case "0", "FALSE": return toServer ? "FALSE" : "0"
      default: return nil
      }
    case .text: return text.isTextLiteral ? text : nil
    case .blob, .other, .dates, .any: return nil
    }
  }

  /// Removes a cast at the end: `'x'::text` becomes `'x'`.
  private static func withoutCast(_ sql: String) -> String {
    guard let cast = sql.firstRange(of: "::"), !sql[cast.upperBound...].contains("'") else {
      return sql
    }
    return String(sql[..<cast.lowerBound])
  }

  private mutating func addIndex(_ index: IndexSchema, of table: CopiedTable, toServer: Bool) {
    let (name, columns) = (index.name, index.columns.compactMap { $0 })
    let hasCounterpart =
      toServer
      ? !name.isEmpty && name.utf8.count <= Self.longestName
        && !index.terms.contains { $0.uppercased().contains("COLLATE") }
      : !name.lowercased().hasPrefix("sqlite_") && index.sql.contains("USING btree")
    guard hasCounterpart, columns.count == index.columns.count, index.condition == nil else {
      return leftOut.append("the index “\(name)”")
    }
    let terms = zip(table.spelled(columns), index.terms).map { column, term in
      let order =
        toServer
        ? term.uppercased().hasSuffix(" DESC") ? " DESC NULLS LAST" : " NULLS FIRST"
        : term.contains(" DESC") ? " DESC" : ""
      return column.quotedIdentifier + order
    }
    let place = TableSchema(name: table.name)
    rest.append(DDL.createIndex(name, on: place, terms, isUnique: index.isUnique, where: nil))
  }

  /// The foreign key constraints of a table, in syntax that both engines accept.
  private mutating func references(
    of table: CopiedTable, among copied: [CopiedTable], toServer: Bool
  ) -> [String] {
    table.schema.foreignKeys.compactMap { key in
      let name = key.referencedTable
      let other = copied.first { toServer ? $0.name.isSameName(name) : $0.name == name }
      guard let other else {
        leftOut.append("a foreign key of “\(table.name)” to “\(name)”")
        return nil
      }
      let referenced =
        key.referencedColumns.isEmpty ? other.schema.primaryKey : key.referencedColumns
      let spelled = ForeignKeySchema(
        columns: table.spelled(key.columns), referencedTable: other.name,
        referencedColumns: other.spelled(referenced), onDelete: key.onDelete,
        onUpdate: key.onUpdate, isDeferred: key.isDeferred)
      return "FOREIGN KEY \(spelled.sql)"
    }
  }
}

extension CopiedTable {
  /// The columns' names as the table's declaration spells them.
  fileprivate func spelled(_ columns: [String]) -> [String] {
    columns.map { schema.column($0)?.name ?? $0 }
  }
}

extension SchemaEntry {
  /// Whether the statement contains one of these names as a word. The word may be a column's name, and then
  /// the entry is left out needlessly, which is reported.
  fileprivate func mentions(_ names: Set<[UInt8]>) -> Bool {
    (sql ?? "").sqlTokens.contains { $0.name.map { names.contains($0.foldedName) } ?? false }
  }
}

extension String {
  fileprivate var trimmedParentheses: String {
    var text = Substring(self)
    while text.hasPrefix("("), text.hasSuffix(")"), text.utf8.count > 1 {
      text = text.dropFirst().dropLast()
    }
    return String(text)
  }

  /// Whether this is one string literal, which both engines read alike.
  fileprivate var isTextLiteral: Bool {
    let tokens = sqlTokens
    return tokens.count == 1 && hasPrefix("'") && hasSuffix("'") && utf8.count > 1
  }
}
