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
    if db.engine == nil { table.rowIDColumn = table.columnOfRowIDs }
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

extension TableSchema {
  /// The column of a changed table of SQLite that is its row id; see ``rowIDColumn``.
  fileprivate var columnOfRowIDs: String? {
    let key = columns.filter { $0.primaryKeyPosition > 0 }
    guard !isWithoutRowID, key.count == 1, key[0].type.lowercased() == "integer" else { return nil }
    // Not one that is declared as INTEGER PRIMARY KEY DESC.
    let words = key[0].sql.sqlTokens
    let isReversed = words.indices.dropLast(2).contains {
      words[$0].isWord("primary") && words[$0 + 1].isWord("key") && words[$0 + 2].isWord("desc")
    }
    return isReversed ? nil : key[0].name
  }
}

extension AlteredTable {
  /// The condition that two expressions have the same value, whatever types and collations their columns have.
  ///
  /// - Parameter types: those of the columns, if they are columns.
  func isSame(_ first: SQL, _ second: SQL, types: (String, String)? = nil) -> SQL {
    guard db.engine == nil else {
      // A server has types without equality, and collations by which different texts are equal.
      if let types, types.0 == types.1 {
        return "CAST(\(first) AS text) IS NOT DISTINCT FROM CAST(\(second) AS text)"
      }
      if let types, [types.0, types.1].contains(where: { $0.hasPrefix("json") || $0 == "xml" }) {
        return "true"
      }
      return "\(first) IS NOT DISTINCT FROM \(second)"
    }
    return """
      (\(first) IS NULL AND \(second) IS NULL OR \(first) = \(second) COLLATE BINARY
        AND replace(typeof(\(first)), 'integer', 'real') = replace(typeof(\(second)), 'integer', 'real'))
      """
  }

  /// Throws unless another table has a row with the same values for each row of this one.
  func checkMoved(
    _ columns: [String], _ keys: [(key: String, value: SQL)], to target: AlteredTable,
    where condition: SQL?
  ) throws {
    // Names of its own, since those of both tables may be the same.
    let names = columns + keys.map(\.key)
    let values = columns.map { "\(identifier: $0)" as SQL } + keys.map(\.value)
    var list: SQL = "1 AS larder_row"
    var isThere: SQL = "true"
    for (number, (name, value)) in zip(names, values).enumerated() {
      let moved: SQL = "\(identifier: "larder_\(number)")"
      let types = found.column(name).flatMap { column in
        number < columns.count ? target.found.column(name).map { ($0.type, column.type) } : nil
      }
      list = "\(list), \(value) AS \(moved)"
      let same = isSame(
        "larder_target.\(identifier: name)", "larder_source.\(moved)", types: types)
      isThere = "\(isThere) AND \(same)"
    }
    let sql: SQL = """
      SELECT count(*) FROM
        (SELECT \(list) FROM \(name) WHERE \(condition ?? "true")) AS larder_source
      WHERE NOT EXISTS (SELECT 1 FROM \(target.name) AS larder_target WHERE \(isThere))
      """
    guard let count = try db.value(sql.uncached, as: Int.self), count > 0 else { return }
    throw problem(
      "“\(target.found.name)” would have other values, or no row, for \(count) rows: its types, constraints or "
        + "triggers change them")
  }

  /// Throws unless each row refers to a row of another table that has the same value.
  func checkSplit(
    _ column: String, _ reference: String, to target: AlteredTable, _ id: String, _ name: String
  ) throws {
    let value: SQL = "larder_source.\(identifier: column)"
    let types = found.column(column).flatMap { column in
      target.found.column(name).map { ($0.type, column.type) }
    }
    let isEqual = isSame("larder_target.\(identifier: name)", value, types: types)
    let sql: SQL = """
      SELECT count(*) FROM \(self.name) AS larder_source WHERE \(value) IS NOT NULL AND NOT EXISTS
        (SELECT 1 FROM \(target.name) AS larder_target
          WHERE larder_target.\(identifier: id) = larder_source.\(identifier: reference)
            AND \(isEqual))
      """
    guard let count = try db.value(sql.uncached, as: Int.self), count > 0 else { return }
    throw problem(
      "\(count) values of “\(column)” would be lost, since “\(target.found.name)” has none that equal them: its "
        + "types, collations, constraints or triggers change them")
  }
}

extension ColumnSchema {
  /// Whether the column's own definition has a constraint that begins with this word.
  func hasOwn(_ word: String) -> Bool { sql.sqlTokens.contains { $0.isWord(word) } }
}
