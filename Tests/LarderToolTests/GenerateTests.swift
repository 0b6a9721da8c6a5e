import Foundation
import Larder
import TestSupport
import Testing

@Suite("larder generate")
struct GenerateTests {
  @Test("larder generate prints records with the macro, and their associations")
  func macro() throws {
    let result = try Tool.withCities().run("generate", "cities.db")
    #expect(result.errors.isEmpty)
    #expect(
      result.output == """
        // The tables of cities.db as records, by:
        //   larder generate cities.db

        import LarderMacros

        @Record(options: .withoutRowID)
        struct Country: Equatable {
          @Column(.primaryKey) var code: String
          var name: String
        }

        @Record(indexes: [.index(\\.country, name: "city_country")], options: .notStrict)
        struct City: Equatable {
          @Column(.primaryKey) var id: Int64?
          @Column(.collate("NOCASE")) var name: String
          @Column(.references(Country.self, onDelete: .cascade)) var country: String?
          @Column(.default(0)) var population: Int? = 0
        }

        @Record(options: .view)
        struct Large: Equatable {
          var name: String?
        }

        extension Country {
          static let cities = HasMany(columns.code, City.columns.country)
        }

        extension City {
          static let country: BelongsTo<City, Country> = BelongsTo(columns.country, Country.columns.code)
        }

        """)
  }

  @Test("larder generate --by-hand prints columns and tables of the named tables, ignoring case")
  func byHand() throws {
    let result = try Tool.withCities().run(
      "generate", "cities.db", "CITY", "large", "--by-hand", "--inside", "Places")
    #expect(
      result.output == """
        // The tables of cities.db as records, by:
        //   larder generate cities.db CITY large --by-hand --inside Places

        import Larder

        enum Places {
          // Not declared: “country” refers to “country”, which has no record here.
          struct City: Record, Equatable {
            var id: Int64?
            var name: String
            var country: String?
            var population: Int? = 0

            struct Columns: Sendable {
              let id = Column("id", \\City.id, .primaryKey)
              let name = Column("name", \\City.name, .collate("NOCASE"))
              let country = Column("country", \\City.country)
              let population = Column("population", \\City.population, .default(0))
            }
            static let columns = Columns()
            static let table = Table(
              "city", City.init, columns.id, columns.name, columns.country, columns.population,
              indexes: [.index(columns.country, name: "city_country")], options: .notStrict)
          }

          struct Large: Record, Equatable {
            var name: String?

            struct Columns: Sendable {
              let name = Column("name", \\Large.name)
            }
            static let columns = Columns()
            static let table = Table("large", Large.init, columns.name, options: .view)
          }
        }

        """)
  }

  @Test("larder generate prints the same text each time, and doesn't change the database")
  func deterministic() throws {
    let tool = try Tool.with(SampleSchemas.northwind)
    let before = try tool.contents(of: "data.db")
    let texts = try (0..<3).map { _ in try tool.run("generate", "data.db").output }
    #expect(Set(texts).count == 1)
    #expect(try tool.contents(of: "data.db") == before)
    #expect(try tool.files() == ["data.db"])
  }

  @Test("larder generate --output writes the printed text, and leaves an up-to-date file untouched")
  func output() throws {
    let tool = try Tool.withCities()
    let words = ["generate", "cities.db", "--output", "Cities.swift"]
    #expect(try tool.run(words).output == "Cities.swift: written\n")
    let printed = try tool.run("generate", "cities.db").output
    let text = try tool.text("Cities.swift")
    #expect(
      text
        == printed.replacing(
          "larder generate cities.db\n", with: "larder generate cities.db --output Cities.swift\n"))
    let old = Date(timeIntervalSince1970: 1_000_000_000)
    try FileManager.default.setAttributes(
      [.modificationDate: old, .posixPermissions: 0o640], ofItemAtPath: tool.file("Cities.swift"))
    #expect(try tool.run(words).output == "Cities.swift: up to date\n")
    let attributes = try FileManager.default.attributesOfItem(atPath: tool.file("Cities.swift"))
    #expect(attributes[.modificationDate] as? Date == old)
    // A replaced file keeps its permissions.
    try tool.write("Cities.swift", "old".utf8)
    #expect(try tool.run(words).output == "Cities.swift: written\n")
    #expect(try tool.text("Cities.swift") == text)
    let mode = try FileManager.default.attributesOfItem(atPath: tool.file("Cities.swift"))
    #expect(mode[.posixPermissions] as? Int == 0o640)
    #expect(try tool.files() == ["Cities.swift", "cities.db"])
  }

  @Test("larder generate --output through a symbolic link writes the link's target")
  func link() throws {
    let tool = try Tool.withCities()
    try tool.write("Real.swift", "old".utf8)
    try FileManager.default.createSymbolicLink(
      atPath: tool.file("Link.swift"), withDestinationPath: "Real.swift")
    #expect(try tool.run("generate", "cities.db", "--output", "Link.swift").status == 0)
    #expect(try tool.text("Real.swift").hasPrefix("// The tables of cities.db"))
    let target = try FileManager.default.destinationOfSymbolicLink(atPath: tool.file("Link.swift"))
    #expect(target == "Real.swift")
  }

  @Test("larder generate --check exits with status 1 for an outdated file, and writes nothing")
  func check() throws {
    let tool = try Tool.withCities()
    let words = ["generate", "cities.db", "--output", "Cities.swift", "--check"]
    let missing = try tool.run(words)
    #expect(missing.status == 1 && missing.output == "Cities.swift: out of date\n")
    #expect(try tool.files() == ["cities.db"])
    #expect(try tool.run("generate", "cities.db", "--output", "Cities.swift").status == 0)
    let text = try tool.text("Cities.swift")
    let same = try tool.run(words)
    #expect(same.status == 0 && same.output == "Cities.swift: up to date\n")
    let db = try tool.database("cities.db")
    try db.executeUpdate("ALTER TABLE city ADD COLUMN mayor TEXT")
    try db.close()
    let changed = try tool.run(words)
    #expect(changed.status == 1 && changed.output == "Cities.swift: out of date\n")
    #expect(changed.errors.isEmpty)
    #expect(try tool.text("Cities.swift") == text)
    #expect(
      try tool.object("generate", "cities.db", "--output", "Cities.swift")["state"] as? String
        == "written")
    #expect(try tool.run(words).status == 0)
  }

  @Test("The header of generated code has the command that was run, with its options and folders")
  func header() throws {
    let tool = try Tool.withCities()
    try FileManager.default.createDirectory(
      atPath: tool.file("code"), withIntermediateDirectories: true)
    let words = [
      "generate", "./cities.db", "city", "--macro", "--untrusted", "--rows", "5", "--names",
      "city=Town", "--output", "code/A b.swift",
    ]
    #expect(try tool.run(words).status == 0)
    let lines = try tool.text("code/A b.swift").split(separator: "\n")
    #expect(
      lines[1] == """
        //   larder generate ./cities.db city --macro --untrusted --names city=Town --rows 5 --output \
        'code/A b.swift'
        """)
    // Absolute paths are those of one machine. A check from another folder compares the code.
    let absolute = [
      "generate", tool.file("cities.db"), "city", "--untrusted", "--rows", "5", "--names",
      "city=Town", "--output", tool.file("code/A b.swift"),
    ]
    #expect(try tool.run(absolute + ["--check"]).status == 0)
    #expect(try tool.run(absolute).output.hasSuffix(": written\n"))
    #expect(try tool.text("code/A b.swift").contains("//   larder generate cities.db city"))
  }

  @Test(
    "A single index that needs a line of its own has no comma after it, as swift-format wants it")
  func singleIndex() throws {
    let name = String(repeating: "n", count: 60)
    let tool = try Tool.with(
      "CREATE TABLE t (first_column TEXT, b TEXT); CREATE INDEX \(name) ON t (first_column, b)")
    let text = try tool.run("generate", "data.db").output
    #expect(
      text.contains(
        """
          indexes: [
            .index(\\.firstColumn, \\.b, name: "\(name)")
          ]
        """), "\(text)")
  }

  @Test("larder generate --output refuses databases, folders and pipes")
  func noOutput() throws {
    let tool = try Tool.withCities()
    let before = try tool.contents(of: "cities.db")
    try FileManager.default.createDirectory(
      atPath: tool.file("d"), withIntermediateDirectories: true)
    #expect(mkfifo(tool.file("p"), 0o600) == 0)
    try tool.write("other.db", before)
    for (output, status, reason) in [
      ("other.db", 2, "other.db: this is a database"),
      ("cities.db-wal", 2, "a file of this name belongs to a database"),
      ("cities.db", 2, "cities.db and cities.db are the same file"),
      ("./cities.db", 2, "the same file"),
      ("d", 3, "d: this isn't a regular file, so it can't be written"),
      ("p", 3, "p: this isn't a regular file"),
      ("none/a.swift", 3, "none/a.swift: No such file or directory"),
      ("", 2, "the name of the file is empty"),
    ] {
      let result = try tool.run("generate", "cities.db", "--output", output)
      #expect(result.status == status && result.errors.contains(reason), "\(result.errors)")
      #expect(result.errors.split(separator: "\n").count == 1 && result.output.isEmpty)
    }
    #expect(try tool.contents(of: "cities.db") == before)
    #expect(try tool.files() == ["cities.db", "d", "other.db", "p"])
  }

  @Test("larder generate notes virtual tables and broken views, and refuses missing tables")
  func leftOut() throws {
    let tool = try Tool.with(
      """
      CREATE TABLE city (name TEXT);
      CREATE VIRTUAL TABLE words USING fts5(text);
      CREATE TABLE other (a);
      CREATE VIEW gone AS SELECT a FROM other;
      PRAGMA legacy_alter_table = ON;
      DROP TABLE other;
      CREATE TABLE larder_migration (name TEXT);
      """)
    let lines = try tool.run("generate", "data.db").lines
    #expect(lines.contains { $0.hasPrefix("// The view “gone” can't be read: ") })
    #expect(lines.contains("// “words” is a virtual table, which can't have records."))
    #expect(lines.filter { $0.hasPrefix("struct ") } == ["struct City: Equatable {"])
    let missing = try tool.run("generate", "data.db", "city", "town")
    #expect(missing.status == 1)
    #expect(missing.errors == "larder: data.db: there is no table or view “town”\n")
    #expect(
      try tool.run("generate", "data.db", "words").errors
        == "larder: data.db: “words” is a virtual table, which can't have records\n")
    #expect(try tool.run("generate", "data.db", "words_data").status == 1)
  }

  @Test("larder generate of a database without tables prints a file without records")
  func noTables() throws {
    let result = try Tool.with("PRAGMA user_version = 1").run("generate", "data.db")
    #expect(result.status == 0)
    #expect(result.lines.last == "import LarderMacros")
  }

  @Test("larder generate of a thousand tables takes less than 30 seconds")
  func manyTables() throws {
    let tables = (0..<1000).map {
      "CREATE TABLE t\($0) (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t\(($0 + 7) % 1000));"
    }
    let tool = try Tool.with(tables.joined(separator: "\n"))
    let clock = ContinuousClock()
    let start = clock.now
    #expect(try tool.generated().count == 1000)
    #expect(clock.now - start < .seconds(30))
  }

  @Test("larder generate of a view with an endless query still ends, with a record")
  func endless() throws {
    let tool = try Tool.with(
      """
      CREATE VIEW endless AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
        SELECT i FROM n WHERE i < 0;
      """)
    #expect(try tool.generated().map(\.type) == ["Endless"])
  }

  @Test("larder generate --untrusted generates records")
  func untrusted() throws {
    let tool = try Tool.withCities()
    let result = try tool.run("generate", "cities.db", "--untrusted")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("struct City: Equatable {"))
  }
}
