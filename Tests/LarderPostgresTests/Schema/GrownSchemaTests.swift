import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import Testing

private struct Spot: Record, Equatable {
  var id: Int64?
  var name: String
  var mail: String?
  var area: Double?
  var note: String?

  struct Columns: Sendable {
    let id = Column("id", \Spot.id, .primaryKey)
    let name = Column("name", \Spot.name, .sqlType("character varying(80)"))
    let mail = Column("mail", \Spot.mail, .sqlType("text"))
    let area = Column("area", \Spot.area)
    let note = Column("note", \Spot.note, .sqlType("text"))
  }
  static let columns = Columns()
  static let table = Table(
    "place", Spot.init, columns.id, columns.name, columns.mail, columns.area, columns.note)
}

@Suite(
  "A grown server schema, with what no record declares",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct GrownSchemaTests {
  private let db: Database

  init() throws {
    db = try Database.postgres(try TestEngine.schema())
    try db.executeStatements(
      """
      CREATE DOMAIN mail AS text CHECK (VALUE LIKE '%@%');
      CREATE SEQUENCE numbers START 1000;
      CREATE TABLE place (
        id bigint GENERATED ALWAYS AS IDENTITY (START WITH 50) PRIMARY KEY,
        name varchar(80) NOT NULL, mail mail, area double precision,
        CONSTRAINT apart EXCLUDE USING hash (name WITH =));
      COMMENT ON TABLE place IS 'all places'; COMMENT ON COLUMN place.name IS 'in its language';
      CREATE INDEX place_words ON place USING gin (to_tsvector('simple', name));
      CREATE INDEX place_brin ON place USING brin (area);
      CREATE INDEX place_hash ON place USING hash (name);
      CREATE INDEX place_like ON place (name varchar_pattern_ops);
      CREATE INDEX place_more ON place (area) INCLUDE (name);
      COMMENT ON INDEX place_like IS 'for LIKE';
      CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN new; END;$$;
      CREATE TRIGGER touched BEFORE UPDATE ON place FOR EACH ROW EXECUTE FUNCTION touch();
      CREATE MATERIALIZED VIEW sums AS SELECT count(*) AS places FROM place;
      CREATE UNIQUE INDEX sums_places ON sums (places);
      CREATE VIEW names AS SELECT name FROM place;
      CREATE TABLE visit (day date NOT NULL, place bigint REFERENCES place) PARTITION BY RANGE (day);
      CREATE TABLE visit_2024 PARTITION OF visit FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
      CREATE TABLE visit_rest PARTITION OF visit DEFAULT;
      CREATE TABLE harbour (depth integer) INHERITS (place);
      ALTER TABLE place ENABLE ROW LEVEL SECURITY; CREATE POLICY all_rows ON place USING (true);
      INSERT INTO place (name, mail) VALUES ('Oslo', 'o@slo'), ('Bergen', NULL);
      INSERT INTO visit VALUES ('2024-05-17', 50), ('2023-05-17', 51);
      """)
  }

  /// Everything that the catalog says of the schema, apart from the columns of tables.
  private func catalog() throws -> [String] {
    try db.executeQuery(
      """
      SELECT text FROM (
        SELECT 'class ' || c.relname || ' ' || c.relkind::text || ' ' || c.relispartition
          || coalesce(' ' || pg_get_expr(c.relpartbound, c.oid), '') || c.relrowsecurity AS text
          FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace
        UNION ALL SELECT 'index ' || pg_get_indexdef(indexrelid) || indisvalid FROM pg_index i
          JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = current_schema()::regnamespace
        UNION ALL SELECT 'constraint ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
          WHERE connamespace = current_schema()::regnamespace
        UNION ALL SELECT 'trigger ' || pg_get_triggerdef(t.oid) || tgenabled::text FROM pg_trigger t
          JOIN pg_class c ON c.oid = tgrelid
          WHERE c.relnamespace = current_schema()::regnamespace AND NOT tgisinternal
        UNION ALL SELECT 'comment ' || description || objsubid FROM pg_description
          JOIN pg_class c ON c.oid = objoid AND classoid = 'pg_class'::regclass
          WHERE c.relnamespace = current_schema()::regnamespace
        UNION ALL SELECT 'inherits ' || inhrelid::regclass || ' ' || inhparent::regclass FROM pg_inherits i
          JOIN pg_class c ON c.oid = inhrelid WHERE c.relnamespace = current_schema()::regnamespace
        UNION ALL SELECT 'identity ' || attname || attidentity::text FROM pg_attribute
          WHERE attrelid = 'place'::regclass AND attidentity <> ''
        UNION ALL SELECT 'domain ' || attname || ' ' || format_type(atttypid, atttypmod) FROM pg_attribute
          WHERE attrelid = 'place'::regclass AND attname = 'mail'
        UNION ALL SELECT 'policy ' || policyname FROM pg_policies WHERE schemaname = current_schema()
        UNION ALL SELECT 'sequence ' || sequencename || start_value FROM pg_sequences
          WHERE schemaname = current_schema()
      ) AS all_texts ORDER BY text
      """
    ).map { try $0.get(at: 0) }
  }

  private func texts(_ sql: SQL) throws -> [String] {
    try db.executeQuery(sql).map { try $0.get(at: 0) }
  }

  @Test(
    "The schema shows its tables, views, materialized views and triggers; partitions are one table")
  func reading() throws {
    let schema = try Schema(db)
    #expect(schema.tables.map(\.name) == ["place", "visit", "harbour"])
    #expect(schema.others.map(\.name) == ["sums", "names", "touched"])
    #expect(schema.others[0].sql?.hasPrefix("CREATE MATERIALIZED VIEW sums AS") == true)
    #expect(schema.table("place")?.column("id")?.default == nil)
    #expect(schema.differences(from: schema) == [] && schema.steps(from: schema) == [])
  }

  @Test("No comparison with a record proposes to drop or change what it can't declare")
  func proposals() throws {
    let declared = try Schema(Spot.self, in: db)
    let found = try Schema(db)
    let differences = declared.differences(from: found).map(\.description)
    #expect(differences.filter { !$0.contains("“visit”") && !$0.contains("“harbour”") }.count == 1)
    #expect(differences[0].contains("“place”.“note”"))
    let steps = declared.steps(from: found).filter { !$0.isDestructive }
    #expect(steps.map(\.detail) == ["add the column “note” to “place”"])
    #expect(try Spot.table.differences(db).map(\.column) == ["note"])
  }

  @Test("Adding a column keeps everything")
  func adding() throws {
    let before = try catalog()
    #expect(try Spot.table.addMissingColumns(db) == ["note"])
    #expect(try catalog() == before)
    #expect(try Spot.table.differences(db) == [])
    #expect(try texts("SELECT name FROM place ORDER BY id") == ["Oslo", "Bergen"])
    #expect(try db.columnExists("note", in: "harbour"))
  }

  @Test("A rebuild, which may change types and defaults, keeps everything too")
  func rebuilding() throws {
    try db.executeStatements(
      """
      DROP VIEW names; DROP MATERIALIZED VIEW sums; DROP INDEX place_brin, place_more;
      ALTER TABLE place ALTER area TYPE real, ALTER name TYPE varchar(60);
      CREATE INDEX place_brin ON place USING brin (area);
      CREATE INDEX place_more ON place (area) INCLUDE (name);
      """)
    let before = try catalog()
    #expect(try Spot.table.rebuild(db) == 2)
    #expect(try catalog() == before)
    #expect(try Spot.table.differences(db) == [])
    #expect(
      try texts(
        "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'place'::regclass AND attname IN ('area', 'name') ORDER BY 1"
      ) == ["character varying(80)", "double precision"])
    var stavanger = Spot(id: nil, name: "Stavanger", mail: "s@v", area: 71, note: nil)
    try stavanger.insert(db)
    #expect(stavanger.id == 52)
  }

  @Test("Steps that rename a column and rebuild keep everything")
  func renaming() throws {
    let before = try catalog()
    try db.executeStatements("ALTER TABLE place RENAME COLUMN name TO title")
    try db.executeStatements("ALTER TABLE place RENAME COLUMN title TO name")
    try Spot.table.rebuild(db)
    #expect(try catalog() == before)
  }

  @Test("A serial key stays one, and its sequence gets the range of a wider type")
  func serial() throws {
    try db.executeStatements(
      """
      CREATE TABLE old (id serial PRIMARY KEY, name text COLLATE "C"); INSERT INTO old (name) VALUES ('a');
      """)
    let table = try TableSchema(
      "old", [.column("id", .integer.optional, .primaryKey), .column("name", .text)], in: db)
    #expect(
      table.differences(from: try Schema(db).table("old")).map(\.kind) == [.type, .nullability])
    try table.rebuild(db)
    #expect(table.differences(from: try Schema(db).table("old")) == [])
    #expect(table.differences(from: try Schema(db).table("old"), strictly: true).count == 1)
    #expect(
      try texts(
        "SELECT data_type::text FROM pg_sequences WHERE sequencename = 'old_id_seq' AND schemaname = current_schema()"
      )
        == ["bigint"])
    try db.executeUpdate("INSERT INTO old (name) VALUES ('b')")
    #expect(try db.value("SELECT max(id) FROM old", as: Int.self) == 2)
  }

  @Test("A materialized view is created, refreshed, read by records and dropped by its value")
  func materialized() throws {
    let totals = try SchemaEntry.view(
      "totals", materialized: true, as: "SELECT count(*) AS places FROM place WHERE id > \(0)")
    try totals.create(db)
    try totals.create(db, ifNotExists: true)
    try db.executeStatements(
      "CREATE UNIQUE INDEX totals_places ON totals (places); DELETE FROM visit; DELETE FROM place")
    #expect(try Total.fetchAll(db).map(\.places) == [2])
    #expect(try Total.table.differences(db) == [])
    try totals.refresh(db, concurrently: true)
    #expect(try Total.fetchAll(db).map(\.places) == [0])
    try db.executeUpdate("INSERT INTO place (name) VALUES ('Oslo')")
    try Migrator([Migration("refresh") { try totals.refresh($0) }]).migrate(db)
    #expect(try Total.fetchAll(db).map(\.places) == [1])
    try totals.drop(db)
    try totals.drop(db, ifExists: true)
    #expect(throws: DatabaseError.self) { try totals.refresh(db) }
    #expect(throws: UnsupportedByEngine.self) { try totals.create(Database()) }
    #expect(throws: UnsupportedByEngine.self) { try totals.refresh(Database()) }
  }

  @Test("Steps between two server schemas drop and create views, materialized views and triggers")
  func steps() throws {
    let whole = try Schema(db)
    try db.executeStatements(
      "DROP TRIGGER touched ON place; DROP MATERIALIZED VIEW sums; DROP VIEW names")
    let less = try Schema(db)
    for step in whole.steps(from: less) { try step.execute(db) }
    #expect(try whole.differences(from: Schema(db)) == [])
    for step in less.steps(from: whole) { try step.execute(db) }
    #expect(try less.differences(from: Schema(db)) == [])
  }
}

private struct Total: Record {
  var places: Int

  struct Columns: Sendable {
    let places = Column("places", \Total.places)
  }
  static let columns = Columns()
  static let table = Table("totals", Total.init, columns.places, options: .view)
}
