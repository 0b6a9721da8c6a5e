import CSQLite
import Larder

extension Database {
  /// The changeset that makes tables of this database equal to those of another one, byte for byte. Pass it
  /// to ``LarderChangeset/Changeset/apply(to:onConflict:)`` on this database.
  ///
  /// ```swift
  /// let changeset = try replica.differences(to: primary, of: "city", "country")
  /// try changeset.apply(to: replica)
  /// ```
  ///
  /// - Parameters:
  ///   - other: the other database. Tables of both main databases are compared.
  ///   - tables: the tables' names. If there are none, all tables are compared but SQLite's own, virtual ones
  ///     and their shadow tables.
  ///
  /// When the changeset is applied, triggers and foreign key actions of this database may change further
  /// rows. UNIQUE ON CONFLICT IGNORE silently drops a row whose value another row still has, such as one with
  /// NULL in its key. If tables have any of these, compare again afterwards.
  ///
  /// Each database is read in one transaction: one begins after the other, unless both are in one already. As
  /// in all changesets, tables without a primary key, rows with NULL in it and generated columns are left
  /// out. Throws `ResultCode.schema` unless each table exists in both databases, with the same columns and
  /// key.
  public func differences(to other: Database, of tables: String...) throws -> Changeset {
    try inSavepoint { here in
      try other.inSavepoint { other in
        try ChangesetDifference(here, "main", other, "main").changeset(of: tables)
      }
    }
  }

  /// The same difference to the tables of a database that is attached to this connection as `schema`. Also
  /// throws `ResultCode.error` if none is.
  public func differences(toAttached schema: String, of tables: String...) throws -> Changeset {
    try inSavepoint { here in
      try ChangesetDifference(here, "main", here, schema).changeset(of: tables)
    }
  }
}

/// Compares tables of two databases row by row, by primary key.
private struct ChangesetDifference {
  private let from: Side
  private let to: Side

  init(_ from: Database, _ fromSchema: String, _ to: Database, _ toSchema: String) throws {
    self.from = try Side(from, fromSchema)
    self.to = try Side(to, toSchema)
  }

  func changeset(of tables: [String]) throws -> Changeset {
    var encoder = ChangesetEncoder()
    for table in try tables.isEmpty ? allTables() : tables { try compare(table, &encoder) }
    return encoder.changeset
  }

  private func allTables() throws -> [String] {
    let tables = try from.tables()
    let others = Set(try to.tables().map(\.foldedName)).subtracting(tables.map(\.foldedName))
    if let missing = others.first {
      throw schemaError(String(decoding: missing, as: UTF8.self))
    }
    return tables
  }

  private func schemaError(_ table: String) -> DatabaseError {
    DatabaseError(
      .schema, "both databases need the table \(table), with the same columns and key")
  }

  private func compare(_ name: String, _ encoder: inout ChangesetEncoder) throws {
    let columns = try from.columns(of: name)
    let others = try to.columns(of: name)
    guard !columns.isEmpty, columns.map(\.key) == others.map(\.key),
      zip(columns, others).allSatisfy({ $0.name.foldedName == $1.name.foldedName })
    else { throw schemaError(name) }
    let table = RecordedTable(name: name, keys: columns.map(\.key), isPatch: false)
    guard !table.primaryKey.isEmpty else { return }
    let before = from.rows(of: table, columns.map(\.name))
    let after = to.rows(of: table, columns.map(\.name))
    // Deletions come first, then updates, then insertions: each makes room for the next. UNIQUE ON CONFLICT
    // IGNORE silently drops a row that is inserted too early, whereas an update that it ignores is reported
    // as a conflict.
    try before.forEach { row in
      guard try after.row(with: table.key(of: row)) == nil else { return }
      encoder.append(
        RecordedChange(operation: .delete, isIndirect: false, old: row, new: table.blank),
        of: table)
    }
    var insertions = ChangesetEncoder()
    try after.forEach { row in
      let found = try before.row(with: table.key(of: row))
      guard let change = change(from: found, to: row, of: table) else { return }
      if found == nil {
        insertions.append(change, of: table)
      } else {
        encoder.append(change, of: table)
      }
    }
    encoder.append(insertions, of: table)
  }

