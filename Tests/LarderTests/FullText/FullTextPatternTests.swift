import Larder
import PostgresSupport
import TestSupport
import Testing

@Suite("Full-text patterns")
struct FullTextPatternTests {
  let db: Database

  init() throws { db = try Letter.database() }

  @Test("Words are found in any order, case and with any accents")
  func all() throws {
    #expect(try found(.all(of: "ferry ZURICH"), db) == [1])
    #expect(try found(.all(of: "zürich"), db) == [1])
    #expect(try found(.all(of: "york new"), db) == [3, 4])
    #expect(try found(.any(of: "noon closed"), db) == [1, 2])
    #expect(try found(.all(of: "noon closed"), db) == [])
    #expect(try found(.all(of: "fer"), db) == [])
  }

  @Test("Beginnings of words find them")
  func prefixes() throws {
    #expect(try found(.allPrefixes(of: "fer zu"), db) == [1])
    #expect(try found(.allPrefixes(of: "ferr"), db) == [1, 2, 4])
    #expect(try found(.phrase("new yo", prefix: true), db) == [3])
    #expect(try found(.phrase("new yo"), db) == [])
    #expect(try found(.allPrefixes(of: "what's u"), db) == [2])
  }

  @Test("Phrases are words in order")
  func phrases() throws {
    #expect(try found(.phrase("new york"), db) == [3])
    #expect(try found(.phrase("York, New!"), db) == [4])
    #expect(try found(.all(of: "what's up?"), db) == [2])
  }

  @Test("NEAR finds phrases close to each other", .refused(.definitions))
  func near() throws {
    #expect(try found(.near("ferry", "noon", distance: 3), db) == [1])
    #expect(try found(.near("ferry", "noon", distance: 2), db) == [])
    #expect(try found(.near("no ferry", "what's up"), db) == [2])
    #expect(try found(.near(), db) == [])
    #expect(try found(.near("ferry", "noon", distance: -1), db) == [])
    #expect(try found(.near("ferry leaves", "zurich", distance: -1), db) == [1])
  }

  @Test("A hundred alternatives, and as many conditions, are looked for")
  func many() throws {
    let texts = (0..<100).map { "ferry x\($0)" }
    let any = texts.reduce(FullTextPattern.phrase("new york")) { $0.or(.phrase($1)) }
    #expect(try found(any, db) == [3])
    let all = texts.reduce(FullTextPattern.phrase("new york")) { $0.and(.any(of: $1 + " york")) }
    #expect(try found(all, db) == [3])
  }

  @Test("What is nested too deeply is refused, however deep")
  func deep() throws {
    func nested(_ levels: Int) -> FullTextPattern {
      (0..<levels).reduce(FullTextPattern.all(of: "york")) { pattern, level in
        level % 2 == 0 ? pattern.and(.all(of: "new")) : pattern.or(.all(of: "tunnel"))
      }
    }
    #expect(try found(nested(20), db) == [2, 3, 4])
    for levels in [21, 100_000] {
      let error = #expect(throws: DatabaseError.self) { try found(nested(levels), db) }
      #expect(error?.code == .tooBig)
    }
  }

