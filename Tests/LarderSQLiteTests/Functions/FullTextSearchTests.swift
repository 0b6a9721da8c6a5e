import LarderSQLite
import Testing

@Suite("Full-text search")
struct FullTextSearchTests {
  private func makeMails(_ module: SQL) throws -> Database {
    let db = try Database()
    try db.executeUpdate("CREATE VIRTUAL TABLE mail USING \(module)(subject, body)")
    try db.executeUpdate(
      "INSERT INTO mail VALUES (?, ?)", "harbour news",
      "The ferry to Nesodden leaves the harbour at noon")
    try db.executeUpdate(
      "INSERT INTO mail VALUES (?, ?)", "tunnel closed",
      "The tunnel will be closed on Monday")
    return db
  }

  @Test("FTS4 tells in which column, and at which bytes, each term was found")
  func offsets() throws {
    let db = try makeMails("fts4")
    let text = try #require(
      try db.value("SELECT offsets(mail) FROM mail WHERE mail MATCH 'harbour'", as: String.self))
    // Four numbers for each hit: column, term, first byte, number of bytes.
    let numbers = text.split(separator: " ").map { Int($0) }
    #expect(numbers == [0, 0, 0, 7, 1, 0, 33, 7])
  }

  @Test("FTS4 finds a term in one column only where that is asked for")
  func column() throws {
    let db = try makeMails("fts4")
    #expect(
      try db.texts("SELECT offsets(mail) FROM mail WHERE mail MATCH ?", "subject:harbour")
        == ["0 0 0 7"])
    #expect(try db.texts("SELECT subject FROM mail WHERE mail MATCH ?", "subject:ferry").isEmpty)
  }

  @Test("FTS5 finds terms, the better match first")
  func search() throws {
    let db = try makeMails("fts5")
    try db.executeUpdate("INSERT INTO mail VALUES ('tunnel', 'tunnel, tunnel and tunnel')")
    #expect(
      try db.texts("SELECT subject FROM mail WHERE mail MATCH ? ORDER BY rank", "tunnel")
        == ["tunnel", "tunnel closed"])
    #expect(try db.texts("SELECT subject FROM mail WHERE mail MATCH ?", "bridge").isEmpty)
  }

  @Test("FTS5 marks what it has found")
  func highlight() throws {
    let db = try makeMails("fts5")
    #expect(
      try db.texts(
        "SELECT highlight(mail, 1, '<', '>') FROM mail WHERE mail MATCH ?", "noon OR ferry")
        == ["The <ferry> to Nesodden leaves the harbour at <noon>"])
  }

  @Test("FTS5 takes letters for equal but for case and accents")
  func accents() throws {
    let db = try makeMails("fts5")
    try db.executeUpdate("INSERT INTO mail VALUES ('José', 'Ålesund, São Paulo')")
    for term in ["jose", "JOSÉ", "alesund", "sao"] {
      #expect(
        try db.texts("SELECT subject FROM mail WHERE mail MATCH ?", term) == ["José"], "\(term)")
    }
  }

  @Test("FTS5 stems English words where its tokenizer is told to")
  func stemming() throws {
    let db = try Database()
    try db.executeUpdate("CREATE VIRTUAL TABLE note USING fts5(text, tokenize = 'porter ascii')")
    try db.executeUpdate("INSERT INTO note VALUES ('Two ferries were leaving')")
    #expect(try db.texts("SELECT text FROM note WHERE note MATCH 'ferry leaves'").count == 1)
    #expect(try db.texts("SELECT text FROM note WHERE note MATCH 'boat'").isEmpty)
  }

  @Test("A search whose syntax is wrong throws")
  func wrongSyntax() throws {
    let db = try makeMails("fts5")
    let error = #expect(throws: DatabaseError.self) {
      try db.texts("SELECT subject FROM mail WHERE mail MATCH ?", "\"harbour")
    }
    #expect(error?.code == .error)
  }

  @Test("Triggers keep an FTS5 table up to date on a connection that trusts its schema")
  func triggers() throws {
    let sql: SQL = """
      CREATE TABLE letter (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
      CREATE VIRTUAL TABLE letter_text USING fts5(body, content='letter', content_rowid='id');
      CREATE TRIGGER letter_inserted AFTER INSERT ON letter BEGIN
        INSERT INTO letter_text (rowid, body) VALUES (new.id, new.body);
      END;
      """
    var configuration = Configuration()
    configuration.trustsSchema = true
    let trusting = try Database(configuration: configuration)
    #expect(try trusting.effectiveSettings.trustsSchema)
    try trusting.executeStatements(sql)
    try trusting.executeUpdate("INSERT INTO letter (body) VALUES ('the harbour at noon')")
    #expect(
      try trusting.value("SELECT count(*) FROM letter_text WHERE letter_text MATCH 'noon'") == 1)

    let hardened = try Database()
    try hardened.executeStatements(sql)
    let error = #expect(throws: DatabaseError.self) {
      try hardened.executeUpdate("INSERT INTO letter (body) VALUES ('the harbour at noon')")
    }
    #expect(error?.message.contains("unsafe use of virtual table") == true)
  }
}
