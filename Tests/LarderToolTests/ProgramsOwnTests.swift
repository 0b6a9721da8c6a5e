import Foundation
import Larder
import TestSupport
import Testing

/// Every sound file can be read, also one that uses collations, functions, tokenizers or modules that only its
/// program has.
@Suite("Files that depend on the program that made them")
struct ProgramsOwnTests {
  /// Runs all reading commands. Each must succeed, and say nothing of damage.
  private func readAll(_ name: String, table: String, in tool: Tool) throws {
    let commands = [
      ["inspect"], ["inspect", "--json"], ["check"], ["check", "--json"], ["schema"], ["generate"],
      ["diagram"], ["diagram", "--svg"], ["migrate", "status"],
      ["explain", "SELECT * FROM \(table)"],
      ["export", table],
    ]
    for words in commands {
      let isMigrate = words[0] == "migrate"
      let place = isMigrate ? 2 : 1
      let result = try tool.run(Array(words[..<place]) + [name] + Array(words[place...]))
      #expect(
        result.status == 0 || words[0] == "check" && result.status == 1,
        "\(words): \(result.errors)")
      let said = result.output + result.errors
      #expect(!said.contains("damaged") && !said.contains("Restore"), "\(words): \(said)")
    }
    let copied = try tool.run("backup", name, "copy-of-\(name)")
    #expect(copied.status == 0, "\(copied.errors)")
    #expect(try pages(of: "copy-of-\(name)", in: tool) == pages(of: name, in: tool))
    let same = try tool.run("diff", name, "copy-of-\(name)")
    #expect(same.output == "The schemas are the same.\n", "\(same.errors)")
  }

  /// A file's bytes without the header's counters of changes, which a copy counts on.
  private func pages(of name: String, in tool: Tool) throws -> Data {
    var bytes = try tool.contents(of: name)
    for counter in [24, 40, 92] {
      bytes.replaceSubrange(counter..<counter + 4, with: Data(count: 4))
    }
    return bytes
  }

  private func execute(_ sql: String, _ db: Database) throws {
    try db.executeStatements(SQL(raw: sql))
  }

  // MARK: Collations

  private func withCollation() throws -> Tool {
    let tool = try Tool()
    let db = try tool.database("anki.db")
    // An order that no stand-in has, so that an index in it seems to be wrong.
    try db.createCollation("unicase") { left, right in
      left == right ? .orderedSame : left > right ? .orderedAscending : .orderedDescending
    }
    try execute(
      """
      CREATE TABLE notetype (id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE unicase);
      CREATE UNIQUE INDEX notetype_name ON notetype (name);
      CREATE TABLE config (key TEXT PRIMARY KEY COLLATE unicase, value BLOB) WITHOUT ROWID;
      CREATE TABLE other (id INTEGER PRIMARY KEY, name TEXT);
      INSERT INTO notetype VALUES (1, 'Basic'), (2, 'Cloze'), (3, 'basic and reversed');
      INSERT INTO config VALUES ('a', x'00'), ('B', x'01'), ('c', x'02');
      INSERT INTO other VALUES (1, 'x');
      """, db)
    try db.close()
    return tool
  }

  @Test("larder reads a file with a collation that it doesn't have, and names the collation")
  func collation() throws {
    let tool = try withCollation()
    try readAll("anki.db", table: "notetype", in: tool)
    let rows = try tool.run("query", "anki.db", "SELECT id FROM notetype ORDER BY id", "--csv")
    #expect(rows.output == "id\n1\n2\n3\n")
    let ordered = try tool.run(
      "query", "anki.db", "SELECT id FROM notetype ORDER BY +name", "--csv")
    #expect(ordered.status == 0, "\(ordered.errors)")
    #expect(ordered.errors.contains("“unicase”"), "\(ordered.errors)")
    let checked = try tool.run("check", "anki.db")
    #expect(checked.status == 0, "\(checked.output)")
    #expect(
      checked.output.contains(
        "the indexes of “notetype” weren't checked: only the program has the collation unicase"))
    let other = try tool.run("query", "anki.db", "SELECT * FROM other")
    #expect(other.errors.isEmpty, "\(other.errors)")
  }

  @Test("larder never writes an index in the order of a stand-in for a collation")
  func writes() throws {
    let tool = try withCollation()
    let before = try tool.contents(of: "anki.db")
    try tool.write("rows.jsonl", #"{"name": "new"}"#.utf8)
    for words in [
      ["query", "anki.db", "INSERT INTO notetype (name) VALUES ('x')", "--write"],
      ["import", "anki.db", "notetype", "rows.jsonl"], ["vacuum", "anki.db"],
      ["vacuum", "anki.db", "--into", "compact.db"],
    ] {
      let result = try tool.run(words)
      #expect(result.status != 0, "\(words)")
      #expect(result.errors.contains("no such collation"), "\(words): \(result.errors)")
      #expect(!result.errors.contains("damaged"), "\(words): \(result.errors)")
      #expect(try tool.contents(of: "anki.db") == before, "\(words)")
    }
    #expect(try !tool.files().contains("compact.db"))
    let written = try tool.run(
      "query", "anki.db", "INSERT INTO other (name) VALUES ('y')", "--write")
    #expect(written.status == 0, "\(written.errors)")
  }

  @Test("larder check finds damage in a file with a collation that it doesn't have")
  func damage() throws {
    let tool = try withCollation()
    var bytes = try tool.contents(of: "anki.db")
    // The last page is that of “other”: its content becomes zeros.
    for index in bytes.indices.suffix(4096) { bytes[index] = 0 }
    try tool.write("broken.db", bytes)
    let result = try tool.run("check", "broken.db")
    #expect(result.output.contains("integrity"), "\(result.output)")
    #expect(result.status == 1)
  }

  // MARK: Functions

  @Test("larder reads files with SQLite's JSON functions in constraints, indexes and columns")
  func json() throws {
    let tool = try Tool()
    try tool.make(
      "django.db",
      """
      CREATE TABLE app_item (
        id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        data TEXT NOT NULL CHECK (JSON_VALID(data) OR data IS NULL),
        name TEXT AS (JSON_EXTRACT(data, '$.name')) STORED,
        size AS (data ->> 'size') VIRTUAL);
      CREATE INDEX app_item_kind ON app_item (JSON_EXTRACT(data, '$.kind'));
      CREATE INDEX app_item_name ON app_item (name);
      CREATE VIEW kinds AS SELECT JSON_EXTRACT(data, '$.kind') AS kind FROM app_item;
      INSERT INTO app_item (data) VALUES ('{"name": "a", "kind": 1, "size": 7}'), ('{}');
      """)
    try readAll("django.db", table: "app_item", in: tool)
    let size = try tool.run("query", "django.db", "SELECT size FROM app_item", "--csv")
    #expect(size.output == "size\n7\n\n", "\(size.errors)")
    for words in [
      ["vacuum", "django.db", "--into", "compact.db"], ["vacuum", "django.db"],
      ["optimize", "django.db"],
    ] {
      let result = try tool.run(words)
      #expect(result.status == 0, "\(words): \(result.errors)")
    }
  }

  private func withFunction() throws -> Tool {
    let tool = try Tool()
    var configuration = Configuration()
    configuration.journalMode = nil
    configuration.trustsSchema = true
    let db = try Database(path: tool.file("own.db"), configuration: configuration)
    try db.createFunction("my_hash", argumentCount: 1, directOnly: false) { arguments in
      try "#" + String(databaseValue: arguments[0])
    }
    try execute(
      """
      CREATE TABLE item (
        id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL CHECK (length(my_hash(name)) > 1),
        stored TEXT AS (my_hash(name)) STORED, computed TEXT AS (my_hash(name)),
        twice TEXT AS (computed || computed));
      CREATE INDEX item_hash ON item (my_hash(name));
      CREATE INDEX item_some ON item (name) WHERE my_hash(name) <> '#a';
      CREATE VIEW hashes AS SELECT id, my_hash(name) AS hash FROM item;
      CREATE TABLE log (id INTEGER PRIMARY KEY, text TEXT);
      CREATE TRIGGER logged AFTER INSERT ON log BEGIN
        UPDATE log SET text = my_hash(text) WHERE id = new.id;
      END;
      INSERT INTO item (name) VALUES ('a'), ('b');
      """, db)
    try db.close()
    return tool
  }

  @Test("larder reads what doesn't depend on a function that it doesn't have, and names what does")
  func functions() throws {
    let tool = try withFunction()
    try readAll("own.db", table: "item", in: tool)
    let stored = try tool.run("query", "own.db", "SELECT id, stored FROM item", "--csv")
    #expect(stored.output == "id,stored\n1,#a\n2,#b\n", "\(stored.errors)")
    let ids = try tool.run("query", "own.db", "SELECT id FROM hashes", "--csv")
    #expect(ids.output == "id\n1\n2\n", "\(ids.errors)")
    for sql in ["SELECT * FROM item", "SELECT twice FROM item", "SELECT * FROM hashes"] {
      let result = try tool.run("query", "own.db", sql)
      #expect(result.status == 2, "\(sql)")
      #expect(
        result.errors.contains("the function my_hash is only in the program that made the file"),
        "\(sql): \(result.errors)")
    }
    let exported = try tool.run("export", "own.db", "item")
    #expect(exported.output == "id,name\n1,a\n2,b\n", "\(exported.errors)")
    let checked = try tool.run("check", "own.db")
    #expect(checked.output.contains("“item”.“computed” wasn't checked"), "\(checked.output)")
    #expect(checked.output.contains("“item”.“twice” wasn't checked"), "\(checked.output)")
    #expect(checked.output.contains("“item” wasn't checked for damage"), "\(checked.output)")
    let inserted = try tool.run(
      "query", "own.db", "INSERT INTO log (text) VALUES ('x')", "--write")
    #expect(inserted.status == 2 && inserted.errors.contains("no such function: my_hash"))
  }

  @Test("larder --untrusted calls no function that isn't known to be harmless")
  func untrusted() throws {
    let tool = try withFunction()
    let result = try tool.run("query", "own.db", "SELECT computed FROM item", "--untrusted")
    #expect(result.status != 0)
  }

  // MARK: Modules

  @Test("larder reads a file with a module and a tokenizer that it doesn't have")
  func modules() throws {
    let tool = try Tool()
    var configuration = Configuration()
    configuration.journalMode = nil
    configuration.trustsSchema = true
    let db = try Database(path: tool.file("a.db"), configuration: configuration)
    try db.createTokenizer("own") { text, _ in
      text.isEmpty ? [] : [(term: text, range: 0..<text.utf8.count)]
    }
    try execute(
      """
      CREATE TABLE place (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE VIRTUAL TABLE area USING rtree(id, left, right);
      CREATE VIRTUAL TABLE text USING fts5(body, tokenize = 'own');
      CREATE VIEW areas AS SELECT * FROM area;
      CREATE TRIGGER placed AFTER INSERT ON place BEGIN INSERT INTO area VALUES (new.id, 1, 2); END;
      INSERT INTO text VALUES ('Hello world'), ('Good bye');
      INSERT INTO place VALUES (1, 'x');
      """, db)
    try db.close()
    // The module becomes one that nobody has.
    var bytes = try tool.contents(of: "a.db")
    let place = try #require(bytes.firstRange(of: Data("USING rtree".utf8)))
    bytes.replaceSubrange(place, with: Data("USING rtrex".utf8))
    try tool.write("b.db", bytes)
    try readAll("b.db", table: "place", in: tool)
    let text = try tool.run("query", "b.db", "SELECT rowid FROM text WHERE text MATCH 'hello'")
    #expect(text.status == 0, "\(text.errors)")
    #expect(try tool.run("export", "b.db", "text").output == "body\nHello world\nGood bye\n")
    for sql in ["SELECT * FROM area", "SELECT * FROM areas"] {
      let result = try tool.run("query", "b.db", sql)
      #expect(result.status == 2 && result.errors.contains("no such module: rtrex"), "\(sql)")
    }
    let inspected = try tool.run("inspect", "b.db")
    #expect(inspected.output.contains("“area” can't be read: no such module: rtrex"))
    // The same file with its module is read in whole.
    let areas = try tool.run("query", "a.db", "SELECT * FROM areas", "--csv")
    #expect(areas.output == "id,left,right\n1,1.0,2.0\n", "\(areas.errors)")
    let exported = try tool.run("export", "a.db", "--query", "SELECT id FROM area")
    #expect(exported.output == "id\n1\n", "\(exported.errors)")
  }

  // MARK: Encodings and sizes

  @Test("larder reads files in UTF-16, whose own collations it leaves to SQLite")
  func utf16() throws {
    for encoding in ["UTF-16le", "UTF-16be"] {
      let tool = try Tool()
      try tool.make(
        "a.db",
        """
        PRAGMA encoding = '\(encoding)';
        CREATE TABLE city (id INTEGER PRIMARY KEY, "größe" TEXT COLLATE NOCASE);
        CREATE INDEX city_i ON city ("größe");
        INSERT INTO city VALUES (1, 'Ä'), (2, 'ä'), (3, '北京'), (4, 'B'), (5, 'a'), (6, NULL);
        """)
      try readAll("a.db", table: "city", in: tool)
      let sql = #"SELECT id FROM city ORDER BY "größe" || '' COLLATE NOCASE, id"#
      let result = try tool.run("query", "a.db", sql, "--csv")
      #expect(result.errors.isEmpty, "\(result.errors)")
      #expect(result.output == "id\n6\n5\n4\n1\n2\n3\n")
    }
  }

  @Test("larder reads a table of 1,501 columns, and generate says that the compiler takes long")
  func manyColumns() throws {
    let tool = try Tool()
    let columns = (1...1500).map { "c\($0) INTEGER" }.joined(separator: ", ")
    try tool.make(
      "a.db",
      "CREATE TABLE wide (id INTEGER PRIMARY KEY, \(columns)); INSERT INTO wide (c1500) VALUES (7)")
    try readAll("a.db", table: "wide", in: tool)
    #expect(try tool.run("generate", "a.db").output.contains("It has 1,501 columns"))
  }
}
