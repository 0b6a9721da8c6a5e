import LarderSQLite
import TestSupport
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

  @Test("FTS4's `offsets` returns the column and byte range of each match")
  func offsets() throws {
    let db = try makeMails("fts4")
    let text = try #require(
      try db.value("SELECT offsets(mail) FROM mail WHERE mail MATCH 'harbour'", as: String.self))
    // Each match has four numbers: column, term, first byte, number of bytes.
    let numbers = text.split(separator: " ").map { Int($0) }
    #expect(numbers == [0, 0, 0, 7, 1, 0, 33, 7])
  }

  @Test("FTS4 searches only the column that a pattern names")
  func column() throws {
    let db = try makeMails("fts4")
    #expect(
      try db.texts("SELECT offsets(mail) FROM mail WHERE mail MATCH ?", "subject:harbour")
        == ["0 0 0 7"])
    #expect(try db.texts("SELECT subject FROM mail WHERE mail MATCH ?", "subject:ferry").isEmpty)
  }

  @Test("FTS5 returns the better match first when ordered by rank")
  func search() throws {
    let db = try makeMails("fts5")
    try db.executeUpdate("INSERT INTO mail VALUES ('tunnel', 'tunnel, tunnel and tunnel')")
    #expect(
      try db.texts("SELECT subject FROM mail WHERE mail MATCH ? ORDER BY rank", "tunnel")
        == ["tunnel", "tunnel closed"])
    #expect(try db.texts("SELECT subject FROM mail WHERE mail MATCH ?", "bridge").isEmpty)
  }

  @Test("FTS5's `highlight` marks the matched terms")
  func highlight() throws {
    let db = try makeMails("fts5")
    #expect(
      try db.texts(
        "SELECT highlight(mail, 1, '<', '>') FROM mail WHERE mail MATCH ?", "noon OR ferry")
        == ["The <ferry> to Nesodden leaves the harbour at <noon>"])
  }

  @Test("FTS5 ignores case and accents")
  func accents() throws {
    let db = try makeMails("fts5")
    try db.executeUpdate("INSERT INTO mail VALUES ('José', 'Ålesund, São Paulo')")
    for term in ["jose", "JOSÉ", "alesund", "sao"] {
      #expect(
        try db.texts("SELECT subject FROM mail WHERE mail MATCH ?", term) == ["José"], "\(term)")
    }
  }

  @Test("FTS5 stems English words with the tokenizer `porter`")
  func stemming() throws {
    let db = try Database()
    try db.executeUpdate("CREATE VIRTUAL TABLE note USING fts5(text, tokenize = 'porter ascii')")
    try db.executeUpdate("INSERT INTO note VALUES ('Two ferries were leaving')")
    #expect(try db.texts("SELECT text FROM note WHERE note MATCH 'ferry leaves'").count == 1)
    #expect(try db.texts("SELECT text FROM note WHERE note MATCH 'boat'").isEmpty)
  }

  @Test("An FTS5 pattern with a syntax error throws")
  func wrongSyntax() throws {
    let db = try makeMails("fts5")
    let error = #expect(throws: DatabaseError.self) {
      try db.texts("SELECT subject FROM mail WHERE mail MATCH ?", "\"harbour")
    }
    #expect(error?.code == .error)
  }

  @Test(
    "Triggers keep an FTS5 table up to date, whether or not the connection trusts its schema",
    arguments: [true, false],
    ["unicode61", "ascii", "porter unicode61", "trigram", "bigram"])
  func triggers(trustsSchema: Bool, tokenizer: String) throws {
    var configuration = Configuration()
    configuration.trustsSchema = trustsSchema
    let db = try Database(configuration: configuration)
    #expect(try db.effectiveSettings.trustsSchema == trustsSchema)
    try db.executeStatements(
      SQL(
        raw: """
          CREATE TABLE letter (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
          CREATE VIRTUAL TABLE letter_text USING fts5(
            body, content='letter', content_rowid='id', tokenize = '\(tokenizer)');
          CREATE TRIGGER letter_inserted AFTER INSERT ON letter BEGIN
            INSERT INTO letter_text (rowid, body) VALUES (new.id, new.body);
          END;
          """))
    try db.executeUpdate("INSERT INTO letter (body) VALUES ('the harbour at noon')")
    #expect(try db.value("SELECT count(*) FROM letter_text WHERE letter_text MATCH 'noon'") == 1)
  }

  @Test(
    "A trigger that reads a virtual table other than an FTS5 table is refused"
  )
  func otherTables() throws {
    let db = try Database()
    try db.executeStatements(
      """
      CREATE TABLE letter (body TEXT NOT NULL);
      CREATE VIRTUAL TABLE letter_text USING fts5(body);
      CREATE VIRTUAL TABLE word USING fts5vocab(letter_text, row);
      CREATE TRIGGER letter_inserted AFTER INSERT ON letter BEGIN SELECT term FROM word; END;
      """)
    let error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO letter VALUES ('the harbour at noon')")
    }
    #expect(error?.message.contains("unsafe use of virtual table") == true)
  }

  @Test("An FTS5 table of a file opened with profile `.untrustedFile` can be searched")
  func untrusted() throws {
    let folder = try ScratchFolder()
    let path = folder.path + "/other.db"
    let db = try Database(path: path)
    try db.executeStatements(
      "CREATE VIRTUAL TABLE note USING fts5(t, tokenize = 'bigram'); INSERT INTO note VALUES ('北京市')"
    )
    try db.close()
    let other = try Database(path: path, configuration: Configuration(profile: .untrustedFile))
    #expect(try other.value("SELECT count(*) FROM note WHERE note MATCH '京市'") == 1)
  }
}
