import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

@testable import LarderTool

@Suite(
  "larder generate from a PostgreSQL server", .serialized,
  .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whySkipped)))
struct GeneratePostgresTests {
  @Test(
    "Records generated from a server with the macro compile without warnings and match their tables"
  )
  func compiled() throws {
    try check(form: "--macro", module: "LarderMacros")
  }

  @Test(
    "Records generated from a server without the macro compile without warnings and match their tables"
  )
  func compiledByHand() throws {
    try check(form: "--by-hand", module: "Larder")
  }

  private func check(form: String, module: String) throws {
    let tool = try Tool()
    let shop = try PostgresServer.newDatabase(ServerShop.schema)
    let db = try tool.database("chinook.db")
    try db.executeStatements(SQL(raw: SampleSchemas.chinook))
    try db.close()
    let chinook = try PostgresServer.newDatabase("")
    #expect(try tool.run("copy", "chinook.db", chinook).status == 0)
    let sources = [("Shop", shop), ("Chinook", chinook)].map { ($0 + ".swift", $0, $1) }
    for (source, space, address) in sources {
      let result = try tool.run("generate", address, form, "--inside", space, "--output", source)
      try #require(result.status == 0, "\(result.errors)")
      #expect(try !tool.text(source).contains("// Differs, since"))
    }
    let names = sources.map(\.0)
    let format = try tool.runOther(
      "swift",
      ["format", "lint", "--strict", "--configuration", BuiltModules.root + "/.swift-format"]
        + names)
    #expect(format.status == 0, "\(format.errors)")
    try tool.write("main.swift", ServerShop.program(module).utf8)
    let compiler = try tool.runOther(
      "swiftc",
      try BuiltModules.compilerArguments + BuiltModules.serverArguments + ["main.swift"]
        + names)
    try #require(compiler.status == 0, "\(compiler.output)\(compiler.errors)")
    let program = try tool.runOther("./main", [shop, chinook])
    #expect(
      program.output
        == "Shop: 9 records, 0 differences\nChinook: 11 records, 0 differences\n27 queries\n",
      "\(program.errors)")
    #expect(program.status == 0)
  }

  @Test("larder generate from a server notes columns, indexes and checks that it leaves out")
  func notes() throws {
    let tool = try Tool()
    let address = try PostgresServer.newDatabase(
      ServerShop.schema + "CREATE TABLE shape (id bigint PRIMARY KEY, place point NOT NULL);")
    let text = try tool.run("generate", address, "customer", "odd", "shape").output
    let words = text.replacingOccurrences(of: "\n// ", with: " ")
    for note in [
      "Left out: “place” is point, which a query reads as text: \"place\"::text.",
      "A record can't be inserted without it.",
      "CREATE INDEX lower_name ON", "USING gin (data)", "since the server would spell it",
      ".sqlType(\"mood\")) var m: Mood?", ".check(\"(cardinality(tags) > 0)\")",
    ] {
      #expect(words.contains(note), "\(note): \(text)")
    }
    let all = try tool.run("generate", address).output
    #expect(all.contains("@Record(\"moods\")"))
    #expect(all.contains("\"lines\""), "a materialized view has a record, as a view has")
  }

  @Test("larder generate from a server supports --check and --names, and refuses unknown tables")
  func options() throws {
    let tool = try Tool()
    let address = try PostgresServer.newDatabase(ServerShop.schema)
    let words = ["generate", address, "country", "--names", "country=Land,country.code=letters"]
    let output = ["--output", "Land.swift"]
    #expect(try tool.run(words + output + ["--check"]).status == 1)
    #expect(try tool.run(words + output).status == 0)
    #expect(try tool.run(words + output + ["--check"]).status == 0)
    let text = try tool.text("Land.swift")
    #expect(text.contains("struct Land") && text.contains("var letters: String"), "\(text)")
    #expect(!text.contains("host="))
    let db = try Database.postgres(address)
    try db.executeUpdate("ALTER TABLE country ADD motto text")
    #expect(
      try db.value("SELECT count(*) FROM pg_class WHERE relname = 'country'", as: Int.self) == 1)
    try db.close()
    #expect(try tool.run(words + output + ["--check"]).status == 1)
    let none = try tool.run("generate", address, "Country")
    #expect(none.status == 1 && none.errors.contains("no table or view “Country”"))
    #expect(try tool.run("generate", address, "--rows", "5").status == 2)
  }

  @Test("larder generate works for a role without temporary tables, with a note")
  func readOnly() throws {
    let tool = try Tool()
    let address = try PostgresServer.newDatabase(ServerShop.schema)
    let result = try tool.run(
      "generate", address + "&options=-cdefault_transaction_read_only%3Don", "country")
    #expect(result.status == 0, "\(result.errors)")
    let db = try Database.postgres(address)
    try db.executeStatements(
      """
      DO $$ BEGIN
        CREATE ROLE reader LOGIN;
        EXCEPTION WHEN duplicate_object THEN NULL;
      END $$;
      GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
      """)
    let name = try db.value("SELECT current_database()::text", as: String.self) ?? ""
    try db.executeUpdate("REVOKE TEMPORARY ON DATABASE \(identifier: name) FROM PUBLIC")
    try db.close()
    let reader = try tool.run(
      "generate", address.replacingOccurrences(of: "larder@", with: "reader@"), "country")
    #expect(reader.status == 0, "\(reader.errors)")
    #expect(reader.output.contains("struct Country"))
    #expect(reader.output.contains("// Differences that a declaration can't express"))
  }

  @Test("larder generate from a server handles hostile names, partitions and operators with ?")
  func hostile() throws {
    let tool = try Tool()
    let address = try PostgresServer.newDatabase(
      """
      CREATE TABLE "ci""ty; DROP TABLE x; --" ("class" bigint PRIMARY KEY, "a ""b" text, "é" integer);
      CREATE TABLE "City" (id bigint PRIMARY KEY, "Name" text, name text);
      CREATE TABLE city (id bigint PRIMARY KEY, other bigint REFERENCES "City");
      CREATE TABLE parted (id bigint, day date NOT NULL, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
      CREATE TABLE part PARTITION OF parted FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
      """)
    // Run without Larder, which would take the operator ? for a parameter.
    let name = address.split(separator: "?")[0].split(separator: "/").last.map(String.init) ?? ""
    try PostgresServer.shared.run(
      "CREATE TABLE question (j jsonb CHECK (j ? 'a'), k text CHECK (k ~ ':x'))", database: name)
    let found = try tool.object("generate", address)
    let records = try #require(found["records"] as? [[String: Any]])
    #expect(records.count == 5)
    #expect(Set(records.compactMap { $0["type"] as? String }).count == 5)
    let notes = records.flatMap { $0["notes"] as? [String] ?? [] }
    #expect(!notes.contains { $0.contains("Differs") || $0.contains("can't use") }, "\(notes)")
    #expect(notes.contains("Left out: “name” has the same name as another column except for case."))
    let source = try #require(found["source"] as? String)
    #expect(source.contains(".references(City.self)"))
    let table = records.first { $0["table"] as? String == "City" }
    #expect(table?["type"] as? String == "City")
  }
}

extension PostgresServer {
  /// The address of a new database with these tables.
  static func newDatabase(_ schema: String) throws -> String {
    let address = try newDatabase()
    let db = try Database.postgres(address)
    try db.executeStatements(SQL(raw: schema))
    try db.close()
    return address
  }
}
