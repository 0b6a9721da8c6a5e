import LarderSQLite
import TestSupport
import Testing

/// SQLite's quirk that an unknown name in double quotes is a string: see
/// [its documentation](https://www.sqlite.org/quirks.html#dblquote).
@Suite("Strings in double quotes")
struct DoubleQuotedStringTests {
  private let folder: ScratchFolder
  private let path: String
  private let advice = "set Configuration.allowsDoubleQuotedStrings"

  init() throws {
    folder = try ScratchFolder(inMemory: true)
    path = folder.file("old")
    // A connection that allows such strings creates the schema.
    let db = try Database(path: path, configuration: allowing)
    try db.executeStatements(
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, kind TEXT DEFAULT "town");
      CREATE TABLE log (text TEXT);
      CREATE VIEW labelled AS SELECT name, "a city" AS label FROM city;
      CREATE TRIGGER logged AFTER INSERT ON city BEGIN INSERT INTO log VALUES ("inserted"); END;
      """)
  }

  private var allowing: Configuration {
    var configuration = Configuration()
    configuration.allowsDoubleQuotedStrings = true
    return configuration
  }

  private func message(_ db: Database, _ sql: SQL) -> String? {
    do {
      try db.executeStatements(sql)
      return nil
    } catch {
      return (error as? DatabaseError)?.message
    }
  }

  @Test("A view or trigger with a string in double quotes throws, and the error says what to set")
  func refused() throws {
    let db = try Database(path: path)
    for sql: SQL in [
      "SELECT * FROM labelled", "SELECT \"label\" FROM \"labelled\" WHERE \"name\" = 'x'",
      "INSERT INTO city (name) VALUES ('Oslo')",
    ] {
      #expect(message(db, sql)?.hasSuffix(advice) == true, "\(sql)")
    }
    #expect(message(db, "SELECT name FROM city") == nil)
    // A column's default may be such a string in any case.
    #expect(message(db, "DROP TRIGGER logged; INSERT INTO city (name) VALUES ('Oslo')") == nil)
    #expect(try db.value("SELECT kind FROM city", as: String.self) == "town")
  }

  @Test(
    "A statement with a string in double quotes or a misspelled name gets SQLite's own error message"
  )
  func ownStatements() throws {
    let db = try Database(path: path)
    for sql: SQL in [
      #"SELECT "Oslo" FROM city"#, #"SELECT nam FROM city"#, #"SELECT "na`me" FROM city"#,
      #"SELECT * FROM labelled WHERE name = "Oslo""#, "SELECT FROM", "SELECT * FROM nothing",
      #"INSERT INTO city (name) VALUES ("Oslo")"#,
    ] {
      let message = message(db, sql)
      #expect(message != nil && message?.contains("allowsDouble") == false, "\(sql)")
    }
  }

  @Test(
    "With `allowsDoubleQuotedStrings`, text in double quotes is a string, and the settings report it"
  )
  func allowed() throws {
    let db = try Database(path: path, configuration: allowing)
    try db.executeUpdate("INSERT INTO city (name) VALUES (\"Oslo\")")
    #expect(
      try db.value("SELECT name || label FROM labelled", as: String.self) == "Osloa city")
    #expect(try db.value("SELECT text FROM log", as: String.self) == "inserted")
    let settings = try db.effectiveSettings
    #expect(settings.allowsDoubleQuotedStrings && !settings.isHardened)
    #expect(try Database(path: path).effectiveSettings.isHardened)
  }

  @Test(
    "The log gets the error about strings in double quotes once, and the connection still refuses them"
  )
  func log() throws {
    let errors = Lock<[DatabaseError]>([])
    var configuration = Configuration()
    configuration.log = { error in errors.withLock { $0.append(error) } }
    let db = try Database(path: path, configuration: configuration)
    let rows = try db.executeQuery("VALUES (1), (2)")
    #expect(try rows.next())
    #expect(message(db, "SELECT * FROM labelled") != nil)
    #expect(errors.withLock { $0.map(\.message.count) }.count == 1)
    #expect(errors.withLock { $0.first }?.message.hasSuffix(advice) == true)
    #expect(try rows.next())
    #expect(try !db.effectiveSettings.allowsDoubleQuotedStrings)
    #expect(message(db, "SELECT * FROM labelled") != nil)
  }
}
