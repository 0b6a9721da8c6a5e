import LarderSQLite
import TestSupport
import Testing

/// Larder's replacements of FTS5's functions `snippet` and `highlight`.
@Suite("Marks of full-text matches")
struct MarkFunctionTests {
  private let folder: ScratchFolder
  private let db: Database

  init() throws {
    folder = try ScratchFolder()
    db = try Database(path: folder.file("notes.db"))
    try db.executeUpdate("CREATE VIRTUAL TABLE note USING fts5(title, body)")
  }

  @Test("Snippets and highlights are those of SQLite's shell", arguments: 1...4)
  func equal(_ seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let words = ["fjord", "ferry", "noon", "Oslo", "a", "b", "c", "d", "é"]
    let gaps = [" ", " ", " ", ", ", ". ", ": ", ".\n", "! ", " – "]
    func text(_ counts: ClosedRange<Int>) -> String? {
      if Int.random(in: 0..<20, using: &generator) == 0 { return nil }
      return (0..<Int.random(in: counts, using: &generator)).map { _ in
        words.randomElement(using: &generator)! + gaps.randomElement(using: &generator)!
      }.joined()
    }
    for _ in 0..<40 {
      try db.executeUpdate("INSERT INTO note VALUES (?, ?)", text(0...12), text(0...150))
    }
    var queries: [String] = []
    for pattern in ["fjord", "ferry OR noon", "oslo e", "fjo* OR body:a", "fjord OR ferry OR noon"]
    {
      // (Of a single word at the beginning, FTS5 gives none, or the whole text.)
      for tokens in [2, 3, 5, 16, 64, 100] {
        for column in -1...1 {
          let marks = "(note, \(column), '[', ']'"
          let highlight = "highlight(note, \(abs(column)), '[', ']')"
          queries.append(
            """
            SELECT rowid || ' ' || typeof(\(highlight)) || ' ' || hex(\(highlight)) || ' '
              || hex(snippet\(marks), '…', \(tokens))) FROM note WHERE note MATCH '\(pattern)';
            """)
        }
      }
    }
    let shell = try await ChildProcess.run(
      "sqlite3", ["-batch", folder.file("notes.db"), queries.joined()])
    #expect(shell.status == 0)
    let found = try queries.flatMap { try db.texts(SQL(raw: $0)) }
    #expect(found.count > 1000)
    #expect(found == shell.output.split(separator: "\n").map(String.init))
  }

  @Test(
    "A snippet of a text with half a million matches takes linear time", .timeLimit(.minutes(1)))
  func linear() throws {
    let text = String(repeating: "x fjord. ", count: 500_000) + "fjord ferry"
    try db.executeUpdate("INSERT INTO note VALUES ('', ?)", text)
    let snippet = try db.texts(
      "SELECT snippet(note, -1, '[', ']', '…', 4) FROM note WHERE note MATCH 'fjord ferry'")
    #expect(snippet == ["…x [fjord]. [fjord] [ferry]"])
  }

  @Test(
    "A snippet behind a long gap takes linear time where terms overlap in it",
    .timeLimit(.minutes(1)))
  func gap() throws {
    try db.executeUpdate("CREATE VIRTUAL TABLE part USING fts5(body, tokenize = 'trigram')")
    let text = "x." + String(repeating: " ", count: 1_000_000) + "fjord"
    try db.executeUpdate("INSERT INTO part VALUES (?)", text)
    let snippet = try db.texts(
      "SELECT snippet(part, 0, '[', ']', '…', 8) FROM part WHERE part MATCH 'fjord'")
    #expect(snippet == ["…     [fjord]"])
  }

  @Test("Texts behind a NUL are marked, and marks may have one")
  func nul() throws {
    try db.executeUpdate("INSERT INTO note VALUES ('', ?)", "noon\0ferry at noon")
    let texts = try db.texts(
      "SELECT highlight(note, 1, ?, ?) FROM note WHERE note MATCH 'noon'", "\0", "]")
    #expect(texts == ["\0noon]\0ferry at \0noon]"])
  }

  @Test(
    "A wrong number of arguments, and a column that isn't there, throw",
    arguments: [
      "snippet(note, 1, '[')", "highlight(note, 1)", "highlight(note, 2, '[', ']')",
      "highlight(note, -1, '[', ']')", "snippet(note, 7, '[', ']', '…', 4)",
    ])
  func wrong(_ call: String) throws {
    try db.executeUpdate("INSERT INTO note VALUES ('', 'noon')")
    #expect(throws: DatabaseError.self) {
      try db.texts(SQL(raw: "SELECT \(call) FROM note WHERE note MATCH 'noon'"))
    }
  }
}
