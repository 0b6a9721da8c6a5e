/// The values that rows have in columns that were added after the rows were stored: the DEFAULT as SQLite
/// evaluated it in ALTER TABLE, which is a constant. An in-memory table that gets the same columns has SQLite
/// itself evaluate it.
///
/// See [ALTER TABLE ADD COLUMN](https://www.sqlite.org/lang_altertable.html#altertabaddcol).
enum AddedColumns {
  /// - Parameters:
  ///   - texts: the columns' defaults as the schema spells them; nil for none.
  ///   - affinities: the columns' affinities.
  ///
  /// An element is nil if SQLite refuses its default in ADD COLUMN: no row can lack such a column then.
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
      // The schema stores a default without its parentheses.
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
  /// A type name that has this affinity.
  fileprivate var typeName: String {
    switch self {
    case .none: "BLOB"
    case .text: "TEXT"
    case .numeric: "NUMERIC"
    case .real: "REAL"
    }
  }
}
