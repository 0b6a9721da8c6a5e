import LarderSQLite
import TestSupport
import Testing

/// Larder's replacements of FTS5's functions `snippet` and `highlight`.
@Suite("Marks of full-text matches")
struct MarkFunctionTests {
  private let db: Database

  init() throws {
    db = try Database()
    try db.executeUpdate("CREATE VIRTUAL TABLE note USING fts5(title, body)")
  }

  @Test("Snippets and highlights are FTS5's own where words don't overlap", arguments: 1...8)
  func equal(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let words = ["fjord", "ferry", "noon", "Oslo", "a", "b", "c", "d", "é"]
    let gaps = [" ", " ", " ", ", ", ". ", ": ", ".\n", "! ", " – "]
    func text(_ count: Int) -> String {
      (0..<count).map { _ in
        words.randomElement(using: &generator)! + gaps.randomElement(using: &generator)!
      }.joined()
    }
    for _ in 0..<40 {
      try db.executeUpdate(
        "INSERT INTO note VALUES (?, ?)", text(.random(in: 0...12, using: &generator)),
        text(.random(in: 0...150, using: &generator)))
    }
    for pattern in ["fjord", "ferry OR noon", "oslo e", "fjo* OR body:a", "fjord OR ferry OR noon"]
    {
      // (Of a single word at the beginning, FTS5 gives none, or the whole text.)
      for tokens in [2, 3, 5, 16, 64] {
        for column in 0...1 {
          let marks: SQL = "(note, \(column), '[', ']'"
          let rows = try db.executeQuery(
            """
            SELECT snippet\(marks), '…', \(tokens)), larder_snippet\(marks), '…', \(tokens)),
              highlight\(marks)), larder_highlight\(marks)) FROM note WHERE note MATCH \(pattern)
            """)
          while try rows.next() {
            let texts = try (0..<4).map { try rows.get(at: $0, as: String.self) }
            #expect(texts[1] == texts[0])
            #expect(texts[3] == texts[2])
          }
        }
      }
    }
  }

  @Test(
    "A snippet of a text with half a million matches takes linear time", .timeLimit(.minutes(1)))
  func linear() throws {
    let text = String(repeating: "x fjord. ", count: 500_000) + "fjord ferry"
    try db.executeUpdate("INSERT INTO note VALUES ('', ?)", text)
    let snippet = try db.texts(
      "SELECT larder_snippet(note, 1, '[', ']', '…', 4) FROM note WHERE note MATCH 'fjord ferry'")
    #expect(snippet == ["…x [fjord]. [fjord] [ferry]"])
  }

  @Test("Texts behind a NUL are marked, and marks may have one")
  func nul() throws {
    try db.executeUpdate("INSERT INTO note VALUES ('', ?)", "noon\0ferry at noon")
    let texts = try db.texts(
      "SELECT larder_highlight(note, 1, ?, ?) FROM note WHERE note MATCH 'noon'", "\0", "]")
    #expect(texts == ["\0noon]\0ferry at \0noon]"])
  }
}
