import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

/// Databases that other tools have made, as SQL in `Golden/foreign` (see `Tests/ForeignSchemas/make`).
enum ForeignSchema: String, CaseIterable, CustomTestStringConvertible {
  case django, alembic, rails, fluent

  var testDescription: String { rawValue }
  /// The name of the enum around the generated records.
  var space: String { rawValue.capitalized }

  /// - Parameter engine: `sqlite` or `postgres`.
  func sql(_ engine: String) throws -> String {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let file = folder.appendingPathComponent("Golden/foreign/\(rawValue).\(engine).sql")
    let text = try String(contentsOf: file, encoding: .utf8)
    guard engine == "sqlite" else { return text }
    // The shell's transaction and settings, and a table that SQLite makes by itself.
    return text.split(separator: "\n").filter { line in
      !["BEGIN", "COMMIT", "PRAGMA", "DELETE FROM sqlite_sequence", "INSERT INTO sqlite_sequence"]
        .contains(where: line.hasPrefix)
    }.joined(separator: "\n")
  }
}

@Suite("Databases that Django, SQLAlchemy, Rails and Fluent have made", .serialized)
struct ForeignSchemaTests {
  private static let migration = "its SQL"

  private func migrator(_ tool: ForeignSchema) throws -> Migrator {
    Migrator([
      Migration(
        Self.migration, sql: SQL(raw: try tool.sql("sqlite")),
        postgres: SQL(raw: try tool.sql("postgres"))),
      Migration("next", sql: "CREATE TABLE next (id INTEGER PRIMARY KEY)"),
    ])
  }

  /// Adds a column that the migrations don't make, and expects that it is named.
  private func checkRefusal(_ migrator: Migrator, _ db: Database) throws {
    let table = try #require(try Schema(db).tables.last { !$0.name.contains("migration") })
    let sql: SQL = "ALTER TABLE \(identifier: table.name) ADD COLUMN surplus INTEGER"
    try db.executeStatements(sql)
    let error = #expect(throws: MigrationError.self) {
      try migrator.migrate(db, adopting: Self.migration)
    }
    #expect("\(String(describing: error))".contains("surplus"))
    try db.executeStatements("ALTER TABLE \(identifier: table.name) DROP COLUMN surplus")
  }

  @Test("A tool's SQLite file is adopted as it is", arguments: ForeignSchema.allCases)
  func adoptedFile(_ tool: ForeignSchema) throws {
    let db = try Database()
    try db.executeStatements(SQL(raw: tool.sql("sqlite")))
    let migrator = try migrator(tool)
    try checkRefusal(migrator, db)
    try migrator.migrate(db, adopting: Self.migration)
    #expect(try migrator.applied(db).map { $0.duration == nil } == [true, false])
  }

  @Test(
    "A tool's schema on a server is adopted by its dump", .enabled(if: PostgresServer.isInstalled),
    arguments: ForeignSchema.allCases)
  func adoptedSchema(_ tool: ForeignSchema) throws {
    let db = try Database.postgres(PostgresServer.newDatabase(try tool.sql("postgres")))
    let migrator = try migrator(tool)
    try checkRefusal(migrator, db)
    try migrator.migrate(db, adopting: Self.migration)
    #expect(try migrator.applied(db).map { $0.duration == nil } == [true, false])
    try db.close()
  }

  @Test(
    "Records generated from the tools' databases match their tables, and rows keep each byte",
    .enabled(if: PostgresServer.isInstalled))
  func generated() throws {
    let tool = try Tool()
    var sources = ["main.swift"]
    var places: [String] = []
    var checks: [String] = []
    for (engine, source) in ForeignSchema.allCases.flatMap({ [("sqlite", $0), ("postgres", $0)] }) {
      let place: String
      if engine == "sqlite" {
        place = "\(source.rawValue).db"
        let db = try tool.database(place)
        try db.executeStatements(SQL(raw: source.sql(engine)))
        try db.close()
      } else {
        place = try PostgresServer.newDatabase(source.sql(engine))
      }
      let space = source.space + engine.capitalized
      let file = "\(space).swift"
      let result = try tool.run(
        "generate", place, "--by-hand", "--inside", space, "--output", file)
      try #require(result.status == 0, "\(result.errors)")
      let text = try tool.text(file)
      #expect(!text.contains("// Differs, since"), "\(text)")
      #expect(!text.contains("Larder can't use this declaration"), "\(text)")
      checks += text.matches(of: /struct (\w+): Record/).map {
        "try check(\(space).\($0.1).self, \(places.count))"
      }
      places.append(place)
      sources.append(file)
    }
    try tool.write("main.swift", Self.program(checks).utf8)
    let compiler = try tool.runOther(
      "swiftc", try BuiltModules.compilerArguments + BuiltModules.serverArguments + sources)
    try #require(compiler.status == 0, "\(compiler.output)\(compiler.errors)")
    let program = try tool.runOther("./main", places)
    #expect(program.output == "\(checks.count) records\n", "\(program.errors)")
    #expect(program.status == 0)
  }

  /// A program that compares each record's table, writes each row again, and compares the rows' text.
  private static func program(_ checks: [String]) -> String {
    #"""
    import Foundation
    import Larder
    import LarderPostgres

    let places = Array(CommandLine.arguments.dropFirst())
    let stores: [any DatabaseAccess] = try places.map {
      if $0.contains(":") { return try PostgresPool($0) }
      return try DatabaseQueue(path: $0)
    }
    var count = 0

    /// JSON is written with sorted keys and without spaces, which means the same.
    func normalized(_ text: String) -> String {
      guard text.hasPrefix("{"),
        let value = try? JSONSerialization.jsonObject(with: Data(text.utf8)),
        let data = try? JSONSerialization.data(withJSONObject: value, options: .sortedKeys)
      else { return text }
      return String(decoding: data, as: UTF8.self)
    }

    func rows(
      _ table: String, _ columns: [String], _ db: Database, isFile: Bool
    ) throws -> [[String]] {
      let texts = columns.map {
        isFile
          ? "CASE typeof(\"\($0)\") WHEN 'text' THEN \"\($0)\" ELSE quote(\"\($0)\") END"
          : "coalesce(\"\($0)\"::text, 'NULL')"
      }
      let sql = "SELECT \(texts.joined(separator: ", ")) FROM \"\(table)\" ORDER BY 1"
      return try db.executeQuery(SQL(raw: sql)).map { row in
        try columns.indices.map { normalized(try row.get(at: $0)) }
      }
    }

    @MainActor
    func check<R: Record>(_ type: R.Type, _ place: Int) throws {
      count += 1
      let isFile = !places[place].contains(":")
      try stores[place].inDatabase { try check(type, $0, isFile: isFile) }
    }

    func check<R: Record>(_ type: R.Type, _ db: Database, isFile: Bool) throws {
      let differences = try type.table.differences(db)
      if !differences.isEmpty { print(type, differences) }
      let before = try rows(type.table.name, type.table.columnNames, db, isFile: isFile)
      let records = try R.fetchAll(db)
      if records.count != before.count { print(type, "has", records.count, "of", before.count, "rows") }
      if !type.table.findSQL.hasSuffix("WHERE ") {
        for record in records {
          var record = record
          do { try record.update(db) } catch { print(type, error) }
        }
      }
      let after = try rows(type.table.name, type.table.columnNames, db, isFile: isFile)
      if after != before { print(type, before, after) }
    }

    \#(checks.joined(separator: "\n"))
    print(count, "records")
    """#
  }
}
