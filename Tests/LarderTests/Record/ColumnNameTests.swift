import Larder
import PostgresSupport
import Testing

/// A record with names that need quoting.
private struct Odd: Record, Equatable {
  var id: Int64?
  var keyword: String
  var quoted: Int
  var spaced: Int
  var clash: Int
  var accent: Int
  var empty: Int

  struct Columns: Sendable {
    let id = Column("1st", \Odd.id, .primaryKey)
    let keyword = Column("select", \Odd.keyword)
    let quoted = Column("say \"hi\"; --", \Odd.quoted)
    let spaced = Column("a b", \Odd.spaced)
    let clash = Column("column_3", \Odd.clash)
    let accent = Column("größe 北", \Odd.accent)
    let empty = Column(" ", \Odd.empty)
  }
  static let columns = Columns()
  static let table = Table(
    "order's \"odd\" table", Odd.init, columns.id, columns.keyword, columns.quoted, columns.spaced,
    columns.clash, columns.accent, columns.empty)
}

@Suite("Names of tables and columns")
struct ColumnNameTests {
  let db: Database

  init() throws {
    db = try Database.empty()
    try db.define(
      SQL(
        raw: """
          CREATE TABLE "order's ""odd"" table" ("1st" INTEGER PRIMARY KEY, "select" TEXT,
            "say ""hi""; --" INTEGER, "a b" INTEGER, "column_3" INTEGER, "größe 北" INTEGER,
            " " INTEGER)
          """))
  }

  @Test("Names of tables and columns may contain quotes, spaces, keywords and any other text")
  func everyOperation() throws {
    var odd = Odd(id: nil, keyword: "from", quoted: 1, spaced: 2, clash: 3, accent: 4, empty: 5)
    try odd.insert(db)
    #expect(try Odd.find(db, 1) == odd)
    odd.clash = 30
    try odd.update(db)
    odd.spaced = 20
    try odd.update(db, Odd.columns.spaced, Odd.columns.accent)
    odd.quoted = 10
    try odd.upsert(db)
    #expect(try odd.updated(db) == odd)
    #expect(try Odd.fetchAll(db) == [odd])
    #expect(try Odd.fetchAll(db, sql: SQL(raw: Odd.table.selectSQL)) == [odd])
    try Odd.insert(
      db,
      contentsOf: (2...9).map { (id: Int64) in
        var other = odd
        other.id = id
        return other
      })
    #expect(try Odd.fetchAll(db, keys: 2...4).count == 3)
    #expect(try odd.delete(db))
  }

  @Test("Column names are compared byte by byte: composed and decomposed “é” differ")
  func canonicalEquivalence() throws {
    struct Twice: Record, Equatable {
      var id: Int64?
      var composed: Int
      var decomposed: Int
      var capital: Int

      struct Columns: Sendable {
        let id = Column("id", \Twice.id, .primaryKey)
        let composed = Column("\u{E9}", \Twice.composed)
        let decomposed = Column("e\u{301}", \Twice.decomposed)
        let capital = Column("\u{C9}", \Twice.capital)
      }
      static let columns = Columns()
      static let table = Table(
        "twice", Twice.init, columns.id, columns.composed, columns.decomposed, columns.capital)
    }
    try db.define(
      """
      CREATE TABLE twice (id INTEGER PRIMARY KEY, \(identifier: "\u{E9}") INTEGER,
        \(identifier: "e\u{301}") INTEGER, \(identifier: "\u{C9}") INTEGER)
      """)
    var twice = Twice(id: nil, composed: 1, decomposed: 2, capital: 3)
    try twice.insert(db)
    #expect(try Twice.fetchAll(db) == [twice])
    #expect(try Twice.fetchAll(db, sql: "SELECT * FROM twice") == [twice])
    twice.composed = 10
    twice.decomposed = 20
    try twice.update(db, Twice.columns.decomposed)
    #expect(try Twice.find(db, 1) == Twice(id: 1, composed: 1, decomposed: 20, capital: 3))
  }
}
