import Larder
import PostgresSupport
import Testing

private struct Item: Record {
  var id: Int64?
  var list: Int64
  var title: String
  var notes: String?
  var slug: String

  struct Columns: Sendable {
    let id = Column("id", \Item.id, .primaryKey)
    let list = Column("list", \Item.list)
    let title = Column("title", \Item.title)
    let notes = Column("notes", \Item.notes, .unique)
    let slug = Column("slug", \Item.slug, .unique)
  }
  static let columns = Columns()
  static let table = Table(
    "item", Item.init, columns.id, columns.list, columns.title, columns.notes, columns.slug,
    constraints: [.unique(columns.list, columns.title)],
    indexes: [.index(columns.list, columns.slug, unique: true)])

  /// The index of the program's present version. The first one had the title alone.
  static let text = FullTextIndex(
    of: Item.self, \.title, \.notes, prefixes: [2], weights: [2, 1])
}

@Suite("Full-text indexes by steps")
struct FullTextStepTests {
  private static let first = [
    Migration(
      "items",
      .create(
        "item", .column("id", Int64?.self, .primaryKey), .column("list", Int64.self),
        .column("title", String.self), constraints: [.unique("list", "title")]),
      .run("INSERT INTO item (list, title) VALUES (1, 'Buy milk')")),
    Migration("words", .create(fullText: "item_text", of: "item", "title")),
  ]
  private static let later = [
    Migration(
      "notes", .add(.column("notes", String?.self, .unique), to: "item"),
      .add(.column("slug", String.self, .unique), to: "item", filling: "'s'"),
      .add(.index("list", "slug", unique: true), to: "item")),
    Migration(
      "words of notes", .drop(fullText: "item_text", of: "item"),
      .create(fullText: "item_text", of: "item", "title", "notes", prefixes: [2], weights: [2, 1])),
  ]

  @Test(
    "A released step for an index stays right when the record's index has gained a column, in old and new databases"
  )
  func growing() throws {
    for isNew in [true, false] {
      let db = try Database.empty()
      if !isNew { try Migrator(Self.first).migrate(db) }
      try Migrator(Self.first + Self.later).migrate(db)
      try db.executeUpdate(
        "INSERT INTO item (list, title, notes, slug) VALUES (1, 'Call', 'about milk', 'c')")
      let found = try Item.matching(Item.text, .all(of: "milk")).order { $0.id }.fetchAll(db)
      #expect(found.map(\.title) == ["Buy milk", "Call"])
      try Item.text.verify(db)
      #expect(try Item.text.differences(db) == [])
    }
  }

