import Foundation
import Larder
import LarderTerminal
import TestSupport
import Testing

@testable import LarderTool

@Suite("larder inspect")
struct InspectTests {
  @Test("larder inspect prints tables, rows, sizes and settings in aligned columns")
  func overview() throws {
    let tool = try Tool.withCities()
    let result = try tool.run("inspect", "cities.db")
    #expect(result.status == 0)
    #expect(result.errors.isEmpty)
    #expect(result.lines.contains("  encoding        UTF-8"))
    #expect(result.lines.contains("  journal         delete"))
    let table = result.lines.drop { !$0.hasPrefix("NAME") }
    #expect(
      table.map { $0.split(separator: " ").prefix(3).joined(separator: " ") } == [
        "NAME KIND ROWS", "city table 300", "country table, strict,", "large view –",
      ])
    #expect(!result.output.contains("\u{1B}"))
  }

  @Test(
    "larder inspect TABLE prints columns, collations and foreign keys, and ignores the name's case")
  func table() throws {
    let tool = try Tool.withCities()
    let result = try tool.run("inspect", "cities.db", "CITY")
    #expect(result.status == 0)
    for line in [
      "id          INTEGER  1    yes", "name        TEXT          no             COLLATE NOCASE",
      "country    country (code)  CASCADE    NO ACTION",
    ] { #expect(result.lines.contains(line), "\(result.output)") }
    let missing = try tool.run("inspect", "cities.db", "town")
    #expect(missing.status == 1)
    #expect(missing.errors == "larder: cities.db: there is no table or view “town”\n")
  }

  @Test("larder inspect --json gives the same schema as the library")
  func json() throws {
    let tool = try Tool.withCities("wal")
    let found = try tool.object("inspect", "cities.db")
    #expect(found["journalMode"] as? String == "wal")
    #expect(found["encoding"] as? String == "UTF-8")
    let tables = try #require(found["tables"] as? [[String: Any]])
    #expect(tables.map { $0["name"] as? String } == ["city", "country", "large"])
    let db = try tool.database("cities.db")
    for table in tables {
      let name = try #require(table["name"] as? String)
      let columns = try #require(table["columns"] as? [[String: Any]])
      #expect(
        columns.compactMap { $0["name"] as? String } == (try db.columns(of: name).map(\.name)))
    }
    let city = tables[0]
    #expect((city["rows"] as? [String: Any])?["source"] as? String == "counted")
    let pages = try db.value("SELECT sum(pgsize) FROM dbstat WHERE name = 'city'", as: Int.self)
    #expect(city["size"] as? Int == pages)
    let indexes = try #require(city["indexes"] as? [[String: Any]])
    #expect(indexes.map { $0["name"] as? String } == ["city_country"])
    #expect((indexes[0]["columns"] as? [String]) == ["country"])
    #expect((city["triggers"] as? [String]) == ["city_added"])
  }

  @Test("Without time to count, the number of rows is estimated by statistics, then by row ids")
  func estimates() throws {
    let tool = try Tool.withCities()
    let db = try tool.database("cities.db")
    try db.executeUpdate("DELETE FROM city WHERE id <= 100 OR id BETWEEN 150 AND 160")
    func count(_ table: String, hasRowID: Bool = true, _ time: Duration? = .zero) throws
      -> RowCount?
    {
      try RowCounter(db, time: time).rows(of: table, hasRowID: hasRowID)
    }
    #expect(try count("city", nil) == RowCount(rows: 189, source: .counted))
    #expect(try count("city") == RowCount(rows: 200, source: .rowIDs))
    #expect(try count("country", hasRowID: false) == nil)
    try db.executeUpdate("ANALYZE")
    try db.executeUpdate("DELETE FROM city WHERE id > 290")
    #expect(try count("city") == RowCount(rows: 189, source: .statistics))
    #expect(try count("country", hasRowID: false) == RowCount(rows: 2, source: .statistics))
    try db.executeUpdate("DELETE FROM city")
    try db.executeUpdate("DELETE FROM sqlite_stat1")
    #expect(try count("city") == RowCount(rows: 0, source: .counted))
    try db.executeUpdate(
      "INSERT INTO city (id, name) VALUES (?, 'a'), (?, 'b')", Int64.min, Int64.max)
    #expect(try count("city") == nil)
  }

  @Test("`within` interrupts a query at its time limit, and doesn't affect the next one")
  func timeLimit() throws {
    let db = try Database()
    let clock = ContinuousClock()
    let start = clock.now
    let endless: SQL = """
      WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers)
      SELECT count(*) FROM numbers
      """
    #expect(try db.within(.milliseconds(50)) { try db.value(endless, as: Int.self) } == nil)
    #expect(clock.now - start < .seconds(20))
    #expect(try db.within(.seconds(60)) { try db.value("SELECT 5", as: Int.self) } == 5)
    // A time limit that has passed doesn't interrupt the next statement.
    #expect(try db.value("SELECT 6", as: Int.self) == 6)
  }

  @Test("larder inspect prints why a view can't be read, and the other tables")
  func unusable() throws {
    let tool = try Tool.withCities()
    let db = try tool.database("cities.db")
    try db.executeUpdate("CREATE VIEW broken AS SELECT * FROM city")
    try db.executeUpdate("CREATE TABLE other (a)")
    try db.executeUpdate("CREATE VIEW gone AS SELECT a FROM other")
    try db.executeUpdate("PRAGMA legacy_alter_table = ON")
    try db.executeUpdate("DROP TABLE other")
    try db.close()
    let result = try tool.run("inspect", "cities.db")
    #expect(result.status == 0)
    #expect(result.output.contains("“gone” can't be read"), "\(result.output)\(result.errors)")
    #expect(result.output.contains("city "))
  }

  @Test(
    "`byteCount` formats sizes in bytes to TiB",
    arguments: [
      (0, "0 bytes"), (1023, "1,023 bytes"), (1024, "1.0 KiB"), (1 << 30, "1.0 GiB"),
      (Int.max, "8388608.0 TiB"),
    ])
  func sizes(bytes: Int, text: String) { #expect(bytes.byteCount == text) }
}
