import CSQLite

extension Database {
  /// The affinity and the collation of a table's column. SQLite knows both without a statement, except for
  /// the affinity of ANY, which depends on whether the table is STRICT. Nil for a view's columns, for a
  /// column that doesn't exist, and on another engine. Throws ``DatabaseError`` on a closed database.
  ///
  /// See [table_column_metadata](https://www.sqlite.org/c3ref/table_column_metadata.html).
  package func metadata(
    ofColumn column: String, in table: String
  ) throws -> (affinity: ColumnAffinity, collation: String)? {
    guard engine == nil else { return nil }
    let handle = try connection.sqlite()
    var type: UnsafePointer<CChar>?
    var collation: UnsafePointer<CChar>?
    guard
      sqlite3_table_column_metadata(handle, nil, table, column, &type, &collation, nil, nil, nil)
        == SQLITE_OK
    else { return nil }
    // Both strings belong to the schema, which the next statement may read anew.
    let (declared, name) = (type.map { String(cString: $0) }, collation.map { String(cString: $0) })
    let isStrict = try declared?.uppercased() == "ANY" && isStrict(table)
    return (ColumnAffinity(type: declared ?? "", isStrict: isStrict), name ?? "BINARY")
  }

  private func isStrict(_ table: String) throws -> Bool {
    try value(
      """
      SELECT strict FROM pragma_table_list(?) ORDER BY schema = 'temp' DESC, schema = 'main' DESC
      """, table, as: Bool.self) ?? false
  }
}
