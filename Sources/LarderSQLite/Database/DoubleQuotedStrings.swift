import CSQLite

// Strings in double quotes: SQLite once took a double-quoted name for a string if nothing had that name,
// and views and triggers of databases from then still depend on that; see
// [its quirks](https://www.sqlite.org/quirks.html#dblquote).

extension Connection {
  /// The advice for a statement that can't be compiled only because a view or trigger that it uses holds
  /// such strings; nil for any other.
  ///
  /// SQLite's error says no more than that there is no such column. So the statement is compiled again with
  /// the strings allowed, and with its own names in quotes of another kind, which are never strings.
  func quotingAdvice(for sql: String, _ kind: StatementKind, _ code: Int32) -> String? {
    // A PRAGMA does its work while it is compiled.
    if case .pragma = kind { return nil }
    guard code == SQLITE_ERROR, let handle, sql.utf8.count < DatabaseError.longestText,
      larder_db_config_value(handle, SQLITE_DBCONFIG_DQS_DML) == 0,
      let text = try? SQLText(SQL(raw: sql).pieces.map(\.withoutDoubleQuotes).joined())
    else { return nil }
    larder_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 1)
    defer { larder_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0) }
    let compiled = text.compile(on: handle)
    guard compiled.code == SQLITE_OK else { return nil }
    sqlite3_finalize(compiled.handle)
    return "a view or trigger has a string in double quotes: set "
      + "Configuration.allowsDoubleQuotedStrings"
  }
}

extension SQLPiece {
  /// The text, with a name in double quotes put into backquotes.
  fileprivate var withoutDoubleQuotes: String {
    guard kind == .quoted, text.utf8.first == UInt8(ascii: "\""), let name else { return text }
    return name.quoted(by: UInt8(ascii: "`"))
  }
}
