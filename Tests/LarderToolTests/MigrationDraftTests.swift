import Testing

@Suite("larder migrate draft")
struct MigrationDraftTests {
  @Test(
    "The draft has a step for each difference, and says what is lost and what has to be decided")
  func draft() throws {
    let tool = try Tool()
    try tool.make(
      "old.db",
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL, mayor TEXT, area REAL) STRICT;
      CREATE INDEX city_name_index ON city (name); CREATE VIEW names AS SELECT name FROM city;
      CREATE TABLE scratch (id INTEGER PRIMARY KEY);
      """)
    try tool.make(
      "new.db",
      """
      CREATE TABLE country (code TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE) STRICT;
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL, chief TEXT, area REAL NOT NULL,
        country TEXT REFERENCES country (code) ON DELETE CASCADE, size INTEGER NOT NULL,
        UNIQUE (name, country)) STRICT;
      CREATE INDEX by_country ON city (country, name) WHERE country IS NOT NULL;
      """)
    let result = try tool.run(
      "migrate", "draft", "old.db", "new.db", "--name", "cities of countries")
    #expect(result.status == 0, "\(result.errors)")
    for line in [
      "static let citiesOfCountries = Migration(", #".drop(view: "names"),"#,
      #".column("code", String.self, .primaryKey),"#, #".column("name", String.self, .unique)),"#,
      #".rename("mayor", of: "city", to: "chief")"#,
      #".add(.column("chief", String?.self), to: "city"),"#,
      #".references("country", column: "code", onDelete: .cascade)), to: "city"),"#,
      "To be decided: the value of “size” in the rows that exist.",
      "“area” can't be NULL any more.", #".change(.column("area", Double.self), of: "city"),"#,
      "DESTRUCTIVE: the values of “mayor” are lost.",
      #".remove("mayor", from: "city", losing: .columns),"#,
      #".add(.unique("name", "country"), to: "city"),"#, #".remove(.index("name"), from: "city"),"#,
      #".add(.index("country", "name", where: "country IS NOT NULL", name: "by_country"), to: "city"),"#,
      #".drop("scratch", losing: .rows))"#,
    ] {
      #expect(result.output.contains(line), "\(line) in \(result.output)")
    }
    #expect(!result.output.contains("by hand"))
    #expect(!result.output.contains("don't work"))
  }

  @Test("Equal schemas need no migration, and other words than `status` and `draft` are refused")
  func others() throws {
    let tool = try Tool()
    try tool.make("a.db", "CREATE TABLE city (id INTEGER PRIMARY KEY)")
    let same = try tool.run("migrate", "draft", "a.db", "a.db")
    #expect(same.output.contains("// The schemas are the same."))
    #expect(try tool.run("migrate", "draft", "a.db").status != 0)
    #expect(try tool.run("migrate", "up", "a.db").errors.contains("has “status” and “draft”"))
  }

  @Test("What a draft leaves to be written by hand is listed", arguments: SchemaPair.all.indices)
  func remarks(_ index: Int) throws {
    let pair = SchemaPair.all[index]
    let tool = try Tool()
    try tool.make("old.db", "PRAGMA foreign_keys = OFF; \(pair.old)")
    try tool.make("new.db", "PRAGMA foreign_keys = OFF; \(pair.new)")
    let result = try tool.run("migrate", "draft", "old.db", "new.db")
    #expect(result.status == 0, "\(pair.title): \(result.errors)")
    #expect(result.output.hasPrefix("// Makes the schema of old.db like that of new.db."))
  }
}
