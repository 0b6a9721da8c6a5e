import Foundation
import Larder
import Testing

@Suite("larder browse")
struct BrowseTests {
  /// The content that the page's script reads.
  private func content(_ page: String) throws -> [String: Any] {
    let start = try #require(page.range(of: #"id="data">"#)).upperBound
    let end = try #require(page[start...].range(of: "</script>")).lowerBound
    let object = try JSONSerialization.jsonObject(with: Data(page[start..<end].utf8))
    return try #require(object as? [String: Any])
  }

  private func tables(_ page: String) throws -> [[String: Any]] {
    try #require(try content(page)["tables"] as? [[String: Any]])
  }

  @Test(
    "larder browse writes one page with the schema's picture, rows and findings, and no addresses")
  func page() throws {
    let tool = try Tool.withCities()
    try tool.make("cities.db", "UPDATE city SET population = 'many' WHERE id = 7")
    let before = try tool.contents(of: "cities.db")
    let result = try tool.run("browse", "cities.db", "--rows", "10", "--output", "cities.html")
    #expect(result.output == "cities.html: 3 tables\n", "\(result.errors)")
    let page = try tool.text("cities.html")
    #expect(try tool.run("browse", "cities.db", "--rows", "10").output == page)
    #expect(page.contains("<svg xmlns=") && page.contains("default-src 'none'"))
    let addresses = page.matches(of: /(?:https?:|src=|href=|@import|url\()[^ >]*/).map { "\($0.0)" }
    #expect(addresses == ["http://www.w3.org/2000/svg\""])
    let tables = try tables(page)
    #expect(tables.compactMap { $0["name"] as? String }.sorted() == ["city", "country", "large"])
    let city = try #require(tables.first { $0["name"] as? String == "city" })
    let rows = try #require(city["rows"] as? [[Any]])
    #expect(
      rows.count == 10 && rows[6][3] as? String == "many" && rows[0][1] as? String == "City 1")
    #expect(city["rowCount"] as? String == "300")
    let findings = try #require(try content(page)["findings"] as? [[String: Any]])
    #expect(findings.map { $0["rule"] as? String } == ["text-in-number"])
    #expect(try tool.contents(of: "cities.db") == before)
    #expect(try tool.files() == ["cities.db", "cities.html"])
  }

  private static let browser = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  @Test(
    "A browser shows the table that the address of a page of larder browse names, and else the picture",
    .enabled(if: BrowseTests.browser != nil, "Chromium isn't installed"))
  func shown() throws {
    let browser = try #require(Self.browser)
    let tool = try Tool.withCities()
    #expect(try tool.run("browse", "cities.db", "--output", "cities.html").status == 0)
    func dom(_ fragment: String) throws -> String {
      try tool.runOther(
        browser,
        [
          "--headless=new", "--no-sandbox", "--disable-gpu",
          "--user-data-dir=" + tool.file("profile"),
          "--dump-dom", "file://" + tool.file("cities.html") + fragment,
        ]
      ).output
    }
    let table = try dom("#city")
    #expect(table.contains("<td>City 1</td>"), "\(table.prefix(200))")
    #expect(table.contains("300 rows, 200 shown"))
    #expect(table.contains(#"aria-current="true">city<small>300</small>"#))
    let picture = try dom("")
    #expect(picture.contains(#"<div class="frame"><svg"#) && !picture.contains("<td>City 1</td>"))
  }

  @Test("No name or value in a page of larder browse becomes markup")
  func hostile() throws {
    let tool = try Tool()
    let bad = "</script><script>alert(1)</script><!--"
    let db = try tool.database(bad.filter { $0 != "/" } + ".db")
    try db.executeUpdate("CREATE TABLE \(identifier: bad) (\(identifier: bad) TEXT)")
    try db.executeUpdate("INSERT INTO \(identifier: bad) VALUES (\(bad))")
    try db.executeUpdate("CREATE VIEW broken AS SELECT * FROM \(identifier: bad + "x")")
    try db.close()
    let page = try tool.run("browse", bad.filter { $0 != "/" } + ".db").output
    #expect(page.components(separatedBy: "<script").count == 3)
    #expect(page.components(separatedBy: "</script>").count == 3)
    #expect(!page.contains("<!--") && page.components(separatedBy: "<title>").count >= 2)
    let table = try #require(try tables(page).first { $0["name"] as? String == bad })
    #expect(table["rows"] as? [[String]] == [[bad]])
    let view = try #require(try tables(page).first { $0["name"] as? String == "broken" })
    #expect(view["problem"] is String)
  }

  @Test("A page of larder browse holds every kind of value, and only the beginning of long ones")
  func values() throws {
    let tool = try Tool()
    let long = String(repeating: "é", count: 2000)
    try tool.make(
      "a.db",
      """
      CREATE TABLE t (x);
      INSERT INTO t VALUES (NULL), (1), (9007199254740993), (1.5), (9e999), ('\(long)'), (x'000F'),
        (zeroblob(100)), (CAST(x'FF41' AS TEXT));
      """)
    let page = try tool.run("browse", "a.db").output
    let rows = try #require(try tables(page).first?["rows"] as? [[Any]]).map { $0[0] }
    #expect(rows[0] is NSNull && rows[1] as? Int == 1 && rows[3] as? Double == 1.5)
    #expect(rows[2] as? [String: String] == ["integer": "9007199254740993"])
    #expect(rows[4] as? String == "inf" && rows[8] as? String == "\u{FFFD}A")
    let text = try #require(rows[5] as? [String: Any])
    #expect((text["text"] as? String)?.count == 1000 && text["length"] as? Int == 2000)
    let blobs = [rows[6], rows[7]].compactMap { $0 as? [String: Any] }
    #expect(blobs.map { $0["blob"] as? String } == ["000f", String(repeating: "0", count: 32)])
    #expect(blobs.map { $0["bytes"] as? Int } == [2, 100])
  }

  @Test("larder browse of a view with an endless query still ends, and says that rows are missing")
  func endless() throws {
    let tool = try Tool.with(
      """
      CREATE VIEW endless AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
        SELECT i FROM n WHERE i < 0;
      """)
    let page = try tool.run("browse", "data.db").output
    #expect(
      try tables(page).first?["problem"] as? String == "reading more rows would take too long")
  }

  @Test("larder browse refuses to write over a database")
  func output() throws {
    let tool = try Tool.withCities()
    let result = try tool.run("browse", "cities.db", "--output", "cities.db")
    #expect(result.status == 2 && result.errors.contains("the same file"), "\(result.errors)")
  }
}
