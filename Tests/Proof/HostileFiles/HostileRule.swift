import CFaultInjection
import Larder
import ProofSupport

/// What some profiles refuse and others don't: a file, and what is done with it. It has to throw, at
/// opening or later, under these profiles, and to work under the others, which shows that nothing else
/// was wrong with it.
struct HostileRule: Sendable {
  var name: String
  var file = CraftedFile.city
  /// Statements, or texts that are too long to be any.
  var uses: [String]
  var isOnlyCompiled = false
  var profiles: Set<Configuration.Profile> = [.untrustedFile]

  static let all = reach + limits

  private static let everywhere: Set<Configuration.Profile> = [.service, .durable, .untrustedFile]

  /// What would reach out of the file's tables.
  private static var reach: [HostileRule] {
    [
      HostileRule(
        name: "a tokenizer's pointer",
        // It is NULL, of which this makes an error.
        uses: ["SELECT abs(CASE WHEN fts3_tokenizer('simple') IS NULL THEN 1 << 63 END)"],
        profiles: everywhere),
      HostileRule(
        name: "a pointer as a tokenizer",
        uses: ["SELECT fts3_tokenizer('mine', x'4141414141414141')"], profiles: everywhere),
      HostileRule(
        name: "an extension", uses: ["SELECT load_extension('/nowhere')"], profiles: everywhere),
      HostileRule(
        name: "writing the schema",
        uses: [
          "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = sql WHERE name = 'city'",
        ], profiles: everywhere),
      HostileRule(
        name: "a view of the connection",
        file: CraftedFile.city + "CREATE VIEW v AS SELECT file FROM pragma_database_list;",
        uses: ["SELECT * FROM v"], profiles: everywhere),
      HostileRule(
        name: "a view", file: CraftedFile.city + "CREATE VIEW v AS SELECT name FROM city;",
        uses: ["SELECT * FROM v"]),
      // One that runs throws, and so is told from one that doesn't.
      HostileRule(
        name: "a trigger",
        file: CraftedFile.city
          + "CREATE TRIGGER t AFTER INSERT ON city BEGIN SELECT RAISE(ABORT, 'it ran'); END;",
        uses: ["INSERT INTO city (name) VALUES (1)"], profiles: [.service, .durable]),
      HostileRule(
        name: "a damaged file",
        file: CraftedFile.city + "INSERT INTO city (name) VALUES (NULL);"
          + CraftedFile.rewriting(
            "city", to: "CREATE TABLE city (id INTEGER PRIMARY KEY, name NOT NULL)"),
        uses: []),
    ]
  }

  /// What is a little more than each limit. (That of instructions is for what computes without end.)
  private static var limits: [HostileRule] {
    func repeated(_ count: Int, _ part: String, _ separator: String = ", ") -> String {
      Array(repeating: part, count: count).joined(separator: separator)
    }
    let columns = (0..<201).map { "c\($0)" }.joined(separator: ", ")
    return [
      HostileRule(
        name: "a long value",
        file: CraftedFile.city + "UPDATE city SET name = zeroblob(1100000) WHERE id = 1;",
        uses: ["SELECT name FROM city"]),
      HostileRule(
        name: "a value made long", uses: ["SELECT hex(zeroblob(600000))"]),
      HostileRule(
        name: "a long statement", uses: ["SELECT 1 " + String(repeating: " ", count: 1 << 16)]),
      HostileRule(
        name: "a long table",
        file: CraftedFile.city(with: "/*" + String(repeating: "x", count: 1 << 16) + "*/ x"),
        uses: []),
      HostileRule(name: "columns", file: CraftedFile.city(with: columns), uses: []),
      HostileRule(name: "columns of a result", uses: ["SELECT " + repeated(201, "1")]),
      HostileRule(
        name: "a deep check",
        file: CraftedFile.city(with: "CHECK (" + repeated(202, "1", "+") + ")"),
        uses: []),
      HostileRule(name: "a deep expression", uses: ["SELECT " + repeated(202, "1", "+")]),
      HostileRule(name: "compounds", uses: [repeated(51, "SELECT 1", " UNION ALL ")]),
      HostileRule(
        name: "arguments of a check",
        file: CraftedFile.city(with: "CHECK (max(" + repeated(33, "1") + "))"),
        uses: ["INSERT INTO city (name) VALUES (1)"]),
      HostileRule(name: "arguments", uses: ["SELECT max(" + repeated(33, "1") + ")"]),
      HostileRule(name: "attaching", uses: ["ATTACH ':memory:' AS other"]),
      HostileRule(
        name: "a pattern", uses: ["SELECT 'x' GLOB '" + String(repeating: "?", count: 51) + "'"]),
      HostileRule(name: "variables", uses: ["SELECT ?10001"], isOnlyCompiled: true),
      HostileRule(
        name: "triggers of triggers",
        uses: [
          "PRAGMA recursive_triggers = ON",
          """
          CREATE TEMP TRIGGER again AFTER INSERT ON main.city WHEN new.id < 115
          BEGIN INSERT INTO city (id) VALUES (new.id + 1); END
          """, "INSERT INTO city (id) VALUES (100)",
        ]),
    ]
  }

  /// Does it, and throws where that works and shouldn't, or the other way round.
  func check(_ path: String, _ configuration: Configuration) throws {
    var configuration = configuration
    configuration.readOnly = false
    let isRefused = profiles.contains(configuration.profile)
    do {
      let db = try Database(path: path, configuration: configuration)
      for use in uses {
        if isOnlyCompiled {
          try db.validate(SQL(raw: use))
        } else {
          try db.executeStatements(SQL(raw: use))
        }
      }
      try db.close()
    } catch  where WrongAnswer.isTyped(error) {
      if isRefused { return }
      throw error
    }
    if isRefused { throw WrongAnswer(description: "it works under \(configuration.profile)") }
  }
}
