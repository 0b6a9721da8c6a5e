import Foundation
import Larder
import PostgresSupport
import Testing

private struct Part: Record, Equatable {
  var id: Int64?
  var weight: Int
  var words: String

  struct Columns: Sendable {
    let id = Column("id", \Part.id, .primaryKey)
    let weight = Column("weight", \Part.weight)
    let words = Column("words", \Part.words, .indexed)
  }
  static let columns = Columns()
  static let table = Table("part", Part.init, columns.id, columns.weight, columns.words)
}

@Suite(
  "Rebuilding a table on a server", .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct AlterationTests {
  private let db: Database

  init() throws {
    db = try Database.postgres(try TestEngine.schema())
    try Country.table.create(db)
  }

  private func rows(_ sql: SQL) throws -> [[DatabaseValue]] {
    try db.executeQuery(sql).map { row in
      try (0..<row.columnCount).map { try row.get(at: $0) }
    }
  }

  @Test(
    "A rebuild makes another program's table as declared, and keeps its rows and references"
  )
  func everything() throws {
    try db.executeStatements(
      """
      INSERT INTO country VALUES ('NO');
      CREATE TABLE town (
        id integer PRIMARY KEY, "Name" varchar(80), inhabitants text UNIQUE, area text,
        country text REFERENCES country, day date, shout text,
        CHECK (length(inhabitants) < 20));
      CREATE TABLE road (town integer REFERENCES town ON DELETE CASCADE);
      CREATE INDEX kept ON town (lower("Name"));
      CREATE INDEX town_big ON town (day);
      INSERT INTO town VALUES (7, 'Oslo', '709037', '454', 'NO', '1048-01-01', 'x'),
        (3, 'Bergen', '291940', NULL, NULL, '1070-05-01', 'y');
      INSERT INTO road VALUES (7);
      """)
    #expect(throws: SchemaError.losesColumns(table: "town", columns: ["shout"])) {
      try Town.table.rebuild(
        db,
        copying: [
          "population": "CAST(inhabitants AS bigint) + \(1)",
          "day": "CAST(day AS text) || 'T00:00:00.000Z'", "code": "gen_random_uuid()",
        ])
    }
    let count = try Town.table.rebuild(
      db,
      copying: [
        "population": "CAST(inhabitants AS bigint) + \(1)",
        "day": "CAST(day AS text) || 'T00:00:00.000Z'", "code": "gen_random_uuid()",
      ], losing: .columns)
    #expect(count == 2)
    let left = try Town.table.differences(db)
    #expect(left == [], "\(left)")
    var oslo = try Town.find(db, 7)
    #expect(oslo.population == 709_038 && oslo.area == 454 && oslo.shout == "OSLO")
    #expect(oslo.day == Date(timeIntervalSince1970: -29_095_545_600), "\(oslo.day)")
    #expect(try db.value("SELECT count(*) FROM road", as: Int.self) == 1)
    #expect(try db.indexes(of: "town").contains { $0.name == "kept" })
    // Chosen keys follow the existing ones.
    oslo.id = nil
    oslo.name = "Stavanger"
    oslo.population = 5
    try oslo.insert(db)
    #expect(oslo.id == 8)
  }

  @Test(
    "A rebuild on a server throws if a value would change, and names its row",
    arguments: [
      ("text", "'007'"), ("text", "' 5'"), ("double precision", "1.5"), ("numeric", "0.5"),
    ])
  func changedValues(type: String, value: String) throws {
    try db.executeStatements(
      SQL(
        raw: """
          CREATE TABLE number (id bigint PRIMARY KEY, value \(type) NOT NULL);
          INSERT INTO number VALUES (5, '6'), (9, \(value));
          """))
    let table = try TableSchema(
      "number", [.column("id", .integer, .primaryKey), .column("value", .integer)], in: db)
    #expect(
      throws: SchemaError.changesValues(table: "number", column: "value", count: 1, rows: [[9]])
    ) {
      try table.rebuild(db)
    }
    #expect(try db.columns(of: "number")[1].type == type)
    #expect(try table.rebuild(db, losing: .values) == 2)
    #expect(try table.differences(from: Schema(db).table("number")) == [])
    #expect(try rows("SELECT value FROM number ORDER BY id")[0] == [6])
  }

  @Test("A rebuild that isn't possible throws, and leaves the table as it was")
  func refused() throws {
    try db.executeStatements(
      """
      CREATE TABLE number (
        id bigint PRIMARY KEY, value text COLLATE "C", more text COLLATE "C");
      INSERT INTO number VALUES (1, 'one', 'x'), (2, NULL, 'y');
      CREATE VIEW numbers AS SELECT more FROM number;
      """)
    let before = try Schema(db)
    func table(_ columns: ColumnDefinition...) throws -> TableSchema {
      try TableSchema("number", [.column("id", .integer, .primaryKey)] + columns, in: db)
    }
    let more = ColumnDefinition.column("more", .text.optional)
    // The text isn't a number.
    #expect(throws: DatabaseError.self) {
      try table(.column("value", .integer.optional), more).rebuild(db)
    }
    // The column has a NULL.
    let broken = #expect(throws: DatabaseError.self) {
      try table(.column("value", .text), more).rebuild(db)
    }
    #expect(broken?.constraint?.kind == .notNull)
    // A view needs the dropped column.
    #expect(throws: DatabaseError.self) {
      try table(.column("value", .text.optional)).rebuild(db, losing: .columns)
    }
    #expect(throws: SchemaError.losesColumns(table: "number", columns: ["value"])) {
      try table(more).rebuild(db)
    }
    #expect(throws: SchemaError.needsValue(table: "number", column: "new")) {
      try table(.column("value", .text.optional), more, .column("new", .text)).rebuild(db)
    }
    #expect(throws: SchemaError.noSuchColumn(table: "number", column: "nothing")) {
      try table(.column("value", .text.optional), more).rebuild(db, copying: ["nothing": "1"])
    }
    #expect(throws: UnsupportedByEngine.self) {
      try table(.column("value", .text), more).rebuild(db, losing: .rows)
    }
    #expect(throws: SchemaError.noTable("nowhere")) {
      try TableSchema("nowhere", [.column("id", .integer, .primaryKey)], in: db).rebuild(db)
    }
    #expect(try Schema(db) == before)
  }

  @Test("Rebuild expressions see the old row, and triggers don't run")
  func exchange() throws {
    try db.executeStatements(
      """
      CREATE TABLE pair (id bigint PRIMARY KEY, a bigint NOT NULL, b text COLLATE "C" NOT NULL);
      INSERT INTO pair VALUES (1, 5, '6');
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'no; not now'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE OR INSERT OR DELETE ON pair
        FOR EACH ROW EXECUTE FUNCTION refuse();
      """)
    let pair = try TableSchema(
      "pair",
      [.column("id", .integer, .primaryKey), .column("a", .text), .column("b", .integer)], in: db)
    try pair.rebuild(db, copying: ["A": "CAST(a AS text) || b", "b": "a + CAST(b AS bigint)"])
    #expect(try rows("SELECT * FROM pair") == [[1, "56", 11]])
    #expect(try db.schema().contains { $0.kind == .trigger && $0.name == "refuse" })
  }

  @Test("A rebuild replaces constraints and keys, and drops surplus ones")
  func constraints() throws {
    try db.executeStatements(
      """
      CREATE TABLE town (
        a bigint NOT NULL, b text COLLATE "C" NOT NULL, c text COLLATE "C" UNIQUE,
        PRIMARY KEY (a, b), CHECK (a > 5), FOREIGN KEY (c) REFERENCES country);
      INSERT INTO town VALUES (6, 'x', NULL);
      """)
    let table = try TableSchema(
      "town",
      [
        .column("a", .integer, .primaryKey, .check("a > 4")), .column("b", .text, .unique),
        .column(
          "c", .text.optional, .references("country", column: "code", onDelete: .setNull)),
      ], in: db)
    try table.rebuild(db)
    #expect(try table.differences(from: Schema(db).table("town")) == [])
    #expect(try rows("SELECT * FROM town") == [[6, "x", .null]])
  }

  @Test(
    "A rebuild that keeps a column's type rewrites only changed rows, and views may use it"
  )
  func sameType() throws {
    try db.executeStatements(
      """
      CREATE TABLE part (
        id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, weight BIGINT,
        words TEXT COLLATE "C" NOT NULL);
      CREATE VIEW heavy AS SELECT weight FROM part WHERE weight > 1;
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'seen'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON part FOR EACH ROW EXECUTE FUNCTION refuse();
      CREATE TRIGGER always AFTER UPDATE ON part FOR EACH ROW EXECUTE FUNCTION refuse();
      ALTER TABLE part ENABLE ALWAYS TRIGGER always;
      CREATE INDEX part_words ON part USING gin (to_tsvector('simple', words));
      INSERT INTO part (weight, words) VALUES (NULL, 'a'), (5, 'b');
      """)
    func state() throws -> [[DatabaseValue]] {
      try rows(
        """
        SELECT relfilenode::bigint, (SELECT string_agg(tgname::text || tgenabled::text, ' ' ORDER BY tgname)
          FROM pg_trigger WHERE tgrelid = c.oid), (SELECT xmin::text FROM part WHERE weight = 5)
        FROM pg_class c WHERE c.oid = 'part'::regclass
        """)
    }
    let before = try state()
    #expect(try Part.table.rebuild(db, copying: ["weight": "coalesce(weight, \(7))"]) == 2)
    #expect(try state() == before)
    let parts = try Part.all.order { $0.id }.fetchAll(db)
    #expect(parts.map(\.weight) == [7, 5])
    #expect(try Part.table.differences(db).isEmpty)
    // Somebody made another kind of index under the declared one's name on purpose, so it is kept.
    let method = try rows(
      "SELECT amname::text FROM pg_class c JOIN pg_am m ON m.oid = relam WHERE relname = 'part_words'"
    )
    #expect(method == [["gin"]])
  }
}
