import LarderSQLite

/// A table that a step by names changes, as the database has it when the step begins.
struct AlteredTable {
  let db: Database
  let found: TableSchema
  /// The step in words, for errors.
  private let step: String

  /// Finds the table. Throws ``SchemaError/step(_:problem:)`` with the tables that are there if it is missing.
  init(_ name: String, for step: String, in db: Database) throws {
    (self.db, self.step) = (db, step)
    if db.engine == nil, try db.tableExists(name, in: "temp") { throw SchemaError.hidden(name) }
    guard let table = try TableSchema.found(name, in: db, schema: db.engine == nil ? "main" : nil)
    else { throw try Self.problem(step, "there is no table “\(name)”, but \(Self.tables(db))") }
    found = table
  }

  /// Throws if a table or view has this name.
  static func checkIsFree(_ name: String, for step: String, in db: Database) throws {
    guard try db.tableExists(name) else { return }
    throw problem(step, "there is a table or view “\(name)” already")
  }

  private static func tables(_ db: Database) throws -> String {
    let names = try db.schema().filter { entry in
      entry.kind == .table && !Schema.isBookkeeping(entry.name)
        && !entry.name.hasPrefix("sqlite_")
    }.map(\.name).sorted()
    return names.isEmpty ? "none at all" : names.quotedList
  }

  static func problem(_ step: String, _ text: String) -> SchemaError {
    .step(step, problem: text)
  }

  func problem(_ text: String) -> SchemaError { Self.problem(step, text) }

  // MARK: Columns

  /// The position of a column. Throws an error with the columns that are there if it is missing.
  func position(of column: String) throws -> Int {
    guard let name = found.column(column)?.name,
      let position = found.columns.firstIndex(where: { $0.name == name })
    else {
      throw problem(
        "“\(found.name)” has no column “\(column)”, but \(found.columns.map(\.name).quotedList)")
    }
    return position
  }

  func checkHasNoColumn(_ column: String) throws {
    guard let other = found.column(column) else { return }
    throw problem("“\(found.name)” has a column “\(other.name)” already: \(other.sql)")
  }

  /// A column as the engine spells it, in a table of its own, with its indexes and constraints.
  func declared(_ column: ColumnDefinition) throws -> TableSchema {
    try .declared(
      found.name, of: nil, [column], [], found.isStrict || db.engine != nil ? [] : .notStrict,
      db.dateFormat, in: db)
  }

  /// The SQL with its values as literals of the engine.
  func text(_ sql: SQL) throws -> String {
    try sql.literalText(dateFormat: db.dateFormat, (db.dialect ?? SQLiteDialect()).literal)
  }

  // MARK: The changed table

  /// The table with changes, ready for a rebuild.
  func changed(_ change: (inout TableSchema) throws -> Void) rethrows -> TableSchema {
    var table = found
    try change(&table)
    table.sql = DDL.createTable(
      table.name, in: table.schema, table.columns.map(\.sql) + table.constraints,
      options: table.options)
    return table
  }

  func alter(_ action: String) throws {
    try db.executeUpdate(SQL(raw: DDL.alterTable(found, [action])).uncached)
  }

  /// The constraints without those of a column alone. Throws if another one names the column.
  func constraints(without column: String) throws -> [String] {
    try found.constraints.filter { constraint in
      let tokens = constraint.sqlTokens
      let start = tokens.firstIndex { $0.isSymbol("(") } ?? 0
      let end = tokens.firstIndex { $0.isSymbol(")") } ?? tokens.count
      let columns = tokens[start..<end].compactMap(\.identifier)
      let kind = tokens.prefix(start)
      let isReference = kind.contains { $0.isWord("foreign") }
      let named = isReference ? columns : tokens[start...].compactMap(\.identifier)
      guard named.contains(where: { $0.foldedName == column.foldedName }) else { return true }
      guard columns.count == 1, isReference || kind.contains(where: { $0.isWord("unique") }) else {
        throw problem("“\(found.name)” has the constraint \(constraint)")
      }
      return false
    }
  }
}

extension TableSchema {
  /// Adds the parts that a column declares, which aren't there yet.
  mutating func adopt(_ other: TableSchema) {
    uniqueIndexes += other.missingUniqueConstraints(in: self)
    indexes += other.missingIndexes(in: self)
    checks += other.checks.filter { !checks.contains($0) }
    foreignKeys += other.foreignKeys.filter { key in !foreignKeys.contains(where: key.isSame) }
  }
}

extension ColumnSchema {
  /// Whether the column's own definition has a constraint that begins with this word.
  func hasOwn(_ word: String) -> Bool { sql.sqlTokens.contains { $0.isWord(word) } }
}
