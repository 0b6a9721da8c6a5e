import Larder
import PostgresSupport
import Testing

@Suite("Associations in the closures of queries")
struct CorrelatedAssociationTests {
  let db: Database
  private let world: SQLComparison

  init() throws {
    db = try .world()
    world = SQLComparison(db: db)
    try db.define(
      """
      CREATE TABLE language (code TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE spoken (country TEXT, language TEXT, PRIMARY KEY (country, language));
      INSERT INTO language VALUES ('zh'), ('nb'), ('nn'), ('fo');
      INSERT INTO spoken VALUES ('CN', 'zh'), ('NO', 'nn'), ('NO', 'nb');
      """)
  }

  @Test("HasMany of a row is a query of the surrounding query's closure")
  func hasMany() throws {
    let query = Nation.filter { Nation.places($0).exists }.order { $0.code }
    #expect(
      query.sql.text.hasSuffix(
        #"WHERE EXISTS (SELECT 1 FROM "place" WHERE "country"."code" = "place"."country") "#
          + #"ORDER BY "country"."code""#))
    try world.expect(
      query, "SELECT * FROM country WHERE code IN (SELECT country FROM place) ORDER BY code")
    try world.expect(
      Nation.filter { !Nation.places($0).filter { $0.population > 1_000_000 }.exists }
        .order { $0.code },
      """
      SELECT * FROM country WHERE code NOT IN (SELECT country FROM place WHERE population > 1000000)
      ORDER BY code
      """)
  }

  @Test("The count of an association's records is selected, compared and ordered by")
  func count() throws {
    try world.expect(
      Nation.filter { Nation.places($0).count >= 1 }
        .order { (Nation.places($0).count.desc, $0.code) }
        .select { ($0.code, Nation.places($0).count, Nation.places($0).count * 2 + 1) },
      """
      SELECT country, count(*), count(*) * 2 + 1 FROM place GROUP BY country
      ORDER BY count(*) DESC, country
      """)
  }

  @Test("The count of a limited or grouped query is that of its rows")
  func countOfLimited() throws {
    try world.expect(
      Nation.filter { $0.code == "CN" }
        .select { ($0.code, Nation.places.limit(2)($0).count, Nation.places($0).limit(1).count) },
      "SELECT code, 2, 1 FROM country WHERE code = 'CN'")
    try world.expect(
      Nation.order { $0.code }.select { ($0.code, Place.all.group { $0.country }.count) },
      "SELECT code, (SELECT count(DISTINCT country) FROM place) FROM country ORDER BY code")
  }

  @Test("BelongsTo of a row is a query of at most one record")
  func belongsTo() throws {
    try world.expect(
      Place.filter { Place.inCountry($0).filter { $0.name.hasPrefix("N") }.exists }
        .order { $0.id },
      """
      SELECT p.* FROM place p JOIN country c ON c.code = p.country WHERE c.name LIKE 'N%' ORDER BY p.id
      """)
    try world.expect(
      Place.order { $0.id }.select { ($0.id, first(of: Place.inCountry($0).select { $0.name })) },
      "SELECT p.id, c.name FROM place p LEFT JOIN country c ON c.code = p.country ORDER BY p.id")
  }

  @Test("HasManyThrough of a row joins the table between")
  func hasManyThrough() throws {
    try world.expect(
      Nation.order { $0.code }.select { ($0.code, Nation.languages($0).count) },
      """
      SELECT code, (SELECT count(*) FROM spoken WHERE spoken.country = country.code) FROM country
      ORDER BY code
      """)
    try world.expect(
      Nation.filter { Nation.languages($0).filter { $0.code == "nb" }.exists },
      "SELECT * FROM country WHERE code = 'NO'")
  }

  @Test("An association of a table with itself gets another name for the inner table")
  func ofItself() throws {
    try db.define(
      """
      CREATE TABLE division (code INTEGER PRIMARY KEY, name TEXT NOT NULL, parent INTEGER);
      INSERT INTO division VALUES (1, 'A', NULL), (2, 'B', 1), (3, 'C', 1);
      """)
    try world.expect(
      Division.filter { Division.parts($0).exists }.order { $0.code },
      "SELECT * FROM division d WHERE d.code IN (SELECT parent FROM division) ORDER BY d.code")
    try world.expect(
      Division.order { $0.code }
        .select { ($0.code, first(of: Division.whole($0).select { $0.name })) },
      """
      SELECT d.code, whole.name FROM division d LEFT JOIN division whole ON whole.code = d.parent
      ORDER BY d.code
      """)
  }

  @Test("A row that a left join lacks has no related records")
  func optionalRow() throws {
    try world.expect(
      Nation.leftJoin(Place.self) { $0.capital == $1.name }
        .order { nation, _ in nation.code }
        .select { nation, place in (nation.code, Place.inCountry(place).count) },
      """
      SELECT c.code, count(p.id) FROM country c LEFT JOIN place p ON p.name = c.capital
      GROUP BY c.code ORDER BY c.code
      """)
  }

  @Test("Rows come in batches, the last of which is shorter")
  func batches() throws {
    var sizes: [Int] = []
    try Place.order { $0.id }.forEach(db, batchesOf: 3) { sizes.append($0.count) }
    #expect(sizes == [3, 1])
    sizes = []
    try Place.order { $0.id }.select { $0.name }.forEach(db, batchesOf: 2) {
      sizes.append($0.count)
    }
    #expect(sizes == [2, 2])
    sizes = []
    try Place.all.forEach(db, batchesOf: 0) { sizes.append($0.count) }
    #expect(sizes == [1, 1, 1, 1])
    try Place.filter { $0.id < 0 }.forEach(db, batchesOf: 3) { _ in Issue.record("no rows") }
  }

  @Test("A common table of a compound query is joined like one of a selection")
  func compoundTable() throws {
    let codes = CommonTable(
      "codes",
      Nation.filter { $0.code == "NO" }.select { ($0.code, $0.name) }
        .union(Nation.filter { $0.code == "CN" }.select { ($0.code, $0.name) }))
    try world.expect(
      Place.all.join(common: codes) { $0.country == $1.columns.0 }
        .order { place, _ in place.id }.select { ($0.id, $1.columns.1) },
      """
      SELECT p.id, c.name FROM place p JOIN country c ON c.code = p.country
      WHERE c.code IN ('NO', 'CN') ORDER BY p.id
      """)
  }
}
