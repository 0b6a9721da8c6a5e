import Larder
import PostgresSupport
import Testing

@Suite(
  "Row ids in a rebuild", .onlySQLite(.definitions))
struct RebuildRowIDTests {
  let db: Database

  init() throws { db = try Database.empty() }

  private func rowIDs() throws -> [Int] {
    try db.executeQuery("SELECT rowid FROM article ORDER BY title").map { try $0.get(at: 0) }
  }

  /// Makes articles whose full-text index refers to their row ids.
  private func makeArticles(_ key: String) throws {
    try db.executeStatements(
      SQL(
        raw: """
          CREATE TABLE article (\(key), title TEXT NOT NULL);
          INSERT INTO article (rowid, title) VALUES (7, 'Oslo'), (3, 'Bergen');
          CREATE VIRTUAL TABLE article_text USING fts5(title, content='article');
          INSERT INTO article_text(article_text) VALUES ('rebuild');
          """))
  }

  private func search(_ word: String) throws -> String? {
    try db.value("SELECT title FROM article_text WHERE article_text MATCH ?", word)
  }

  private func article(_ key: ColumnDefinition, _ options: TableOptions = []) throws -> TableSchema
  {
    try TableSchema("article", [key, .column("title", .text)], options: options)
  }

  @Test("A rebuild keeps row ids where the key stops being the row id")
  func keptWithoutKey() throws {
    try makeArticles("id INTEGER PRIMARY KEY")
    try article(.column("id", .text, .primaryKey)).rebuild(db)
    #expect(try rowIDs() == [3, 7])
    #expect(try search("oslo") == "Oslo")
    #expect(try db.value("SELECT id FROM article WHERE title = 'Oslo'") == "7")
    try article(.column("id", .integer), .noPrimaryKey).rebuild(db, losing: .values)
    #expect(try rowIDs() == [3, 7])
    try article(.column("id", .integer, .primaryKey)).rebuild(db)
    #expect(try rowIDs() == [3, 7])
    #expect(
      try db.value("INSERT INTO article_text(article_text) VALUES('integrity-check')", as: Int.self)
        == nil)
  }

  @Test(
    "A rebuild throws if a key that isn't the row id would replace the row ids",
    arguments: ["id INTEGER PRIMARY KEY DESC", "id INT PRIMARY KEY", "id INTEGER UNIQUE"])
  func notTheRowID(key: String) throws {
    try makeArticles(key)
    try db.executeStatements("UPDATE article SET id = rowid * 10")
    let table = try article(.column("id", .integer, .primaryKey))
    #expect(
      failure(SchemaError.self) { try table.rebuild(db) }
        == .losesRowIDs(table: "article", count: 2, rows: [[3], [7]]))
    #expect(throws: SchemaError.self) {
      try Schema(tables: [table]).steps(from: Schema(db)).forEach {
        if !$0.isDestructive { try $0.execute(db) }
      }
    }
    #expect(try search("oslo") == "Oslo")
    // The rebuild is allowed if all keys equal the row ids.
    try db.executeStatements("UPDATE article SET id = rowid")
    try table.rebuild(db)
    #expect(try rowIDs() == [3, 7])
    #expect(try search("oslo") == "Oslo")
  }

  @Test("A rebuild of another column keeps row ids that differ from the key")
  func otherColumn() throws {
    try makeArticles("id INTEGER PRIMARY KEY DESC")
    try db.executeStatements("UPDATE article SET id = rowid * 10")
    let other = try Database.empty()
    try other.executeStatements(
      "CREATE TABLE article (id INTEGER PRIMARY KEY DESC, title TEXT NOT NULL, year INTEGER)")
    try #require(try Schema(other).table("article")).rebuild(db)
    #expect(try rowIDs() == [3, 7])
    #expect(try search("bergen") == "Bergen")
  }

  @Test("A rebuild to WITHOUT ROWID throws if a virtual table may know the row ids")
  func withoutRowID() throws {
    try makeArticles("id INTEGER PRIMARY KEY")
    let table = try article(.column("id", .integer, .primaryKey), .withoutRowID)
    #expect(
      failure(SchemaError.self) { try table.rebuild(db) }
        == .losesRowIDs(table: "article", count: 2, rows: [[3], [7]]))
    var declared = try Schema(db)
    declared.tables = [table]
    let steps = declared.steps(from: try Schema(db))
    #expect(
      steps.map(\.description) == [
        "DESTRUCTIVE: rebuild the table “article”, losing row ids that “article_text” may know"
      ])
    try table.rebuild(db, losing: .rowIDs)
  }

  @Test("A rebuild throws if an expression would change the row ids")
  func computedKey() throws {
    try makeArticles("id INTEGER PRIMARY KEY")
    let table = try article(.column("id", .integer, .primaryKey))
    #expect(
      failure(SchemaError.self) { try table.rebuild(db, copying: ["id": "id + 100"]) }
        == .losesRowIDs(table: "article", count: 2, rows: [[3], [7]]))
    try table.rebuild(db, copying: ["id": "id + 100"], losing: .rowIDs)
    #expect(try rowIDs() == [103, 107])
  }
}
