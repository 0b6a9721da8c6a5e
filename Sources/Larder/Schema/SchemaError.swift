import LarderSQLite

/// Why a table could not be changed to what is declared. Nothing has been changed then.
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
  /// A rebuild would have made other values of what this many rows have in a column; the row ids, or
  /// the keys, of the first ten.
  case changesValues(table: String, column: String, count: Int, rows: [[DatabaseValue]])
  /// A rebuild would have given this many rows another row id, or none; the first ten.
  case losesRowIDs(table: String, count: Int, rows: [[DatabaseValue]])
  /// The text that is kept for a table, index, view or trigger isn't the one statement that makes it.
  case notItsStatement(name: String, sql: String)
  /// A rebuild has no value for a column that is NOT NULL and has no default.
  case needsValue(table: String, column: String)
  /// A rebuild was told of a value for a column that can't be written, or that isn't declared.
  case noSuchColumn(table: String, column: String)
  /// Other rows refer to this table's, and foreign keys can't be turned off inside of a transaction.
  case foreignKeysAreOn(table: String)
  /// After a rebuild rows would refer to rows that aren't there.
  case brokenForeignKeys(table: String, count: Int)
  /// After a change a view, or the triggers of a table, would no longer work.
  case brokenDependent(table: String, dependent: String, reason: String)
}

extension SchemaError: CustomStringConvertible {
  /// One line with the table and what to do about it.
  public var description: String {
    switch self {
    case .noTable(let table):
      "there is no ordinary table “\(table)” in the main schema"
    case .hidden(let table):
      "a temporary table or view hides “\(table)” of the main schema"
    case .cannotAddColumn(let table, let column, let reason):
      "“\(column)” can't be added to “\(table)”: \(reason); rebuild the table"
    case .losesColumns(let table, let columns):
      "the values of \(columns.map { "“\($0)”" }.joined(separator: ", ")) in “\(table)” would be "
        + "lost; copy them to other columns, or say losing: .columns"
    case .losesRows(let table, let count):
      "\(count) rows of “\(table)” would be lost; copy values that fit, or say losing: .rows"
    case .changesValues(let table, let column, let count, let rows):
      "\(count) values of “\(column)” in “\(table)” would become others (in \(Self.list(rows, count))); "
        + "copy them by an expression, or say losing: .values"
    case .losesRowIDs(let table, let count, let rows):
      "\(count) rows of “\(table)” would lose their row ids (\(Self.list(rows, count))), by which "
        + "others may know them; say losing: .rowIDs if nobody does"
    case .notItsStatement(let name, let sql):
      "what is kept for “\(name)” isn't the one statement that makes it: \(sql.prefix(200))"
    case .needsValue(let table, let column):
      "rows of “\(table)” have no value for “\(column)”, which is NOT NULL and has no default; "
        + "give one with copying:"
    case .noSuchColumn(let table, let column):
      "“\(table)” has no column “\(column)” to copy to"
    case .foreignKeysAreOn(let table):
      "rows refer to “\(table)”, and would be deleted or changed with it; rebuild it outside of a "
        + "transaction (inDatabase), in a migration, or with foreign keys off"
    case .brokenForeignKeys(let table, let count):
      "\(count) foreign keys would refer to rows that aren't there after a rebuild of “\(table)”"
    case .brokenDependent(let table, let dependent, let reason):
      "“\(dependent)” would no longer work after a change of “\(table)”: \(reason); drop it before"
    }
  }

  private static func list(_ rows: [[DatabaseValue]], _ count: Int) -> String {
    let keys = rows.map { $0.map { (try? $0.literal) ?? "NULL" }.joined(separator: ", ") }
    return "rows " + keys.joined(separator: "; ") + (count > rows.count ? "; …" : "")
  }
}
