import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

@Suite(
  "Adopting a server's schemas that other tools have made",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct AdoptionTests {
  private let address: String
  private let db: Database

  init() throws {
    address = try PostgresServer.shared.database()
    db = try Database.postgres(address)
  }

  /// SQL in the words of pg_dump, which names the schema and empties the search path.
  private let dump: SQL = """
    SELECT pg_catalog.set_config('search_path', '', false);
    CREATE EXTENSION IF NOT EXISTS citext WITH SCHEMA public;
    CREATE TYPE public.mood AS ENUM ('calm', 'loud');
    CREATE TABLE public.city (
      id bigint NOT NULL, name public.citext NOT NULL, mood public.mood DEFAULT 'calm'::public.mood,
      area numeric(10,2));
    CREATE SEQUENCE public.city_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
    ALTER SEQUENCE public.city_id_seq OWNED BY public.city.id;
    ALTER TABLE ONLY public.city ALTER COLUMN id SET DEFAULT nextval('public.city_id_seq'::regclass);
    ALTER TABLE ONLY public.city ADD CONSTRAINT city_pkey PRIMARY KEY (id);
    CREATE TABLE public.road (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, city bigint REFERENCES public.city(id));
    CREATE INDEX road_city ON public.road USING btree (city) INCLUDE (id);
    CREATE INDEX city_search ON public.city USING gin (to_tsvector('simple'::regconfig, (name)::text));
    CREATE FUNCTION public.touch() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN new; END;$$;
    CREATE TRIGGER touched BEFORE UPDATE ON public.city FOR EACH ROW EXECUTE FUNCTION public.touch();
    CREATE VIEW public.calm AS SELECT id, name FROM public.city WHERE mood = 'calm'::public.mood;
    CREATE MATERIALIZED VIEW public.sums AS SELECT sum(area) AS area FROM public.city WITH NO DATA;
    """
  private var migrator: Migrator {
    Migrator([
      Migration("dump", sql: "SELECT 1", postgres: dump),
      Migration(
        "index", sql: "SELECT 1",
        postgres: "CREATE INDEX CONCURRENTLY city_by_area ON public.city (area)",
        inTransaction: false),
      Migration("vacuum", sql: "SELECT 1", postgres: "VACUUM public.city", inTransaction: false),
      Migration("mayor", sql: "ALTER TABLE city ADD COLUMN mayor text"),
    ])
  }

  private func makeForeign() throws {
    try db.executeStatements("SET search_path = public; \(dump); SET search_path = public")
    try db.executeStatements(
      """
      CREATE INDEX city_by_area ON city (area);
      CREATE TABLE _fluent_migrations (id uuid PRIMARY KEY, name text NOT NULL);
      INSERT INTO city (name, area) VALUES ('Oslo', 454);
      """)
  }

  @Test("A dump as the first migration is compared with the schema it was made of, and adopted")
  func dumped() throws {
    try makeForeign()
    let pool = try PostgresPool(address)
    defer { try? pool.close() }
    try migrator.migrate(pool, adopting: "vacuum")
    #expect(try migrator.applied(db).map { $0.duration == nil } == [true, true, true, false])
    #expect(try db.columnExists("mayor", in: "city"))
    #expect(try db.value("SELECT name::text FROM city", as: String.self) == "Oslo")
    let schemas = try db.executeQuery(
      "SELECT nspname::text FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1"
    ).map { try $0.get(at: 0, as: String.self) }
    #expect(schemas == ["information_schema", "public"])
    #expect(try db.value("SHOW search_path", as: String.self)?.contains("displaced") == false)
  }

  @Test("Objects that no record declares are compared as well")
  func undeclarable() throws {
    try makeForeign()
    try db.executeStatements(
      """
      DROP INDEX city_search; DROP INDEX road_city; CREATE INDEX road_city ON road (city);
      DROP TRIGGER touched ON city; DROP MATERIALIZED VIEW sums; ALTER TABLE city ALTER mood DROP DEFAULT;
      ALTER TABLE road ADD CONSTRAINT one EXCLUDE USING btree (city WITH =);
      """)
    let error = #expect(throws: MigrationError.self) {
      try migrator.migrate(db, adopting: "vacuum")
    }
    guard case .differences(_, let differences)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    let found = Set(differences.map { "\($0.kind) \($0.table) \($0.column ?? "")" })
    #expect(
      found == [
        "defaultValue city mood", "index city ", "index road city", "view sums ",
        "trigger touched ",
      ], "\(differences)")
  }

  @Test("A role that doesn't own the schema adopts it by SQL that names no schema")
  func withoutOwnership() throws {
    let name = try db.value("SELECT current_database()", as: String.self) ?? ""
    try db.executeStatements(
      """
      CREATE TABLE city (id bigint PRIMARY KEY, name text);
      CREATE ROLE adopter LOGIN; GRANT CREATE ON DATABASE \(identifier: name) TO adopter;
      GRANT ALL ON SCHEMA public TO adopter; GRANT ALL ON city TO adopter;
      """)
    let other = try Database.postgres(address.replacing("user=larder", with: "user=adopter"))
    let list = Migrator([
      Migration("city", sql: "CREATE TABLE city (id bigint PRIMARY KEY, name text)"),
      Migration("road", sql: "CREATE TABLE road (id bigint PRIMARY KEY)"),
    ])
    try list.migrate(other, adopting: "city")
    #expect(try list.pending(db) == [] && db.tableExists("road"))
    try other.close()
  }

  @Test("One of the connections that start together adopts the schema; the others go on after it")
  func together() throws {
    try makeForeign()
    let pool = try PostgresPool(address)
    defer { try? pool.close() }
    let migrator = migrator
    let threads = (0..<6).map { _ in Worker { try migrator.migrate(pool, adopting: "vacuum") } }
    for thread in threads { try thread.end() }
    #expect(try migrator.applied(db).count == 4)
  }
}