  /// The change that turns a row, or no row, into another one; nil if they are equal.
  private func change(
    from old: [RecordedValue]?, to new: [RecordedValue], of table: RecordedTable
  ) -> RecordedChange? {
    var change = RecordedChange(
      operation: .insert, isIndirect: false, old: table.blank, new: new)
    guard let old else { return change }
    guard old != new else { return nil }
    change.operation = .update
    for index in new.indices {
      let isSame = old[index] == new[index]
      if table.isKey(index) || !isSame { change.old[index] = old[index] }
      if isSame { change.new[index] = .undefined }
    }
    return change
  }
}

/// One side of the comparison: a database of a connection, by its schema name there.
private struct Side {
  let database: Database
  let schema: String

  init(_ database: Database, _ schema: String) throws {
    let handle = try database.connection.sqlite("difference(to:of:)")
    guard sqlite3_db_readonly(handle, schema) >= 0 else {
      throw DatabaseError(.error, "no such database: \(schema)")
    }
    self.database = database
    self.schema = schema
  }

  func tables() throws -> [String] {
    try database.connection.untracked {
      try database.executeQuery(
        """
        SELECT name FROM pragma_table_list WHERE schema = \(schema) COLLATE NOCASE
          AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
        """
      ).map { try $0.get(at: 0) }
    }
  }

  func columns(of table: String) throws -> [(name: String, key: UInt8)] {
    try database.connection.untracked {
      try database.executeQuery(
        "SELECT name, pk FROM pragma_table_info(\(table), \(schema)) ORDER BY cid"
      ).map { (try $0.get(at: 0), UInt8(truncatingIfNeeded: try $0.get(at: 1, as: Int.self))) }
    }
  }

  func rows(of table: RecordedTable, _ columns: [String]) -> ComparedRows {
    let columns = columns.map(\.quotedIdentifier)
    let name = "\(schema.quotedIdentifier).\(table.name.quotedIdentifier)"
    return ComparedRows(
      database: database, table: table,
      all: "SELECT \(columns.joined(separator: ", ")) FROM \(name)",
      condition: table.primaryKey.map { "\(columns[$0]) IS ?" }.joined(separator: " AND "))
  }
}

/// The rows of a table: all of them, or one by its key.
private final class ComparedRows {
  private let database: Database
  private let table: RecordedTable
  private let all: String
  private let condition: String
  private var search: PreparedStatement?

  init(database: Database, table: RecordedTable, all: String, condition: String) {
    self.database = database
    self.table = table
    self.all = all
    self.condition = condition
  }

  /// Calls a closure with each row that has a key.
  func forEach(_ body: ([RecordedValue]) throws -> Void) throws {
    let statement = try database.connection.prepare(all, isPersistent: false)
    defer { statement.reset() }
    try statement.begin()
    while try statement.step() {
      let row = try self.row(of: statement)
      if !table.key(of: row).contains(.null) { try body(row) }
    }
  }

  /// The row whose key has exactly these values. (A column's collation or affinity may also match others.)
  func row(with key: [RecordedValue]) throws -> [RecordedValue]? {
    let statement =
      try search
      ?? database.connection.prepare("\(all) WHERE \(condition)", isPersistent: true)
    search = statement
    return try statement.with(key) {
      try statement.begin()
      guard try statement.step() else { return nil }
      let row = try row(of: statement)
      return table.key(of: row) == key ? row : nil
    }
  }

  private func row(of statement: PreparedStatement) throws -> [RecordedValue] {
    try statement.row(table.columnCount) { try RecordedValue(column: $0) }
  }
}
