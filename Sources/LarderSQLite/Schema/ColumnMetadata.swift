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
    let look = SchemaLook(handle: try connection.sqlite())
    guard let (type, collation) = look.declaration(of: column, in: table) else { return nil }
    let isStrict = try type?.uppercased() == "ANY" && isStrict(table)
    return (ColumnAffinity(type: type ?? "", isStrict: isStrict), collation)
  }

  private func isStrict(_ table: String) throws -> Bool {
    try value(
      """
      SELECT strict FROM pragma_table_list(?) ORDER BY schema = 'temp' DESC, schema = 'main' DESC
      """, table, as: Bool.self) ?? false
  }
}
