import TestSupport
import Testing

@testable import LarderSQLite

@Suite("Observed values of pragmas, shadow tables and dbstat", .promptly)
struct ObservedCatalogTests {
  struct Seen: Sendable, CustomStringConvertible {
    var schema = ""
    let read: String
    let write: String
    var description: String { read }
  }

  private func open(_ schema: String) async throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.trustsSchema = true
    configuration.foreignKeys = false
    let access = try DatabaseQueue(configuration: configuration)
    try await access.inDatabase { db in
      try createCities(in: db)
      try db.executeStatements(SQL(raw: schema))
    }
    return access
  }

  static let all: [Seen] = [
    Seen(
      read: "SELECT count(*) FROM pragma_table_info('city')",
      write: "ALTER TABLE city ADD COLUMN x"),
    Seen(
      schema: "CREATE TABLE p (c REFERENCES city (id));",
      read: "SELECT rowid FROM pragma_foreign_key_check", write: "INSERT INTO p VALUES (99)"),
    Seen(
      schema: "CREATE TABLE p (c REFERENCES city (id));",
      read: "PRAGMA foreign_key_check", write: "INSERT INTO p VALUES (99)"),
    Seen(
      read: "SELECT page_count FROM pragma_page_count",
      write: "INSERT INTO city (name) VALUES (hex(zeroblob(100000)))"),
    Seen(
      read: "SELECT count(*) FROM pragma_index_list('city')",
      write: "CREATE INDEX i ON city (area)"),
    Seen(
      schema: "ANALYZE;", read: "SELECT stat FROM sqlite_stat1 WHERE tbl = 'city'",
      write: "INSERT INTO city (name) VALUES ('x'); ANALYZE"),
    Seen(
      schema: "CREATE VIRTUAL TABLE f USING fts5(t);", read: "SELECT count(*) FROM f_content",
      write: "INSERT INTO f VALUES ('one')"),
    Seen(
      schema: "CREATE VIRTUAL TABLE f USING fts5(t);", read: "SELECT * FROM f_docsize",
      write: "INSERT INTO f VALUES ('one')"),
    Seen(
      schema: "CREATE VIRTUAL TABLE r USING rtree(id, a, b);",
      read: "SELECT count(*) FROM r_rowid", write: "INSERT INTO r VALUES (1, 1, 2)"),
    Seen(
      schema:
        "CREATE VIRTUAL TABLE f USING fts5(name, content='city', content_rowid='id'); INSERT INTO f(f) VALUES ('rebuild');",
      read: "SELECT name FROM f WHERE rowid = 1", write: "UPDATE city SET name = 'x' WHERE id = 1"),
    Seen(
      schema:
        "CREATE VIEW v AS SELECT id, name FROM city; CREATE VIRTUAL TABLE f USING fts5(name, content = \"v\", content_rowid=id); INSERT INTO f(f) VALUES ('rebuild');",
      read: "SELECT name FROM f WHERE rowid = 1", write: "UPDATE city SET name = 'x' WHERE id = 1"),
    Seen(
      schema: "CREATE VIRTUAL TABLE f USING fts4(content=city, name);",
      read: "SELECT name FROM f WHERE docid = 1", write: "UPDATE city SET name = 'x' WHERE id = 1"),
  ]

  @Test(
    "A value read from a pragma, statistics or a shadow table is updated when a write changes it",
    arguments: all)
  func seen(_ seen: Seen) async throws {
    let access = try await open(seen.schema)
    // Virtual tables compile their own statements when first used; this does it before the test.
    for _ in 0..<2 {
      try await access.inDatabase { db in
        db.collectRegions()
        _ = try db.texts(SQL(raw: "SELECT quote(x) FROM (\(Self.asQuery(seen.read)))"))
        try? db.inTransaction { db in
          try db.executeStatements(SQL(raw: seen.write))
          throw CancellationError()
        }
      }
    }
    let values = ObservedReads(access) { db in
      try db.executeQuery(SQL(raw: seen.read)).map { row in
        try (0..<row.columnCount).map { try row.get(at: $0, as: DatabaseValue.self) }
      }
    }
    let first = try await values.next()
    try await access.inDatabase { try $0.executeStatements(SQL(raw: seen.write)) }
    #expect(try await values.next() != first)
  }

  private static func asQuery(_ read: String) -> String {
    read.hasPrefix("PRAGMA") ? "SELECT 1 AS x" : "SELECT 1 AS x FROM (\(read))"
  }

  @Test("Values read from dbstat are updated when a table grows", .needsDatabaseStatistics)
  func pages() async throws {
    let access = try await open("")
    let sizes = ObservedReads(access) {
      try $0.value("SELECT sum(payload) FROM dbstat WHERE name = 'city'", as: Int.self)
    }
    let counts = ObservedReads(access) { try $0.value("SELECT count(*) FROM dbstat", as: Int.self) }
    let (size, count) = (try await sizes.next(), try await counts.next())
    try await access.inDatabase {
      try $0.executeUpdate("INSERT INTO city (name) VALUES (hex(zeroblob(10000)))")
    }
    #expect(try await sizes.next() != size)
    #expect(try await counts.next() != count)
  }

  @Test("A value that uses `json_each` isn't read again when an unrelated table changes")
  func otherTables() async throws {
    let access = try await open(
      "CREATE TABLE j (d); INSERT INTO j VALUES ('[1,2]'); CREATE TABLE other (a);")
    let values = ObservedReads(access) {
      try $0.value("SELECT sum(value) FROM j, json_each(d)", as: Int.self)
    }
    #expect(try await values.next() == 3)
    try await access.inTransaction { try $0.executeUpdate("INSERT INTO other VALUES (1)") }
    try await access.inTransaction { try $0.executeUpdate("UPDATE j SET d = '[3, 4]'") }
    #expect(try await values.next() == 7)
    #expect(values.count == 2)
  }
}
