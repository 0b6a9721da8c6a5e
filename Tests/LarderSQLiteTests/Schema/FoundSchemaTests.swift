import LarderSQLite
import TestSupport
import Testing

@Suite("Schemas that use JSON or another program's functions and collations")
struct FoundSchemaTests {
  private let folder: ScratchFolder
  private let path: String

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("other.db")
  }

  /// Makes the file with a connection that trusts its schema.
  private func make(
    _ definitions: SQL, _ prepare: @escaping @Sendable (Database) throws -> Void = { _ in }
  ) throws {
    var configuration = Configuration()
    configuration.trustsSchema = true
    let db = try Database(path: path, configuration: configuration)
    try prepare(db)
    try db.executeStatements(definitions)
    try db.close()
  }

  private static let json: SQL = """
    CREATE TABLE event (id INTEGER PRIMARY KEY, data TEXT NOT NULL CHECK (json_valid(data) OR data IS NULL),
      kind TEXT AS (json_extract(data, '$.kind')), size INTEGER AS (data ->> '$.size') STORED);
    CREATE INDEX event_place ON event (json_extract(data, '$.place'));
    CREATE VIEW kinds AS SELECT kind, json_group_array(json(data)) AS all_of_them FROM event GROUP BY kind;
    CREATE TRIGGER noted AFTER INSERT ON event WHEN json_type(new.data, '$.note') = 'text' BEGIN
      UPDATE event SET data = json_remove(data, '$.note') WHERE id = new.id;
    END;
    """

  @Test(
    "A file with JSON in checks, generated columns, indexes, views and triggers works by default")
  func jsonInSchema() throws {
    try make(Self.json)
    let db = try Database(path: path)
    try db.executeUpdate(
      "INSERT INTO event (data) VALUES (\(#"{"kind": "a", "size": 5, "place": "Oslo", "note": "x"}"#))"
    )
    let error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO event (data) VALUES ('{')")
    }
    #expect(error?.message == "malformed JSON")
    let rows = try db.executeQuery("SELECT kind, size, data FROM event")
    #expect(try rows.next())
    #expect(try rows.get(at: 0, as: String.self) == "a")
    #expect(try rows.get(at: 1, as: Int.self) == 5)
    #expect(try rows.get(at: 2, as: String.self) == #"{"kind":"a","size":5,"place":"Oslo"}"#)
    rows.close()
    #expect(
      try db.value("SELECT all_of_them FROM kinds", as: String.self)
        == #"[{"kind":"a","size":5,"place":"Oslo"}]"#)
    #expect(
      try db.value(
        "SELECT id FROM event WHERE json_extract(data, '$.place') = 'Oslo'", as: Int.self) == 1)
    #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
  }

  @Test(
    "JSON in a schema also works in pools, read-only connections and the untrusted-file profile")
  func otherConnections() throws {
    try make(Self.json)
    let pool = try DatabasePool(path: path)
    try pool.inTransaction { try $0.executeUpdate("INSERT INTO event (data) VALUES ('{}')") }
    #expect(try pool.read { try $0.value("SELECT count(*) FROM event", as: Int.self) } == 1)
    try pool.close()
    var configuration = Configuration(profile: .untrustedFile)
    configuration.readOnly = true
    let db = try Database(path: path, configuration: configuration)
    #expect(try db.value("SELECT kind IS NULL FROM event", as: Int.self) == 1)
    let patch = #"{"a":"# + String(repeating: "1", count: 200_000) + "}"
    #expect(throws: DatabaseError.self, "what would take too long is still refused") {
      try db.value("SELECT json_patch(?, ?)", patch, patch, as: String.self)
    }
  }

  @Test("A JSON check works in a table that was made after opening, also by another connection")
  func madeMeanwhile() throws {
    let db = try Database(path: path)
    try db.executeUpdate("CREATE TABLE city (id INTEGER PRIMARY KEY)")
    let insert = try db.prepare("INSERT INTO city DEFAULT VALUES")
    try insert.execute()
    try make("CREATE TABLE note (data TEXT CHECK (json_valid(data)))")
    try insert.execute()
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 2)
    try db.executeUpdate("INSERT INTO note VALUES ('[]')")
    let other = try Database()
    try other.executeUpdate("CREATE TABLE note (data TEXT CHECK (json_valid(data)))")
    try other.executeUpdate("INSERT INTO note VALUES ('[]')")
  }

  @Test("JSON functions that were replaced for a schema's sake give the results of SQLite's own")
  func sameResults() throws {
    try make("CREATE TABLE note (data TEXT CHECK (json_valid(data)))")
    let replaced = try Database(path: path)
    try replaced.executeUpdate("INSERT INTO note VALUES ('[]')")
    let own = try Database()
    let values = [
      "NULL", "1", "-2.5", "'a'", "'[1,2]'", #"'{"a":{"b":[1,"x",null]}}'"#, "'{'", "''", "x'00'",
      "json('[3]')", "json_array(1, json('{}'))", "json_object('k', 1)", "'\"s\"'", "'1e5'",
      "'true'",
    ]
    let paths = ["'$'", "'$.a'", "'$.a.b[1]'", "'$[0]'", "'$[#-1]'", "'a'", "NULL", "'$.'"]
    var calls: [String] = []
    for value in values {
      for function in [
        "json", "json_valid", "json_type", "json_quote", "json_array_length", "json_array",
      ] {
        calls.append("\(function)(\(value))")
      }
      for path in paths {
        calls += [
          "json_extract(\(value), \(path))", "json_extract(\(value), \(path), '$')",
          "(\(value)) -> \(path)", "(\(value)) ->> \(path)", "json_type(\(value), \(path))",
          "json_remove(\(value), \(path))", "json_array_length(\(value), \(path))",
        ]
        for new in ["5", "'t'", "json('[9]')"] {
          for function in ["json_set", "json_insert", "json_replace"] {
            calls.append("\(function)(\(value), \(path), \(new))")
          }
        }
      }
      for other in values {
        calls += [
          "json_array(\(value), \(other))", "json_object(\(value), \(other))",
          "json_patch(\(value), \(other))",
          "(SELECT json_group_array(x) FROM (SELECT \(value) AS x UNION ALL SELECT \(other)))",
          "(SELECT json_group_object(x, x) FROM (SELECT \(value) AS x UNION ALL SELECT \(other)))",
        ]
      }
    }
    calls += [
      "json()", "json_object('a')", "json_set('{}', '$.a')", "json_extract()",
      "(SELECT json_group_array(1) WHERE 0)", "(SELECT json_group_object('a', 1) WHERE 0)",
      """
      (SELECT group_concat(w) FROM (SELECT json_group_array(value) OVER (ORDER BY value
        ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS w FROM json_each('[1,2,3]')))
      """,
    ]
    func result(_ call: String, _ db: Database) -> [String] {
      do {
        let rows = try db.executeQuery(
          SQL(raw: "SELECT typeof(v), quote(v), json_array(v) FROM (SELECT \(call) AS v)"))
        defer { rows.close() }
        guard try rows.next() else { return [] }
        return try (0..<3).map { try rows.get(at: $0, as: String.self) }
      } catch {
        return ["\((error as? DatabaseError)?.message ?? "")"]
      }
    }
    #expect(calls.count > 3_000)
    for call in calls { #expect(result(call, replaced) == result(call, own), "\(call)") }
  }

  @Test(
    "A schema's missing or untrusted function is named in the error, and works with `trustsSchema`")
  func otherFunctions() throws {
    try make(
      """
      CREATE TABLE iban (number TEXT CHECK (is_iban(number)));
      CREATE VIEW short AS SELECT is_iban(number) AS valid FROM iban;
      """
    ) { db in
      try db.createFunction("is_iban", argumentCount: 1, directOnly: false) { _ in 1 }
    }
    let db = try Database(path: path)
    #expect(try db.value("SELECT count(*) FROM iban", as: Int.self) == 0)
    for statement in ["INSERT INTO iban VALUES ('x')", "SELECT * FROM short"] as [SQL] {
      let error = #expect(throws: DatabaseError.self) { try db.executeUpdate(statement) }
      #expect(error?.code == .error)
      #expect(error?.message.contains("function: is_iban") == true, "\(error?.message ?? "")")
    }
    #expect(throws: Never.self) {
      try db.createFunction("is_iban", argumentCount: 1, directOnly: false) { _ in 1 }
    }
    let error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO iban VALUES ('x')")
    }
    #expect(error?.code == .error, "nothing of the file is malformed")
    #expect(error?.message.contains("unsafe use of is_iban()") == true)
    #expect(error?.message.contains("Configuration.trustsSchema") == true)
    var configuration = Configuration()
    configuration.trustsSchema = true
    configuration.prepareDatabase = {
      try $0.createFunction("is_iban", argumentCount: 1, directOnly: false) { _ in 1 }
    }
    let trusting = try Database(path: path, configuration: configuration)
    try trusting.executeUpdate("INSERT INTO iban VALUES ('x')")
  }

  @Test("Statements that use a schema's missing collation name it in their error; others work")
  func otherCollations() throws {
    try make(
      """
      CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT COLLATE german);
      CREATE INDEX words ON word (text);
      INSERT INTO word VALUES (1, 'ä');
      """
    ) { db in try db.createCollation("german") { $0.compare($1) } }
    let db = try Database(path: path)
    #expect(try db.value("SELECT id FROM word", as: Int.self) == 1)
    for statement in [
      "INSERT INTO word VALUES (2, 'b')", "SELECT * FROM word ORDER BY text",
      "SELECT * FROM word WHERE text = 'b'",
    ] as [SQL] {
      let error = #expect(throws: DatabaseError.self) { try db.executeUpdate(statement) }
      #expect(error?.code == .error)
      #expect(error?.message.contains("german") == true)
    }
  }

  @Test(
    "Column types of a UTF-16 database are read correctly",
    arguments: ["UTF-16le", "UTF-16be"])
  func utf16(_ encoding: String) throws {
    let db = try Database()
    try db.executeUpdate(SQL(raw: "PRAGMA encoding = '\(encoding)'"))
    try db.executeUpdate(#"CREATE TABLE city (id INT, name "größe" DEFAULT 'ä', none)"#)
    #expect(try db.columns(of: "city").map(\.type) == ["INT", "größe", ""])
  }
}
