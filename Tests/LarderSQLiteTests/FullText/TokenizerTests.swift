import LarderSQLite
import TestSupport
import Testing

@Suite("Tokenizers")
struct TokenizerTests {
  /// The lines of a text in lower case.
  private static func lines(_ text: String) -> [(term: String, range: Range<Int>)] {
    var end = 0
    return text.split(separator: "\n", omittingEmptySubsequences: false).compactMap { line in
      let start = end
      end += line.utf8.count + 1
      return line.isEmpty ? nil : (line.lowercased(), start..<end - 1)
    }
  }

  private func makeNotes(_ tokenizer: String, _ texts: String...) throws -> Database {
    let db = try Database()
    try db.createTokenizer("lines") { text, _ in Self.lines(text) }
    try db.executeUpdate(
      SQL(raw: "CREATE VIRTUAL TABLE note USING fts5(t, tokenize = '\(tokenizer)')"))
    for text in texts { try db.executeUpdate("INSERT INTO note VALUES (\(text))") }
    return db
  }

  private func found(_ pattern: String, _ db: Database) throws -> [Int] {
    try db.executeQuery("SELECT rowid FROM note WHERE note MATCH \(pattern) ORDER BY rowid")
      .map { try $0.get(at: 0) }
  }

  @Test("A custom tokenizer splits texts into terms, and `highlight` marks the matches")
  func ownTokenizer() throws {
    let db = try makeNotes("lines", "New York\nBergen", "York")
    #expect(try found(#""new york""#, db) == [1])
    #expect(try found(#""york""#, db) == [2])
    #expect(
      try db.texts("SELECT highlight(note, 0, '<', '>') FROM note WHERE note MATCH 'bergen'")
        == ["New York\n<Bergen>"])
  }

  @Test("A custom tokenizer's term with the same range as the previous one is a synonym")
  func synonyms() throws {
    let db = try Database()
    try db.createTokenizer("numbers") { text, isQuery in
      var start = 0
      return text.split(separator: " ", omittingEmptySubsequences: false).flatMap { word in
        defer { start += word.utf8.count + 1 }
        let range = start..<start + word.utf8.count
        let others = word == "1st" && !isQuery ? [(term: "first", range: range)] : []
        return word.isEmpty ? [] : [(term: String(word), range: range)] + others
      }
    }
    try db.executeUpdate("CREATE VIRTUAL TABLE note USING fts5(t, tokenize = 'numbers')")
    try db.executeUpdate("INSERT INTO note VALUES ('my 1st note')")
    for pattern in ["first", #""my first note""#, #""my 1st note""#] {
      #expect(try found(pattern, db) == [1], "\(pattern)")
    }
  }

  @Test(
    "Inserting a text throws if the tokenizer's range begins or ends inside a character",
    arguments: [0..<1, 1..<2, 1..<5, 2..<4, 3..<6])
  func partedCharacter(range: Range<Int>) throws {
    let db = try Database()
    try db.createTokenizer("parted") { _, _ in [("term", range)] }
    try db.executeUpdate("CREATE VIRTUAL TABLE note USING fts5(t, tokenize = 'parted')")
    let error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO note VALUES ('é北e')")
    }
    #expect(error?.code == .misuse)
    #expect(error?.message.contains("inside a character") == true)
    #expect(try db.value("SELECT count(*) FROM note") == 0)
    try db.executeUpdate("INSERT INTO note VALUES ('abcdef')")
  }

  private struct Refused: Error {}

  @Test(
    "An error thrown by a tokenizer makes the statement throw, without its values, and nothing is inserted"
  )
  func errors() throws {
    let db = try makeNotes("lines", "one")
    try db.createTokenizer("lines") { text, _ in
      if text.contains("secret") { throw DatabaseError(code: .full, message: "no room: \(text)") }
      if text.contains("bad") { throw Refused() }
      return Self.lines(text)
    }
    var error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO note VALUES ('a secret')")
    }
    #expect(error?.code == .full)
    #expect(error?.message == "no room: …")
    error = #expect(throws: DatabaseError.self) { try found(#""bad""#, db) }
    #expect(error?.code == .error)
    #expect(error?.message == "Refused()")
    // SQLite's own error is thrown unchanged.
    error = #expect(throws: DatabaseError.self) { try found("\"", db) }
    #expect(error?.message == "unterminated string")
    #expect(try db.value("SELECT count(*) FROM note") == 1)
    #expect(try found("one", db) == [1])
    try db.executeUpdate("INSERT INTO note(note) VALUES ('integrity-check')")
  }

  @Test("A tokenizer gets a space in place of a NUL, at which FTS5 would truncate a term")
  func nul() throws {
    let db = try makeNotes("lines", "a\0b\nc", "a", "a\0c", "d")
    #expect(try found("\"a\"", db) == [2])
    #expect(try found("\"a b\"", db) == [1])
    try db.executeUpdate("DELETE FROM note WHERE rowid = 1")
    try db.executeUpdate("INSERT INTO note(note) VALUES ('integrity-check')")
    #expect(try found("\"a b\"", db) == [])
  }

  @Test(
    "Inserting a text throws if a tokenizer's term is empty, contains NUL, is out of order or out of range"
  )
  func wrongTerms() throws {
    let db = try makeNotes("lines", "one")
    let wrong: [[(term: String, range: Range<Int>)]] = [
      [("", 0..<1)], [("a\0b", 0..<1)], [("a", 0..<100)], [("a", 2..<3), ("b", 0..<1)],
      [("a", -5..<1)],
    ]
    for terms in wrong {
      try db.createTokenizer("lines") { _, _ in terms }
      let error = #expect(throws: DatabaseError.self) {
        try db.executeUpdate("INSERT INTO note VALUES ('two')")
      }
      #expect(error?.code == .misuse)
    }
  }

  @Test(
    "Registering a tokenizer throws if its name is empty, contains NUL or is a built-in one",
    arguments: ["", "a\0", "Porter", "bigram"])
  func wrongNames(name: String) throws {
    let error = #expect(throws: DatabaseError.self) {
      try Database().createTokenizer(name) { text, _ in Self.lines(text) }
    }
    #expect(error?.code == .misuse)
  }

  @Test(
    "Creating an FTS5 table with an unknown tokenizer, or with arguments for a custom one, throws")
  func unknownTokenizer() throws {
    #expect(throws: DatabaseError.self) { try makeNotes("words") }
    #expect(throws: DatabaseError.self) { try makeNotes("lines 1") }
    #expect(throws: DatabaseError.self) { try makeNotes("bigram 1") }
  }

  @Test("A tokenizer is released when it is replaced or its connection is closed")
  func lifetime() throws {
    final class Thing: Sendable {}
    weak var first: Thing?
    weak var second: Thing?
    do {
      let db = try Database()
      do {
        let thing = Thing()
        first = thing
        try db.createTokenizer("lines") { text, _ in
          withExtendedLifetime(thing) { Self.lines(text) }
        }
      }
      try db.executeUpdate("CREATE VIRTUAL TABLE note USING fts5(t, tokenize = 'lines')")
      try db.executeUpdate("INSERT INTO note VALUES ('a')")
      #expect(first != nil)
      do {
        let thing = Thing()
        second = thing
        try db.createTokenizer("LINES") { text, _ in
          withExtendedLifetime(thing) { Self.lines(text) }
        }
      }
      #expect(first == nil)
      #expect(try found("a", db) == [1])
      try db.close()
    }
    #expect(second == nil)
  }

  @Test(
    "The tokenizer `bigram` finds any part of a Chinese, Japanese or Korean text, and words of others"
  )
  func bigrams() throws {
    let db = try makeNotes(
      "bigram", "南山区", "深圳市南山区", "Zürich 蘇黎世 Hbf", "山", "ソウル서울", "北京abc西京")
    let expected: [(String, [Int])] = [
      ("南山", [1, 2]), ("山", [1, 2, 4]), ("区", [1, 2]), ("市南山", [2]), ("南区", []), ("南", [1, 2]),
      ("zurich", [3]), ("黎世", [3]), ("HBF", [3]), ("ウル", [5]), ("서울", [5]), ("울", [5]), ("ル서", [5]),
      ("京", [6]), ("abc", [6]), ("京西", []), ("深圳市南山区", [2]),
    ]
    for (text, rows) in expected {
      #expect(try found("\"\(text)\"", db) == rows, "\(text)")
      #expect(try found("\"\(text)\"*", db) == rows, "\(text)*")
    }
    #expect(try found(#""abc西"*"#, db) == [6])
    #expect(
      try db.texts("SELECT highlight(note, 0, '<', '>') FROM note WHERE note MATCH '\"黎世\" zurich'")
        == ["<Zürich> 蘇<黎世> Hbf"])
  }
}
