import LarderSQLite

/// The reason why a table couldn't be changed to its declaration. Nothing has been changed.
public enum SchemaError: Error, Hashable, Sendable {
  /// There is no ordinary table of this name in the database's `main` schema.
  case noTable(String)
  /// A temporary table or view of this name hides the one in `main`.
  case hidden(String)
  /// ALTER TABLE can't add this column.
  case cannotAddColumn(table: String, column: String, reason: String)
  /// A rebuild would have left out the values of these columns.
  case losesColumns(table: String, columns: [String])
  /// A rebuild would have left this many rows out.
  case losesRows(table: String, count: Int)
  /// A rebuild would have changed this many values of a column; `rows` has the first ten's row ids, or keys.
  case changesValues(table: String, column: String, count: Int, rows: [[DatabaseValue]])
  /// A rebuild would have given this many rows another row id, or none. `rows` has the first ten.
  case losesRowIDs(table: String, count: Int, rows: [[DatabaseValue]])
  /// The stored text of a table, index, view or trigger isn't the one statement that makes it.
  case notItsStatement(name: String, sql: String)
  /// A rebuild has no value for a column that is NOT NULL and has no default.
  case needsValue(table: String, column: String)
  /// A rebuild was given a value for a column that can't be written or isn't declared.
  case noSuchColumn(table: String, column: String)
  /// Rows refer to this table's rows, and foreign keys can't be turned off inside a transaction.
  case foreignKeysAreOn(table: String)
  /// After a rebuild, rows would refer to missing rows.
  case brokenForeignKeys(table: String, count: Int)
  /// After a change a view, or the triggers of a table, would no longer work.
  case brokenDependent(table: String, dependent: String, reason: String)
  /// A step by names, such as ``SchemaStep/rename(_:of:to:)``, doesn't fit the schema that it met; `problem`
  /// says what is there.
  case step(String, problem: String)
}

extension SchemaError: CustomStringConvertible {
  /// One line with the table and what to do about it.
  public var description: String {
    switch self {
    case .noTable(let table): "there is no ordinary table “\(table)” in the main schema"
    case .hidden(let table): "a temporary table or view hides “\(table)” of the main schema"
    case .cannotAddColumn(let table, let column, let reason):
      "“\(column)” can't be added to “\(table)”: \(reason); rebuild the table"
    case .losesColumns(let table, let columns):
      "the values of \(columns.quotedList) in “\(table)” would be "
        + "lost; copy them to other columns, or pass losing: .columns"
    case .losesRows(let table, let count):
      "\(count) rows of “\(table)” would be lost; copy values that fit, or pass losing: .rows"
    case .changesValues(let table, let column, let count, let rows):
      "\(count) values of “\(column)” in “\(table)” would change (in \(Self.list(rows, count))); "
        + "copy them by an expression, or pass losing: .values"
    case .losesRowIDs(let table, let count, let rows):
      "\(count) rows of “\(table)” would lose their row ids (\(Self.list(rows, count))); "
        + "pass losing: .rowIDs if nothing refers to them by row id"
    case .notItsStatement(let name, let sql):
      "the stored SQL of “\(name)” isn't a single CREATE statement for it: \(sql.prefix(200))"
    case .needsValue(let table, let column):
      "rows of “\(table)” have no value for “\(column)”, which is NOT NULL and has no default; "
        + "pass one in copying: or filling:"
    case .noSuchColumn(let table, let column): "“\(table)” has no column “\(column)” to copy to"
    case .foreignKeysAreOn(let table):
      "rows refer to “\(table)”, and the rebuild would delete or change them; rebuild it outside of a "
        + "transaction (inDatabase), in a migration, or with foreign keys off"
    case .brokenForeignKeys(let table, let count):
      "\(count) foreign keys would refer to missing rows after a rebuild of “\(table)”"
    case .brokenDependent(let table, let dependent, let reason):
      "“\(dependent)” would no longer work after this change of “\(table)”: \(reason); drop it first"
    case .step(let step, let problem): "can't \(step): \(problem)"
    }
  }

  private static func list(_ rows: [[DatabaseValue]], _ count: Int) -> String {
    let keys = rows.map { $0.map { (try? $0.literal) ?? "NULL" }.joined(separator: ", ") }
    return "rows " + keys.joined(separator: "; ") + (count > rows.count ? "; …" : "")
  }
}
