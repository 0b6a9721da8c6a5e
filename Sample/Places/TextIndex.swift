import Larder

/// A full-text index of a table's names, which triggers keep up to date; see
/// [FTS5](https://www.sqlite.org/fts5.html).
///
/// It finds words by their beginnings, whatever their case and accents: `zur` finds Zürich. A run of
/// Chinese characters is one word to it, so that 北京 finds 北京市, but what is inside of a word is
/// found only by looking at all names.
struct TextIndex {
  static let cities = TextIndex(table: "city", key: "id")
  static let divisions = TextIndex(table: "division", key: "code")

  let table: String
  let key: String

  private var name: String { table + "_text" }

  /// Creates the index and fills it with the names that there are.
  func create(_ db: Database) throws {
    let insertion = "INSERT INTO \(name)(rowid, name) VALUES (new.\(key), new.name)"
    let deletion =
      "INSERT INTO \(name)(\(name), rowid, name) VALUES ('delete', old.\(key), old.name)"
    try db.executeStatements(
      SQL(
        raw: """
          CREATE VIRTUAL TABLE \(name) USING fts5(
            name, content='\(table)', content_rowid='\(key)', tokenize='unicode61 remove_diacritics 2'
          );
          INSERT INTO \(name)(\(name)) VALUES ('rebuild');
          CREATE TRIGGER \(name)_insert AFTER INSERT ON \(table) BEGIN \(insertion); END;
          CREATE TRIGGER \(name)_delete AFTER DELETE ON \(table) BEGIN \(deletion); END;
          CREATE TRIGGER \(name)_update AFTER UPDATE OF \(key), name ON \(table)
          BEGIN \(deletion); \(insertion); END;
          """))
  }

  /// Whether the row with a key has, for each word of a text, one that begins with it.
  func matches<Key>(_ key: SQLExpression<Key>, _ text: String) -> SQLExpression<Bool> {
    // In quotes, nothing of a word has a meaning to FTS5.
    let words = text.split(whereSeparator: \.isWhitespace)
      .map { "\"\($0.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\"*" }
    return SQLExpression<Bool>(
      sql: """
        \(key.sql) IN (
          SELECT rowid FROM \(identifier: name)
          WHERE \(identifier: name) MATCH \(words.joined(separator: " ")))
        """)
  }
}
