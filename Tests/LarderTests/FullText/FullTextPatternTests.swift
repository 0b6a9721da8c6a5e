import Larder
import PostgresSupport
import TestSupport
import Testing

@Suite("Full-text patterns")
struct FullTextPatternTests {
  let db: Database

  init() throws { db = try Letter.database() }

  @Test("Full-text `all` and `any` find words in any order, any case and without their accents")
  func all() throws {
    #expect(try found(.all(of: "ferry ZURICH"), db) == [1])
    #expect(try found(.all(of: "zürich"), db) == [1])
    #expect(try found(.all(of: "york new"), db) == [3, 4])
    #expect(try found(.any(of: "noon closed"), db) == [1, 2])
    #expect(try found(.all(of: "noon closed"), db) == [])
    #expect(try found(.all(of: "fer"), db) == [])
  }

  @Test("Full-text `allPrefixes` and a phrase's last word find words by their beginnings")
  func prefixes() throws {
    #expect(try found(.allPrefixes(of: "fer zu"), db) == [1])
    #expect(try found(.allPrefixes(of: "ferr"), db) == [1, 2, 4])
    #expect(try found(.phrase("new yo", prefix: true), db) == [3])
    #expect(try found(.phrase("new yo"), db) == [])
    #expect(try found(.allPrefixes(of: "what's u"), db) == [2])
  }

  @Test("A full-text phrase finds its words in this order only")
  func phrases() throws {
    #expect(try found(.phrase("new york"), db) == [3])
    #expect(try found(.phrase("York, New!"), db) == [4])
    #expect(try found(.all(of: "what's up?"), db) == [2])
  }

  @Test("Full-text `near` finds phrases within the given distance", .refused(.definitions))
  func near() throws {
    #expect(try found(.near("ferry", "noon", distance: 3), db) == [1])
    #expect(try found(.near("ferry", "noon", distance: 2), db) == [])
    #expect(try found(.near("no ferry", "what's up"), db) == [2])
    #expect(try found(.near(), db) == [])
    #expect(try found(.near("ferry", "noon", distance: -1), db) == [])
    #expect(try found(.near("ferry leaves", "zurich", distance: -1), db) == [1])
  }

  @Test("A hundred full-text patterns can be combined with `or` and with `and`")
  func many() throws {
    let texts = (0..<100).map { "ferry x\($0)" }
    let any = texts.reduce(FullTextPattern.phrase("new york")) { $0.or(.phrase($1)) }
    #expect(try found(any, db) == [3])
    let all = texts.reduce(FullTextPattern.phrase("new york")) { $0.and(.any(of: $1 + " york")) }
    #expect(try found(all, db) == [3])
  }

  @Test("A full-text pattern nested more than 20 levels deep throws tooBig")
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

  @Test(
    "A word that is repeated in a full-text pattern is searched once", .onlySQLite(.definitions)
  )
  func repeated() throws {
    let words = Array(repeating: "york", count: 500).joined(separator: " ")
    #expect(try found(.all(of: words), db) == [3, 4])
    #expect(
      try Letter.matching(Letter.text, .all(of: words)).sql.arguments.values == [.text("\"york\"")])
  }

  @Test(
    "A match on one full-text index can be filtered by a match on another",
    .onlySQLite(.definitions)
  )
  func twoIndexes() throws {
    let senders = FullTextIndex(of: Letter.self, \.sender, named: "senders")
    try senders.create(db)
    let query = Letter.matching(Letter.text, .all(of: "york"))
      .filter { $0.matching(senders, .all(of: "ana")) }
    #expect(try query.ids(db) == [3])
  }

  @Test(
    "A NUL in a raw full-text pattern throws; a mark and an ellipsis may be one", .onlySQLite(.nul))
  func nuls() throws {
    let error = #expect(throws: DatabaseError.self) {
      try found(FullTextPattern(raw: "york\0 AND ("), db)
    }
    #expect(error?.code == .misuse)
    let texts = try Letter.matching(Letter.text, .all(of: "york")).order { $0.id }
      .select {
        (
          $0.highlight(\.subject, mark: "\0", "]"),
          $0.snippet(\.subject, mark: "[", "]", ellipsis: "\0", tokens: 1)
        )
      }
      .fetchAll(db)
    #expect(texts.map(\.0) == ["New \0York]", "\0York], new and old"])
    #expect(texts.map(\.1) == ["\0[York]", "[York]\0"])
  }

  @Test("Full-text patterns can be combined, and limited to columns")
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
    "A full-text pattern without words finds nothing, also in `and`, and adds nothing in `or`",
    arguments: ["", " ", "?!", "\"", "*", "'", "((", "\u{301}", "\n\t"]
      + (TestEngine.isPostgres ? [] : ["\u{0}"]))
  func noWords(text: String) throws {
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
    "No text that a user may type causes a full-text syntax error",
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

  @Test(
    "A raw full-text pattern uses FTS5's syntax, and throws for its syntax errors",
    .onlySQLite(.definitions)
  )
  func raw() throws {
    #expect(try found(FullTextPattern(raw: "subject : york NOT old"), db) == [3])
    let error = #expect(throws: DatabaseError.self) {
      try found(FullTextPattern(raw: "york AND"), db)
    }
    #expect(error?.code == .error)
  }

  @Test("A full-text pattern of more than 5,000 words throws tooBig")
  func tooLong() throws {
    let longest = String(repeating: "a ", count: 5_000)
    #expect(try found(.any(of: longest), db) == [])
    let error = #expect(throws: DatabaseError.self) {
      try found(.phrase(String(repeating: "a ", count: 5_001)), db)
    }
    #expect(error?.code == .tooBig)
  }
}
