import Larder
import PostgresSupport
import Testing

@Suite(
  "Differences of keys and constraints",
  .onlySQLite(.definitions))
struct ConstraintDifferenceTests {
  private func differences<R>(_ table: Table<R>, _ sql: SQL) throws -> [String] {
    let db = try Database.empty()
    try db.executeStatements(sql)
    return try table.differences(db).map(\.description)
  }

  @Test("Conflict clauses in a table are reported as differences, and steps remove them")
  func conflictClauses() throws {
    #expect(
      try differences(
        Country.table,
        """
        CREATE TABLE country (code TEXT PRIMARY KEY ON CONFLICT REPLACE NOT NULL ON CONFLICT ABORT,
          name TEXT NOT NULL ON CONFLICT IGNORE UNIQUE ON CONFLICT FAIL) STRICT
        """) == [
          "“country”, conflict clause: declared nothing, found primary key ( code ) ON CONFLICT REPLACE",
          "“country”, conflict clause: declared nothing, found name not null ON CONFLICT IGNORE",
          "“country”, conflict clause: declared nothing, found unique ( name ) ON CONFLICT FAIL",
        ])
    #expect(
      try differences(
        town(Column("name", \.name, .unique)),
        """
        CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL,
          CONSTRAINT names UNIQUE (name) ON CONFLICT ROLLBACK) STRICT
        """) == [
          "“town”, conflict clause: declared nothing, found unique ( name ) ON CONFLICT ROLLBACK"
        ])
    let db = try Database.empty()
    try db.executeStatements(
      "CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE ON CONFLICT IGNORE) STRICT"
    )
    let declared = Schema(tables: [try town(Column("name", \.name, .unique)).schema()])
    for step in declared.steps(from: try Schema(db)) { try step.execute(db) }
    #expect(declared.differences(from: try Schema(db)) == [])
  }

  @Test("Collations and directions of keys and UNIQUE constraints are reported as differences")
  func collations() throws {
    #expect(
      try differences(
        Country.table,
        """
        CREATE TABLE country (code TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (name COLLATE nocase),
          PRIMARY KEY (code COLLATE RTRIM DESC)) STRICT
        """) == [
          #"“country”, primary key: declared ("code"), found ("code" COLLATE RTRIM DESC)"#,
          #"“country”.“name”, index: declared UNIQUE ("name"), found nothing"#,
        ])
    #expect(
      try differences(
        City.table,
        """
        CREATE TABLE city (id INTEGER PRIMARY KEY DESC, name TEXT NOT NULL,
          population INTEGER NOT NULL) STRICT; CREATE INDEX i ON city (population)
        """) == [#"“city”, primary key: declared ("id"), found ("id" DESC)"#])
    #expect(
      try differences(
        town(Column("name", \.name, .unique, .collate("NOCASE"))),
        """
        CREATE TABLE town (id INTEGER, name TEXT COLLATE NoCase NOT NULL,
          UNIQUE (name COLLATE NOCASE), PRIMARY KEY (id)) STRICT
        """) == [])
    // Compares a key that is the row id with two that aren't, in both directions.
    let schemas = try ["INTEGER", "INT", "INTEGER DESC"].map { key in
      let db = try Database.empty()
      let words = key.split(separator: " ").joined(separator: " PRIMARY KEY ")
      let sql = key.contains(" ") ? words : words + " PRIMARY KEY"
      try db.executeStatements(SQL(raw: "CREATE TABLE t (id \(sql), a TEXT)"))
      return try Schema(db)
    }
    for (index, declared) in schemas.enumerated() {
      for (other, found) in schemas.enumerated() {
        #expect(declared.differences(from: found).isEmpty == (index == other))
      }
    }
  }
}
