import Larder

/// A full-text index of a table's names; see [FTS5](https://www.sqlite.org/fts5.html). On a server it is a
/// column that the server itself computes: see ``Schema``.
///
/// It finds words by their beginnings, whatever their case and accents: `zur` finds Zürich. A run of
/// Chinese characters is one word to it, so that 北京 finds 北京市, but what is inside of a word is
/// found only by looking at all names.
///
/// The names themselves stay in the table. No triggers keep the index up to date: Larder's connections
/// don't trust the schema with writing to virtual tables, since anybody may have written that.
struct TextIndex {
  static let cities = TextIndex(table: "city", key: "id")
  static let divisions = TextIndex(table: "division", key: "code")

  let table: String
  let key: String

  private var name: String { table + "_text" }

  /// Whether it is a table of its own, which the program keeps up to date.
  func isTable(_ db: Database) throws -> Bool { try db.tableExists(name) }

  /// Makes the index anew of all names.
  func rebuild(_ db: Database) throws {
    guard try isTable(db) else { return }
    try db.executeUpdate(
      "INSERT INTO \(identifier: name)(\(identifier: name)) VALUES ('rebuild')")
  }

  /// Adds the name of a row that was inserted.
  func add(_ key: Int64?, _ text: String, _ db: Database) throws {
    guard try isTable(db) else { return }
    try db.executeUpdate(
      "INSERT INTO \(identifier: name)(rowid, name) VALUES (\(key), \(text))")
  }

  /// Removes the name of a row that is deleted, or gets another name.
  func remove(_ key: Int64?, _ text: String, _ db: Database) throws {
    guard try isTable(db) else { return }
    try db.executeUpdate(
      """
      INSERT INTO \(identifier: name)(\(identifier: name), rowid, name)
      VALUES ('delete', \(key), \(text))
      """)
  }

  /// Whether the row with a key has, for each word of a text, one that begins with it.
  func matches<Key>(
    _ key: SQLExpression<Key>, _ text: String, isTable: Bool
  ) -> SQLExpression<Bool> {
    guard isTable else {
      return SQLExpression<Bool>(sql: "\(identifier: table).words @@ words_like(\(text))")
    }
    return SQLExpression<Bool>(
      sql: """
        \(key.sql) IN (
          SELECT rowid FROM \(identifier: name)
          WHERE \(identifier: name) MATCH \(Self.expression(for: text)))
        """)
  }

  /// The words as FTS5 takes them: in quotes, nothing in them has a meaning of its own.
  private static func expression(for text: String) -> String {
    text.split(whereSeparator: \.isWhitespace)
      .map { "\"" + $0.replacing("\"", with: "\"\"") + "\"*" }
      .joined(separator: " ")
  }
}