  @Test("A word that is asked for many times costs as much as once", .onlySQLite(.definitions))
  func repeated() throws {
    let words = Array(repeating: "york", count: 500).joined(separator: " ")
    #expect(try found(.all(of: words), db) == [3, 4])
    #expect(
      try Letter.matching(Letter.text, .all(of: words)).sql.arguments.values == [.text("\"york\"")])
  }

  @Test("Two indexes are asked in one query", .onlySQLite(.definitions))
  func twoIndexes() throws {
    let senders = FullTextIndex(of: Letter.self, \.sender, named: "senders")
    try senders.create(db)
    let query = Letter.matching(Letter.text, .all(of: "york"))
      .filter { $0.matching(senders, .all(of: "ana")) }
    #expect(try query.ids(db) == [3])
  }

  @Test("NULs where FTS5 would end are refused", .onlySQLite(.nul))
  func nuls() throws {
    let error = #expect(throws: DatabaseError.self) {
      try found(FullTextPattern(raw: "york\0 AND ("), db)
    }
    #expect(error?.code == .misuse)
    #expect(throws: DatabaseError.self) {
      try Letter.matching(Letter.text, .all(of: "york"))
        .select { $0.highlight(\.subject, mark: "\0", "]") }.fetchAll(db)
    }
    #expect(throws: DatabaseError.self) {
      try Letter.matching(Letter.text, .all(of: "york"))
        .select { $0.snippet(\.subject, mark: "[", "]", ellipsis: "\0") }.fetchAll(db)
    }
  }

  @Test("Patterns are combined, and looked for in some columns")
  func combinations() throws {
    #expect(try found(.all(of: "ferry").and(.all(of: "tunnel")), db) == [2])
    #expect(try found(.all(of: "noon").or(.phrase("new york")), db) == [1, 3])
    #expect(try found(.all(of: "york").in(Letter.columns.body), db) == [4])
    #expect(try found(.all(of: "york").in(Letter.columns.subject), db) == [3, 4])
    #expect(
      try found(.allPrefixes(of: "fer yo").in(Letter.columns.subject, Letter.columns.body), db) == [
        4
      ])
    #expect(
      try found(
        .all(of: "york").in(Letter.columns.body).and(.phrase("old").in(Letter.columns.subject)), db)
        == [4])
    #expect(
      try found(
        .all(of: "york").in(Letter.columns.body).in(Letter.columns.subject), db) == [])
    #expect(throws: DatabaseError.self) { try found(.all(of: "ana").in(Letter.columns.sender), db) }
  }

  @Test(
    "A pattern without a word finds nothing, and takes nothing away from others",
    arguments: ["", " ", "?!", "\u{0}", "\"", "*", "'", "((", "\u{301}", "\n\t"])
  func noWords(text: String) throws {
    if TestEngine.isPostgres, text == "\u{0}" { return }
    #expect(try found(.all(of: text), db) == [])
    #expect(try found(.any(of: text), db) == [])
    #expect(try found(.allPrefixes(of: text), db) == [])
    #expect(try found(.phrase(text, prefix: true), db) == [])
    #expect(try found(.all(of: "noon \(text)"), db) == [1])
    #expect(try found(.any(of: "\(text) noon"), db) == [1])
    #expect(try found(.all(of: "noon").and(.all(of: text)), db) == [])
    #expect(try found(.all(of: "noon").or(.all(of: text)), db) == [1])
  }

  @Test(
    "Nothing that users type is an error of syntax",
    arguments: [
      "what's up?", "AND", "NOT OR", "NEAR(", "a AND", "subject:york", "\"york", "york*", "^york",
      "-york",
      "{subject}: york", "york + new", "'; DROP TABLE letter; --", "<->", "a & !b", "\\", "$1",
      ":*", "york:*A",
    ])
  func userInput(text: String) throws {
    for pattern in [
      FullTextPattern.all(of: text), .any(of: text), .allPrefixes(of: text), .phrase(text),
      .phrase(text, prefix: true), .all(of: text).in(Letter.columns.body),
      .allPrefixes(of: text).in(Letter.columns.body),
    ] {
      _ = try Letter.matching(Letter.text, pattern).order { $0.rank }
        .select { ($0, $0.snippet(\.body, mark: text, text), $0.rank) }.fetchAll(db)
    }
    #expect(try Letter.fetchAll(db).count == 4)
  }

  @Test("FTS5's own syntax can be used, whose errors are told", .onlySQLite(.definitions))
  func raw() throws {
    #expect(try found(FullTextPattern(raw: "subject : york NOT old"), db) == [3])
    let error = #expect(throws: DatabaseError.self) {
      try found(FullTextPattern(raw: "york AND"), db)
    }
    #expect(error?.code == .error)
  }

  @Test("A pattern that is too long is refused")
  func tooLong() throws {
    let longest = String(repeating: "a ", count: 5_000)
    #expect(try found(.any(of: longest), db) == [])
    let error = #expect(throws: DatabaseError.self) {
      try found(.phrase(String(repeating: "a ", count: 5_001)), db)
    }
    #expect(error?.code == .tooBig)
  }
}
