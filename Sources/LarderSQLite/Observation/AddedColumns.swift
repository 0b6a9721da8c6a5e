/// The values of columns that were added to a table, in rows that are older than they: what SQLite makes of a DEFAULT
/// then, which is a constant. SQLite itself is asked, by a table in memory that gets the same columns.
///
/// See [ALTER TABLE ADD COLUMN](https://www.sqlite.org/lang_altertable.html#altertabaddcol).
enum AddedColumns {
  /// - Parameters:
  ///   - texts: the columns' defaults, as the schema has them; nil for none.
  ///   - affinities: the columns' affinities.
  ///
  /// Returns nil for a default that SQLite doesn't take for a column that is added: no row lacks such a column.
  static func values(
    of texts: [String?], _ affinities: [ColumnAffinity]
  ) throws -> [DatabaseValue?] {
    if texts.allSatisfy({ $0 == nil }) { return texts.map { _ in .some(.null) } }
    let database = try Database()
    try database.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    return try zip(texts, affinities).enumerated().map { index, column in
      guard let text = column.0 else { return .null }
      let name = "c\(index)"
      let declaration = "ALTER TABLE t ADD COLUMN \(name) \(column.1.typeName) DEFAULT"
      // The schema leaves the parentheses out.
      for form in [text, "(\(text))"] {
        guard (try? database.executeUpdate(SQL(raw: "\(declaration) \(form)"))) != nil else {
          continue
        }
        return try database.value(SQL(raw: "SELECT \(name) FROM t"), as: DatabaseValue.self)
      }
      return nil
    }
  }
}

extension ColumnAffinity {
  /// A type of this affinity.
  fileprivate var typeName: String {
    switch self {
    case .none: "BLOB"
    case .text: "TEXT"
    case .numeric: "NUMERIC"
    case .real: "REAL"
    }
  }
}