  @Test("A step makes the same index as the record's own call, and undoing it drops all of it")
  func undoing() throws {
    let db = try Database.empty()
    try Item.table.create(db)
    let before = try Schema(db)
    try Item.text.create(db)
    let made = try Schema(db)
    try Item.text.drop(db)
    let migrator = Migrator([
      Migration(
        "words",
        .create(
          fullText: "item_text", of: "item", "title", "notes", prefixes: [2], weights: [2, 1]))
    ])
    try migrator.migrate(db)
    #expect(
      try Schema(db).others.map(\.sql) == made.others.map(\.sql)
        && Schema(db).tables.filter { $0.name == "item" }
          == made.tables.filter { $0.name == "item" }
    )
    try migrator.migrate(db, downTo: nil)
    #expect(try Schema(db).others == before.others)
    #expect(try Schema(db).table("item") == before.table("item"))
  }

  @Test("A step for an index that doesn't fit says what is there, and changes nothing")
  func misfits() throws {
    let db = try Database.empty()
    try Migrator(Self.first).migrate(db)
    func problem(_ step: SchemaStep) -> String? {
      do {
        try step.execute(db)
        return nil
      } catch {
        return "\(error)"
      }
    }
    #expect(
      problem(.create(fullText: "words", of: "item", "body")) == """
        can't create the full-text index “words” of “item”: “item” has no column “body”, but \
        \(try db.columns(of: "item").map { "“\($0.name)”" }.joined(separator: ", "))
        """)
    #expect(
      problem(.create(fullText: "item_text", of: "item", "title"))?.contains("already") == true)
    #expect(
      problem(.drop(fullText: "words", of: "item")) == """
        can't drop the full-text index “words” of “item”: “item” has no such index, but “item_text”
        """)
    #expect(problem(.drop(fullText: "item", of: "item"))?.contains("no such index") == true)
    #expect(
      problem(.remove("title", from: "item", losing: .columns))?.hasSuffix(
        """
        the full-text index “item_text” needs it: drop that before, by .drop(fullText: "item_text", of: \
        "item"), and create it anew afterwards
        """) == true)
    #expect(try db.value("SELECT count(*) FROM item", as: Int.self) == 1)
  }

  @Test("A rename that SQLite would not carry into a full-text index is refused")
  func renames() throws {
    let db = try Database.empty()
    try Item.table.create(db)
    try Item.text.create(db)
    try Item(id: 1, list: 1, title: "Buy milk", notes: nil, slug: "s").save(db)
    let renames: [(SchemaStep, String)] = [
      (.rename("title", of: "item", to: "name"), "the full-text index “item_text” needs it"),
      (.rename("item", to: "task"), "the full-text index “item_text” needs it"),
    ]
    for (step, reason) in renames where db.engine == nil {
      #expect(
        failure(SchemaError.self) { try step.execute(db) }?.description.contains(reason) == true)
    }
    // A unique column stands in the triggers alone, which SQLite changes.
    try SchemaStep.rename("slug", of: "item", to: "path").execute(db)
    try Item.text.verify(db)
    try SchemaStep.drop(fullText: "item_text", of: "item").execute(db)
    for (step, _) in renames { try step.execute(db) }
    try SchemaStep.create(fullText: "task_text", of: "task", "name").execute(db)
    #expect(try db.value("SELECT name FROM task", as: String.self) == "Buy milk")
  }

  @Test("A dropped table takes its full-text index along")
  func droppedTable() throws {
    let db = try Database.empty()
    let before = try Schema(db)
    try Item.table.create(db)
    try Item.text.create(db)
    try SchemaStep.drop("item", losing: .rows).execute(db)
    #expect(try Schema(db) == before)
  }

  @Test("An index by a step needs an integer key in SQLite", .onlySQLite(.definitions))
  func otherKeys() throws {
    let db = try Database.empty()
    try SchemaStep.create("word", .column("text", String.self, .primaryKey)).execute(db)
    #expect(
      recordFailure {
        try SchemaStep.create(fullText: "words", of: "word", "text").execute(db)
      }?.contains("the table has no integer primary key") == true)
  }

  @Test(
    "The error of a removed column names the triggers that need it", .onlySQLite(.definitions))
  func triggers() throws {
    let db = try Database.empty()
    try db.executeStatements(
      """
      CREATE TABLE item (id INTEGER PRIMARY KEY, notes TEXT, title TEXT); CREATE TABLE log (text);
      CREATE TRIGGER logged AFTER DELETE ON item BEGIN INSERT INTO log VALUES (old.notes); END;
      CREATE TRIGGER other AFTER DELETE ON item BEGIN INSERT INTO log VALUES (old.title); END;
      """)
    let error = failure(SchemaError.self) {
      try SchemaStep.remove("notes", from: "item", losing: .columns).execute(db)
    }
    #expect(error?.description.contains("no such column: old.notes (in “logged”)") == true)
  }

  @Test(
    "Renaming or removing what another program's full-text index has of a table is refused",
    .onlySQLite(.triggers),
    arguments: [
      "USING fts5(title, body, content='page', content_rowid='id')",
      "USING FTS5 (title, \"body\", content = \"Page\", tokenize = 'porter')",
      "USING fts4(content=page, title, body)",
    ])
  func indexOfAnotherProgram(declaration: String) throws {
    var configuration = Configuration()
    configuration.trustsSchema = true
    let db = try Database(configuration: configuration)
    try db.executeStatements(
      SQL(
        raw: """
          CREATE TABLE page (id INTEGER PRIMARY KEY, title TEXT, body TEXT, views INT);
          CREATE VIRTUAL TABLE words \(declaration);
          CREATE TRIGGER page_ai AFTER INSERT ON page BEGIN
            INSERT INTO words (rowid, title, body) VALUES (new.id, new.title, new.body);
          END;
          INSERT INTO page VALUES (1, 'Fjord', 'A long inlet', 3);
          """))
    let refused: [SchemaStep] = [
      .rename("page", to: "article"), .rename("title", of: "page", to: "name"),
      .remove("body", from: "page", losing: .columns), .drop(fullText: "words", of: "page"),
    ]
    for step in refused {
      let error = try #require(failure(SchemaError.self) { try step.execute(db) })
      #expect("\(error)".contains("“words” and its triggers are another program's"), "\(error)")
    }
    // What the index doesn't have can be changed.
    try SchemaStep.rename("views", of: "page", to: "visits").execute(db)
    try SchemaStep.remove("visits", from: "page", losing: .columns).execute(db)
    #expect(
      try db.value(
        "SELECT title FROM words WHERE words MATCH 'inlet'", as: String.self) == "Fjord")
  }
}
