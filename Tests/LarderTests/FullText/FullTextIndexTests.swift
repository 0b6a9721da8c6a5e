import Larder
import LarderTesting
import PostgresSupport
import TestSupport
import Testing

@Suite("Full-text indexes")
struct FullTextIndexTests {
  @Test("A full-text index is an FTS5 table with triggers", .onlySQLite(.definitions))
  func statements() throws {
    let index = FullTextIndex(
      of: Letter.self, \.subject, \.body, tokenizer: .porter(alsoLetters: "-'"), prefixes: [2, 3],
      detail: .column, sizes: false)
    let sql = try index.schema().map { try #require($0.sql) }
    #expect(
      sql[1] == """
        CREATE VIRTUAL TABLE "letter_text" USING fts5("subject", "body", content = 'letter', \
        content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2 tokenchars ''-''''''', \
        prefix = '2 3', columnsize = 0, detail = column)
        """)
    #expect(
      try Letter.text.schema().map(\.name) == [
        "letter_text_replaced", "letter_text", "letter_text_inserting", "letter_text_inserted",
        "letter_text_updating", "letter_text_updated", "letter_text_deleted",
      ])
  }

  private static func index(
    _ storage: FullTextStorage, _ tokenizer: FullTextTokenizer = .unicode61(), sizes: Bool = true,
    detail: FullTextDetail = .full
  ) -> FullTextIndex<Letter> {
    FullTextIndex(
      of: Letter.self, \.subject, \.body, tokenizer: tokenizer, storage: storage, detail: detail,
      sizes: sizes)
  }

  @Test(
    "A full-text index follows inserts, updates and deletes, in each kind of storage",
    arguments: [FullTextStorage.table, .copied, .contentless], [true, false])
  func following(storage: FullTextStorage, sizes: Bool) throws {
    let index = Self.index(storage, sizes: sizes)
    let db = try Letter.database(index)
    #expect(try index.differences(db) == [])
    try index.verify(db)
    #expect(try found(.all(of: "york"), db, index) == [3, 4])
    var letter = Letter(id: nil, subject: "York", body: nil, sender: "x")
    try letter.insert(db)
    #expect(try found(.all(of: "york"), db, index) == [3, 4, letter.id])
    letter.subject = "Bergen"
    try letter.update(db)
    #expect(try found(.all(of: "york"), db, index) == [3, 4])
    #expect(try found(.all(of: "bergen"), db, index) == [letter.id])
    try Letter.filter { $0.id == 3 }.update(db) { $0.id = 30 }
    #expect(try found(.all(of: "york"), db, index) == [4, 30])
    try letter.upsert(db)
    try Letter.insert(
      db, contentsOf: (100..<120).map { Letter(id: $0, subject: "many", body: nil, sender: "") })
    #expect(try found(.all(of: "many"), db, index).count == 20)
    let inside = try db.inTransaction { db in
      try Letter.all.delete(db)
      db.setRollbackOnly()
      return try found(.all(of: "many"), db, index).count
    }
    #expect(inside == 0)
    try letter.delete(db)
    #expect(try found(.all(of: "bergen"), db, index) == [])
    try index.verify(db)
    try index.optimize(db)
    try index.rebuild(db)
    try index.verify(db)
    #expect(try found(.all(of: "york"), db, index) == [4, 30])
    try index.drop(db)
    try index.drop(db, ifExists: true)
    #expect(throws: DatabaseError.self) { try index.drop(db) }
    try index.create(db)
    try index.create(db, ifNotExists: true)
    #expect(throws: DatabaseError.self) { try index.create(db) }
    #expect(try found(.all(of: "york"), db, index) == [4, 30])
  }

  @Test(
    "verify finds a full-text index that doesn't match its table, and rebuild repairs it",
    .onlySQLite(.triggers), arguments: [FullTextStorage.table, .copied, .contentless])
  func behind(storage: FullTextStorage) throws {
    let index = Self.index(storage)
    let db = try Letter.database(index)
    try db.executeStatements("DROP TRIGGER letter_text_inserted; DROP TRIGGER letter_text_deleted")
    #expect(
      try index.differences(db).map(\.table) == ["letter_text_inserted", "letter_text_deleted"])
    try db.executeStatements(
      "DELETE FROM letter WHERE id = 1; INSERT INTO letter VALUES (7, 'Bergen', NULL, '')")
    let error = #expect(throws: DatabaseError.self) { try index.verify(db) }
    #expect(error?.code == .corrupt)
    // The search omits deleted rows and returns no others.
    #expect(try found(.all(of: "harbour"), db, index) == [])
    try index.rebuild(db)
    try index.verify(db)
    #expect(try found(.all(of: "bergen"), db, index) == [7])
  }

  @Test("A full-text index that is missing, or has other settings, is reported as a difference")
  func differences() throws {
    let db = try Letter.database()
    #expect(try Letter.text.differences(db) == [])
    #expect(try Letter.table.differences(db) == [])
    let none = FullTextIndex(of: Letter.self, \.sender, named: "sender_text")
    #expect(try !none.differences(db).isEmpty)
    if !TestEngine.isPostgres {
      let other = FullTextIndex(of: Letter.self, \.subject, \.body, prefixes: [2])
      #expect(try other.differences(db).map(\.kind) == [.virtualTable])
      let declared = Schema(
        tables: [try Letter.table.schema()], others: try Letter.text.schema())
      #expect(declared.differences(from: try Schema(db)) == [])
    }
  }

  @Test(
    "A full-text tokenizer folds case, diacritics or word endings as configured",
    arguments: [
      (FullTextTokenizer.unicode61(removingDiacritics: false), "zurich", []),
      (.unicode61(removingDiacritics: false), "ZÜRICH", [1]),
      (.porter(), "ferries", [1, 2, 4]), (.ascii, "zurich", []), (.ascii, "FERRY", [1, 2]),
    ] as [(FullTextTokenizer, String, [Int64])])
  func tokenizers(tokenizer: FullTextTokenizer, text: String, ids: [Int64]) throws {
    let index = Self.index(.table, tokenizer)
    #expect(try found(.all(of: text), Letter.database(index), index) == ids)
  }

  @Test(
    "The trigram tokenizer finds any three characters, and nothing for fewer than three",
    .refused(.definitions))
  func trigrams() throws {
    let index = Self.index(.table, .trigram())
    let db = try Letter.database(index)
    #expect(try found(.all(of: "arb erry"), db, index) == [1])
    #expect(try found(.phrase("w Yor"), db, index) == [3])
    #expect(try found(.all(of: "Wxyz"), db, index) == [])
    #expect(try found(.all(of: "york yo"), db, index) == [3, 4])
    for text in ["yo", "北京", ""] {
      #expect(try found(.all(of: text), db, index) == [])
      #expect(try found(.phrase(text), db, index) == [])
    }
    let exact = FullTextIndex(
      of: Letter.self, \.subject, named: "exact", tokenizer: .trigram(caseSensitive: true))
    try exact.create(db)
    #expect(try found(.all(of: "york"), db, exact) == [])
    #expect(try found(.all(of: "York"), db, exact) == [3, 4])
  }

  @Test("A full-text index can use a tokenizer that the program defines", .refused(.functions))
  func ownTokenizer() throws {
    let index = FullTextIndex(of: Letter.self, \.subject, tokenizer: "letters")
    let db = try Database.empty()
    if db.engine == nil {
      try db.createTokenizer("letters") { text, _ in
        var place = 0
        return text.map { letter in
          defer { place += letter.utf8.count }
          return (String(letter), place..<place + letter.utf8.count)
        }
      }
    }
    try Letter.table.create(db)
    try index.create(db)
    try Letter.insert(db, contentsOf: Letter.letters)
    #expect(try found(.phrase("ew Yo"), db, index) == [3])
    try index.verify(db)
  }

  @Test(
    "A full-text tokenizer that writes to its database throws misuse, and nothing is written",
    .onlySQLite(.functions)
  )
  func meddling() throws {
    let index = FullTextIndex(of: Letter.self, \.subject, tokenizer: "meddler")
    let db = try Database()
    nonisolated(unsafe) let inner = db
    try Letter.table.create(db)
    try Letter.insert(db, contentsOf: Letter.letters)
    try db.createTokenizer("meddler") { text, _ in
      if text == "now" { try inner.executeUpdate("DELETE FROM letter") }
      return [("x", 0..<text.utf8.count)]
    }
    try index.create(db)
    let error = #expect(throws: DatabaseError.self) {
      _ = try Letter(id: 9, subject: "now", body: nil, sender: "").inserted(db)
    }
    #expect(error?.code == .misuse)
    #expect(try Letter.fetchAll(db) == Letter.letters)
    try index.verify(db)
  }

  @Test(
    "A full-text index with less detail finds words, and throws for phrases",
    .onlySQLite(.definitions)
  )
  func detail() throws {
    let index = Self.index(.table, detail: .row)
    let db = try Letter.database(index)
    #expect(try found(.all(of: "york new"), db, index) == [3, 4])
    #expect(throws: DatabaseError.self) { try found(.phrase("new york"), db, index) }
    let columns = Self.index(.table, detail: .column)
    let other = try Letter.database(columns)
    #expect(try found(.all(of: "york").in(Letter.columns.body), other, columns) == [4])
  }

  private struct Tagged: Record {
    var id: Int64?
    var tags: [String]
    struct Columns: Sendable {
      let id = Column("id", \Tagged.id, .primaryKey)
      let tags = Column("tags", \Tagged.tags, as: .json)
    }
    static let columns = Columns()
    static let table = Table("tagged", Tagged.init, columns.id, columns.tags)
  }

  private struct Named: Record {
    var name: String
    var rank: String
    var size: Int
    struct Columns: Sendable {
      let name = Column("name", \Named.name, .primaryKey)
      let rank = Column("rank", \Named.rank)
      let size = Column("size", \Named.size)
    }
    static let columns = Columns()
    static let table = Table("named", Named.init, columns.name, columns.rank, columns.size)
  }

  @Test("A full-text index with an invalid declaration throws RecordError")
  func refused() throws {
    let db = try Letter.database()
    func expectRefusal<R>(_ index: FullTextIndex<R>) {
      #expect(throws: RecordError.self) { try index.create(db) }
      #expect(throws: RecordError.self) { try index.differences(db) }
      #expect(throws: RecordError.self) { try R.matching(index, .all(of: "x")).fetchAll(db) }
    }
    try Named.table.create(db)
    try Tagged.table.create(db)
    expectRefusal(FullTextIndex(of: Named.self, \.name))
    expectRefusal(FullTextIndex(of: Letter.self))
    expectRefusal(FullTextIndex(of: Tagged.self, \.tags))
    expectRefusal(FullTextIndex(of: Letter.self, \.id))
    expectRefusal(FullTextIndex(of: Letter.self, \.subject, \.subject))
    expectRefusal(FullTextIndex(of: Letter.self, \.subject, named: "Subject"))
    expectRefusal(FullTextIndex(of: Letter.self, \.subject, named: ""))
    expectRefusal(FullTextIndex(of: Letter.self, \.subject, prefixes: [0]))
    expectRefusal(FullTextIndex(of: Letter.self, \.subject, weights: [1, 2]))
    expectRefusal(FullTextIndex(of: Letter.self, \.subject, weights: [.nan]))
    expectRefusal(FullTextIndex(of: Letter.self, \.subject, tokenizer: "a\0b"))
    expectRefusal(FullTextIndex(of: Letter.self, \.subject, tokenizer: ""))
  }

  @Test(
    "Quotes and SQL in a full-text index's name or tokenizer are escaped",
    .onlySQLite(.definitions),
    arguments: ["a\"b", "x'); DROP TABLE letter; --", "a b", "é"])
  func names(name: String) throws {
    let db = try Letter.database()
    let index = FullTextIndex(
      of: Letter.self, \.subject, named: name, tokenizer: .unicode61(alsoLetters: name))
    try index.create(db)
    #expect(try index.differences(db) == [])
    #expect(try Letter.matching(index, .all(of: "york")).fetchCount(db) >= 1)
    try index.rebuild(db)
    try index.verify(db)
    try index.drop(db)
    #expect(throws: DatabaseError.self) {
      try FullTextIndex(
        of: Letter.self, \.subject, named: "other", tokenizer: .init(stringLiteral: name)
      )
      .create(db)
    }
    #expect(try Letter.fetchAll(db) == Letter.letters)
  }
}
