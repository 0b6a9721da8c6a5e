import Larder
import PostgresSupport
import Testing

@Suite("Full-text queries")
struct FullTextMatchTests {
  let db: Database

  init() throws { db = try Letter.database() }

  @Test("A full-text query joins the index to its records by their keys, with the pattern bound")
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

  /// A record with a property that is called like the rank of a match.
  private struct Song: Record, Equatable {
    var id: Int64?
    var title: String
    var rank: Int
    struct Columns: Sendable {
      let id = Column("id", \Song.id, .primaryKey)
      let title = Column("title", \Song.title)
      let rank = Column("rank", \Song.rank)
    }
    static let columns = Columns()
    static let table = Table("song", Song.init, columns.id, columns.title, columns.rank)
    static let words = FullTextIndex(of: Song.self, \.title)
  }

  @Test(
    "A property named rank isn't taken for the rank of a match: the query says how each is written")
  func ownRank() throws {
    try Song.table.create(db)
    try Song.words.create(db)
    try Song.insert(
      db,
      contentsOf: [("milk", 3), ("milk milk", 1), ("milk and tea", 2)].map {
        Song(id: nil, title: $0, rank: $1)
      })
    let found = Song.matching(Song.words, .all(of: "milk"))
    let error = failure(DatabaseError.self) { try found.order { $0.rank }.fetchAll(db) }
    #expect(error?.code == .misuse && error?.message.contains("rank(weights: [])") == true)
    let byRank = try found.order { $0[dynamicMember: \.rank] }.select {
      ($0.title, $0.rank(weights: []))
    }
    .fetchAll(db)
    #expect(byRank.map(\.0) == ["milk milk", "milk and tea", "milk"])
    #expect(byRank.map(\.1).allSatisfy { $0 < 0 })
    #expect(try found.filter { $0[dynamicMember: \.rank] < 3 }.fetchCount(db) == 2)
  }

  @Test(
    "A full-text search ordered by rank uses FTS5's order, and finds records by their keys",
    .onlySQLite(.catalog))
  func plan() throws {
    let plan = try Letter.matching(Letter.text, .all(of: "york")).order { $0.rank }.explain(db)
    #expect("\(plan)".contains("SCAN letter_text VIRTUAL TABLE INDEX 32:"))
    #expect("\(plan)".contains("SEARCH letter USING INTEGER PRIMARY KEY"))
    #expect(!"\(plan)".contains("B-TREE"))
  }

  @Test("Every kind of full-text pattern and search uses the index")
  func indexUse() throws {
    try db.inTransaction { db in
      // PostgreSQL prefers a sequential scan of four rows unless that is disabled.
      if TestEngine.isPostgres { try db.executeUpdate("SET LOCAL enable_seqscan = off") }
      let patterns: [FullTextPattern] = [
        .all(of: "york new"), .any(of: "york new"), .allPrefixes(of: "yo"), .phrase("new york"),
        .all(of: "york").in(Letter.columns.subject), .all(of: "york").and(.all(of: "new")),
        .all(of: "york").or(.all(of: "new")),
      ]
      for pattern in patterns {
        let plans = try [
          Letter.matching(Letter.text, pattern).order { $0.rank }.explain(db),
          Letter.filter { $0.matching(Letter.text, pattern) }.explain(db),
        ]
        for plan in plans {
          let index =
            TestEngine.isPostgres ? "letter_text_index" : "letter_text VIRTUAL TABLE INDEX"
          #expect(plan.description.contains(index), "\(plan)")
        }
      }
    }
  }

  @Test("A full-text search returns records with highlighted text and their rank")
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

  @Test("A snippet is an excerpt with marks, and empty for NULL")
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

