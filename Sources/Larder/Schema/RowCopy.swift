import LarderSQLite

/// How a rebuild copies rows from the old table to the new one, and what that would lose.
package struct RowCopy {
  let old: TableSchema
  let new: TableSchema
  let losing: RebuildLosses
  let db: Database
  /// The caller's expressions, by the folded names of columns.
  let copying: [[UInt8]: SQL]

  package init(
    old: TableSchema, new: TableSchema, losing: RebuildLosses, db: Database, copying: [String: SQL]
  ) {
    self.old = old
    self.new = new
    self.losing = losing
    self.db = db
    self.copying = Dictionary(
      copying.map { ($0.key.foldedName, $0.value) }, uniquingKeysWith: { $1 })
  }

  /// The old table's name, qualified so that no temporary table hides it.
  private var oldTable: SQL {
    old.engine == nil ? "main.\(identifier: old.name)" : "\(SQL(raw: old.quotedName))"
  }

  /// A column that is written, and the expression that it gets.
  struct Value {
    let target: String
    let source: SQL
    /// The old column, if the source is nothing else.
    let column: ColumnSchema?
    var isRowID = false
  }

  // MARK: The statement

  func sql(to table: String) -> SQL {
    var values = self.values
    // INSERT needs at least one column.
    if values.isEmpty, let column = new.columns.first(where: { $0.generated == nil }) {
      let source = SQL(raw: column.default ?? "NULL")
      values.append(Value(target: column.name, source: source, column: nil))
    }
    let targets = SQL(raw: values.map(\.target).identifierList)
    var sources: SQL = ""
    for (index, value) in values.enumerated() {
      sources = index == 0 ? value.source : "\(sources), \(value.source)"
    }
    // Rows are copied in the order of the new table's key, so that each is appended at its end. SQLite might
    // otherwise read them in the order of an index that happens to have all columns.
    let order = old.rowIDSource.map { [$0] } ?? old.primaryKey
    let orderSQL = SQL(raw: order.isEmpty ? "" : " ORDER BY \(order.identifierList)")
    let verb: SQL = losing.contains(.rows) ? "INSERT OR IGNORE" : "INSERT"
    let sql: SQL = """
      \(verb) INTO main.\(identifier: table) (\(targets))
      SELECT \(sources) FROM \(oldTable)\(orderSQL)
      """
    return sql.uncached
  }

  var values: [Value] {
    var values = new.columns.compactMap { column -> Value? in
      guard column.generated == nil else { return nil }
      if let expression = copying[column.name.foldedName] {
        let tokens = expression.text.sqlTokens
        let source = tokens.count == 1 ? tokens[0].identifier.flatMap(old.column) : nil
        return Value(target: column.name, source: expression, column: source)
      }
      // The old column's own name is used, since its case may differ.
      return old.column(column.name).map {
        Value(target: column.name, source: "\(identifier: $0.name)", column: $0)
      }
    }
    // Row ids are kept: other tables, such as full-text indexes, may know the rows by them.
    if let target = new.rowIDTarget, let source = old.rowIDSource,
      !values.contains(where: { $0.target.foldedName == target.foldedName })
    {
      values.append(
        Value(
          target: target, source: "\(identifier: source)",
          column: old.rowIDColumn.flatMap(old.column), isRowID: true))
    }
    return values
  }

  // MARK: Losses

  /// Throws if rows have values that would be left out or changed, or lack values that are needed.
  package func check() throws {
    if !losing.contains(.rowIDs) { try checkHasRowIDs() }
    guard try db.value("SELECT EXISTS (SELECT 1 FROM \(oldTable))", as: Bool.self) == true
    else { return }
    try checkColumns()
    if !losing.contains(.rowIDs), let changed = changedRowIDs {
      try throwIfAny(changed) { .losesRowIDs(table: new.name, count: $0, rows: $1) }
    }
    if !losing.contains(.values) { try checkValues() }
  }

  private func checkColumns() throws {
    if !losing.contains(.columns) {
      let lost = try old.lostColumns(for: new).filter { try !isRead($0) }
      guard lost.isEmpty else {
        throw SchemaError.losesColumns(table: new.name, columns: lost.map(\.name))
      }
    }
    let filled = Set(values.map(\.target.foldedName))
    let missing = new.columns.first { $0.needsValue && !filled.contains($0.name.foldedName) }
    if let missing { throw SchemaError.needsValue(table: new.name, column: missing.name) }
  }

  /// Whether one of the caller's expressions reads a column: without it, the expression doesn't compile.
  private func isRead(_ column: ColumnSchema) throws -> Bool {
    try copying.values.contains { expression in
      // An expression that names the schema too doesn't compile here, so it is also tried unqualified.
      var short = expression
      short.text = short.text.withoutQualifier(old.name)
      let candidates = [expression, short]
      guard let expression = try candidates.first(where: { try compiles($0, without: nil) })
      else { return false }
      return try !compiles(expression, without: column.name)
    }
  }

  private func compiles(_ expression: SQL, without missing: String?) throws -> Bool {
    let names = (old.columns.map(\.name) + old.rowIDNames).filter { $0 != missing }
    let list = SQL(raw: names.isEmpty ? "NULL" : names.identifierList)
    let sql: SQL =
      "SELECT \(expression) FROM (SELECT \(list) FROM \(oldTable)) AS \(identifier: old.name)"
    do {
      // Another engine runs this in a savepoint, since an error would abort its transaction.
      if old.engine == nil {
        try db.validate(sql.uncached)
      } else {
        try db.inSavepoint { try $0.validate(sql.uncached) }
      }
      return true
    } catch let error as DatabaseError where error.code == .error {
      return false
    }
  }

  /// Throws if the rows would no longer have row ids, whether or not there are rows. A table declared WITHOUT
  /// ROWID is known by its key, unless it is the content of a virtual table.
  private func checkHasRowIDs() throws {
    guard old.rowIDSource != nil, new.rowIDTarget == nil else { return }
    if new.isWithoutRowID,
      try !db.schema().contains(where: { $0.isVirtualTable && $0.names(old.name) })
    {
      return
    }
    throw try loss(of: "true") { .losesRowIDs(table: new.name, count: $0, rows: $1) }
  }

  /// The condition of rows that would get another row id; nil if none can.
  var changedRowIDs: SQL? {
    // Nobody can know row ids that have no name.
    guard let source = old.rowIDSource, let target = new.rowIDTarget,
      let value = values.first(where: { $0.target.foldedName == target.foldedName }),
      !value.isRowID, value.column == nil || value.column?.name != old.rowIDColumn
    else { return nil }
    return "(\(value.source)) IS NOT \(identifier: source)"
  }

  /// Throws if a column's type, key or conflict clause would change a value.
  private func checkValues() throws {
    for value in values {
      guard let column = value.column, let target = new.column(value.target) else { continue }
      func error(_ count: Int, _ rows: [[DatabaseValue]]) -> SchemaError {
        .changesValues(table: new.name, column: target.name, count: count, rows: rows)
      }
      guard old.engine == nil else {
        if let changed = changed(column, target) { try throwIfAny(changed, error) }
        continue
      }
      let conversion = ValueConversion(from: column, of: old, to: target, of: new)
      if let changed = conversion.changed { try throwIfAny(changed, error) }
      if let zeros = conversion.realZeros {
        let rows = try rows(zeros, also: column.name).filter { $0.last?.isNegativeZero == true }
        if !rows.isEmpty {
          throw error(rows.count, rows.prefix(Self.mostRows).map { $0.dropLast() })
        }
      }
    }
  }

  /// The condition of rows whose value another engine would change: it casts the value to the new type and
  /// back. Nil if the type stays the same.
  private func changed(_ column: ColumnSchema, _ target: ColumnSchema) -> SQL? {
    guard column.type != target.type else { return nil }
    let value: SQL = "\(identifier: column.name)"
    let cast: SQL = "CAST(\(value) AS \(SQL(raw: target.type)))"
    return "CAST(\(cast) AS \(SQL(raw: column.type))) IS DISTINCT FROM \(value)"
  }

  // MARK: Rows

  /// The number of rows that an error lists.
  private static let mostRows = 10

  private func throwIfAny(
    _ condition: SQL, _ error: (Int, [[DatabaseValue]]) -> SchemaError
  ) throws {
    let sql: SQL = "SELECT EXISTS (SELECT 1 FROM \(oldTable) WHERE \(condition))"
    if try db.value(sql, as: Bool.self) == true { throw try loss(of: condition, error) }
  }

  private func loss(
    of condition: SQL, _ error: (Int, [[DatabaseValue]]) -> SchemaError
  ) throws -> SchemaError {
    let count = try db.value(
      "SELECT count(*) FROM \(oldTable) WHERE \(condition)", as: Int.self)
    return error(count ?? 0, try rows(condition, limit: Self.mostRows))
  }

  /// The row ids, or the keys, of the rows that meet a condition, in order.
  private func rows(
    _ condition: SQL, also column: String? = nil, limit: Int = -1
  ) throws -> [[DatabaseValue]] {
    let key = old.rowIDSource.map { [$0] } ?? old.primaryKey
    let names = key + (column.map { [$0] } ?? [])
    guard !key.isEmpty else { return [] }
    return try db.executeQuery(
      """
      SELECT \(SQL(raw: names.identifierList)) FROM \(oldTable) WHERE \(condition)
      ORDER BY \(SQL(raw: key.identifierList)) LIMIT \(limit)
      """
    ).map { row in try names.indices.map { try row.get(at: $0) } }
  }
}

extension DatabaseValue {
  fileprivate var isNegativeZero: Bool {
    if case .real(let number) = self { number == 0 && number.sign == .minus } else { false }
  }
}

extension TableSchema {
  /// The columns whose values another table can't hold: it lacks the column, or computes it.
  func lostColumns(for new: TableSchema) -> [ColumnSchema] {
    columns.filter {
      $0.generated == nil && new.column($0.name).map { $0.generated != nil } ?? true
    }
  }

  /// A name under which row ids can be read; nil if there is none.
  var rowIDSource: String? { rowIDNames.first ?? rowIDColumn }

  /// The column to insert row ids into; nil if there is none.
  var rowIDTarget: String? { rowIDColumn ?? rowIDNames.first }
}
