import Larder
import PostgresSupport
import Testing

@Suite("Full-text queries")
struct FullTextMatchTests {
  let db: Database

  init() throws { db = try Letter.database() }

  @Test("A search reads the index first, and finds the records by their keys")
  func text() throws {
    let query = Letter.matching(Letter.text, .allPrefixes(of: "new yo")).order { $0.rank }
    #expect(
      query.snapshot == """
        SELECT "letter"."id", "letter"."subject", "letter"."body", "letter"."sender" \
        FROM "letter_text" CROSS JOIN "letter" ON "letter"."id" = "letter_text".rowid \
        WHERE "letter_text"."letter_text" MATCH ? ORDER BY "letter_text"."rank"
        """)
    #expect(
      try query.sql.arguments.positional.map { try $0?.databaseValue } == [.text(#""new"* "yo"*"#)])
    #expect(
      Letter.filter { $0.matching(Letter.text, .phrase("new york")) }.snapshot == """
        SELECT "letter"."id", "letter"."subject", "letter"."body", "letter"."sender" FROM "letter" \
        WHERE "letter"."id" IN (SELECT rowid FROM "letter_text" WHERE "letter_text" MATCH ?)
        """)
  }

  @Test(
    "The plan has FTS5 sort by rank, and looks each record up by its key", .onlySQLite(.catalog))
  func plan() throws {
    let plan = try Letter.matching(Letter.text, .all(of: "york")).order { $0.rank }.explain(db)
    #expect("\(plan)".contains("SCAN letter_text VIRTUAL TABLE INDEX 32:"))
    #expect("\(plan)".contains("SEARCH letter USING INTEGER PRIMARY KEY"))
    #expect(!"\(plan)".contains("B-TREE"))
  }

  @Test("Records are found with what is marked in them and their rank")
  func selection() throws {
    let hits = try Letter.matching(Letter.text, .all(of: "york"))
      .order { $0.rank }
      .select { ($0, $0.highlight(\.subject, mark: "<", ">"), $0.rank) }
      .fetchAll(db)
    #expect(Set(hits.map(\.0.id)) == [3, 4])
    #expect(Set(hits.map(\.1)) == ["New <York>", "<York>, new and old"])
    #expect(hits.allSatisfy { $0.2 < 0 })
    #expect(hits[0].2 <= hits[1].2)
  }

  @Test("A snippet is a part of the text; NULL is empty")
  func snippets() throws {
    let texts = try Letter.matching(Letter.text, .all(of: "york")).order { $0.id }
      .select {
        ($0.snippet(\.body, mark: "[", "]", tokens: 2), $0.snippet(\.subject, mark: "[", "]"))
      }
      .fetchAll(db)
    #expect(texts[0] == ("", "New [York]"))
    #expect(texts[1].0.contains("[York]"))
    #expect(texts[1].1 == "[York], new and old")
  }

  @Test("Weights say in which column a word counts for more")
  func weights() throws {
    let query = Letter.matching(Letter.text, .all(of: "tunnel"))
    func rank(_ weights: [Double]) throws -> Double {
      try #require(try query.select { $0.rank(weights: weights) }.fetchOne(db))
    }
    #expect(try rank([1, 0]) < 0)
    #expect(try rank([1, 0.1]) != rank([1, 1]))
    #expect(throws: DatabaseError.self) { try rank([1]) }
    let heavy = FullTextIndex(of: Letter.self, \.subject, \.body, named: "heavy", weights: [10, 1])
    try heavy.create(db)
    let ranks = try Letter.matching(heavy, .all(of: "york")).order { $0.rank }.select { $0.id }
      .fetchAll(db)
    #expect(ranks.count == 2)
    if TestEngine.isPostgres { return }
    let heavyRanks = try Letter.matching(heavy, .all(of: "york")).order { $0.id }
      .select { $0.rank }.fetchAll(db)
    let ownRanks = try Letter.matching(Letter.text, .all(of: "york")).order { $0.id }
      .select { $0.rank(weights: [10, 1]) }.fetchAll(db)
    #expect(heavyRanks == ownRanks)
  }

  @Test("A search is filtered, joined, counted and limited as any query")
  func company() throws {
    let query = Letter.matching(Letter.text, .any(of: "york ferry"))
    #expect(try query.fetchCount(db) == 4)
    #expect(try query.filter { $0.sender == "ana" }.ids(db) == [1, 3])
    #expect(try query.order { $0.id.desc }.limit(1).fetchAll(db) == [Letter.letters[3]])
    #expect(try query.exists(db))
    let pairs = try query.join(Letter.self) { $0.sender == $1.sender && $0.id != $1.id }
      .order { match, _ in match.id }.fetchAll(db)
    #expect(pairs.map(\.0.id) == [1, 3])
    #expect(pairs.map(\.1.id) == [3, 1])
    #expect(
      try query.filter { match in
        Letter.matching(Letter.text, .all(of: "noon")).filter { $0.sender == match.sender }.exists
      }.ids(db) == [1, 3])
  }

  @Test("A condition finds rows in any query, UPDATE and DELETE, and follows what these change")
  func conditions() throws {
    #expect(
      try Letter.filter { $0.matching(Letter.text, .all(of: "ferry")) }
        .update(db) { $0.body = "A tram" } == 2)
    #expect(try found(.all(of: "ferry"), db) == [])
    #expect(try found(.all(of: "tram"), db) == [1, 2])
    #expect(try Letter.filter { !$0.matching(Letter.text, .all(of: "york")) }.delete(db) == 2)
    #expect(try found(.all(of: "tram"), db) == [])
    #expect(try Letter.fetchAll(db).count == 2)
  }

  @Test("Pages by rank have each record once, in order")
  func pages() throws {
    for number in 5..<60 {
      var letter = Letter(
        id: Int64(number), subject: "Oslo",
        body: String(repeating: "word ", count: number % 5), sender: "x")
      try letter.insert(db)
    }
    let query = Letter.matching(Letter.text, .all(of: "oslo")).order { $0.rank }
    let all = try query.order { $0.id }.fetchAll(db)
    var rows: [Letter] = []
    var cursor: String?
    repeat {
      let page = try query.page(db, after: cursor, limit: 7)
      rows += page.rows
      cursor = page.next
    } while cursor != nil
    #expect(rows == all)
    #expect(rows.count == 55)
  }

  @Test("Two indexes of a table are searched in one query")
  func twoIndexes() throws {
    let senders = FullTextIndex(of: Letter.self, \.sender, named: "sender_text")
    try senders.create(db)
    let query = Letter.matching(Letter.text, .all(of: "york"))
      .filter { $0.id.in([1, 2, 3]) }
    #expect(try query.ids(db) == [3])
    #expect(
      try Letter.filter { $0.matching(Letter.text, .all(of: "ferry")) }
        .filter { $0.matching(senders, .all(of: "ana")) }.fetchAll(db).map(\.id) == [1])
  }

  @Test("What isn't a column of the index, or has no text there, is refused when it is run")
  func refused() throws {
    let query = Letter.matching(Letter.text, .all(of: "york"))
    #expect(throws: DatabaseError.self) {
      try query.select { $0.highlight(\.sender, mark: "<", ">") }.fetchAll(db)
    }
    let bare = FullTextIndex(of: Letter.self, \.subject, named: "bare", storage: .contentless)
    try bare.create(db)
    #expect(try found(.all(of: "york"), db, bare) == [3, 4])
    #expect(throws: DatabaseError.self) {
      try Letter.matching(bare, .all(of: "york")).select { $0.snippet(\.subject, mark: "<", ">") }
        .fetchAll(db)
    }
  }
}