  @Test(
    "Highlights merge overlapping terms, and repeat no part of the text",
    .onlySQLite(.definitions),
    arguments: [
      (.bigram, "谢谢你们", ["谢"], "<谢谢你>们"),
      (.bigram, "南山区在深圳", ["南山", "山区"], "<南山区>在深圳"),
      (.bigram, "南山 和 深圳\0市", ["圳", "南山"], "<南山> 和 深<圳>\0市"),
      (.trigram(), "abc123x", ["abc", "c12"], "<abc12>3x"),
      (.trigram(), "abcd abc", ["abc"], "<abc>d <abc>"),
      ("letters", "york", ["y", "o", "r"], "<y><o><r>k"),
    ] as [(FullTextTokenizer, String, [String], String)])
  func overlapping(
    tokenizer: FullTextTokenizer, text: String, words: [String], marked: String
  ) throws {
    let index = FullTextIndex(of: Letter.self, \.subject, \.body, tokenizer: tokenizer)
    let db = try Database()
    try db.createTokenizer("letters") { text, _ in
      var place = 0
      return text.map { letter in
        defer { place += letter.utf8.count }
        return (String(letter), place..<place + letter.utf8.count)
      }
    }
    try Letter.table.create(db)
    try index.create(db)
    _ = try Letter(id: 1, subject: text, body: nil, sender: "").inserted(db)
    let hits = try Letter.matching(index, .all(of: words.joined(separator: " "))).select {
      (
        $0.highlight(\.subject, mark: "<", ">"), $0.snippet(\.subject, mark: "<", ">"),
        $0.highlight(\.body, mark: "<", ">")
      )
    }
    .fetchAll(db)
    #expect(hits.map { [$0.0, $0.1, $0.2] } == [[marked, marked, ""]])
  }

  @Test("A snippet is taken from where most of the searched terms are", .onlySQLite(.definitions))
  func overlappingSnippets() throws {
    let index = FullTextIndex(of: Letter.self, \.subject, tokenizer: .bigram)
    let db = try Letter.database(index)
    let text = String(repeating: "山水", count: 50) + "南京与北京" + String(repeating: "天地", count: 50)
    try Letter.filter { $0.id == 1 }.update(db) { $0.subject = .value("北京" + text) }
    func snippets(_ pattern: FullTextPattern, _ tokens: Int) throws -> [String] {
      try Letter.matching(index, pattern)
        .select { $0.snippet(\.subject, mark: "<", ">", tokens: tokens) }.fetchAll(db)
    }
    // The last term of a snippet includes its second character.
    #expect(try snippets(.all(of: "北京 南京"), 9) == ["…山水<南京>与<北京>天地天…"])
    #expect(try snippets(.all(of: "北京"), 4) == ["<北京>山水山…"])
    #expect(try snippets(.phrase("北京山水山水"), 2) == ["<北京山>…"])
    #expect(try snippets(.phrase("地天地天"), 64).first?.hasSuffix("地>…") == true)
    #expect(try snippets(.all(of: "tunnel"), 64) == ["<Tunnel> closed"])
  }

  @Test(
    "Highlights of a row that no longer matches its index mark what they can",
    .onlySQLite(.triggers))
  func behind() throws {
    let index = FullTextIndex(of: Letter.self, \.subject, tokenizer: .bigram)
    let db = try Letter.database(index)
    try db.executeStatements("DROP TRIGGER letter_text_updated")
    try db.executeUpdate("UPDATE letter SET subject = 'old' WHERE id = 4")
    let texts = try Letter.matching(index, .all(of: "new")).order { $0.id }
      .select { ($0.highlight(\.subject, mark: "<", ">"), $0.snippet(\.subject, mark: "<", ">")) }
      .fetchAll(db)
    #expect(texts.map(\.0) == ["<New> York", "old"])
    #expect(texts.map(\.1) == ["<New> York", "old"])
  }

  @Test("Weights change a full-text rank by column, given in the query or the index")
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

  @Test("A full-text search can be filtered, ordered, limited, counted and joined like any query")
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

  @Test("A full-text condition works in UPDATE and DELETE, and the index follows their changes")
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

  @Test("Pages of a full-text search ordered by rank contain each record once, in order")
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

  @Test("Conditions on two full-text indexes of a table can be combined")
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

  @Test("A highlight of a column that the index lacks, or doesn't store, throws")
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
