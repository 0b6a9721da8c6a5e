import Larder
import PostgresSupport
import Testing

@Suite("Text with NUL")
struct TextWithNULTests {
  @Test(
    "hasPrefix, hasSuffix and contains compare text with NULs byte by byte, in both encodings",
    .onlySQLite(.nul),
    arguments: ["UTF-8", "UTF-16le"])
  func parts(encoding: String) throws {
    let db = try Database.empty()
    try db.executeUpdate(SQL(raw: "PRAGMA encoding = '\(encoding)'"))
    try db.executeUpdate(City.creation)
    let names = ["Os\0lo", "Oslo\0", "\0", "Os\0北京", "lo", "l\0o", "Os", ""]
    try City.insert(db, contentsOf: names.map { City(id: nil, name: $0, population: 1) })
    for part in names + ["o", "京", "\0lo", "0", "🇳🇴"] {
      let ending = try City.filter { $0.name.hasSuffix(part) }.order { $0.id }.fetchAll(db)
      #expect(ending.map(\.name) == names.filter { $0.hasSuffix(part) }, "\(part.debugDescription)")
      let others = try City.filter { !$0.name.hasSuffix(part) }.fetchCount(db)
      #expect(others == names.count - ending.count)
      let beginning = try City.filter { $0.name.hasPrefix(part) }.order { $0.id }.fetchAll(db)
      #expect(beginning.map(\.name) == names.filter { $0.hasPrefix(part) })
      let having = try City.filter { $0.name.contains(part) }.order { $0.id }.fetchAll(db)
      #expect(having.map(\.name) == names.filter { part.isEmpty || $0.contains(part) })
    }
  }

  @Test("hasSuffix with NOCASE finds a suffix in another case")
  func collation() throws {
    let db = try City.norway()
    #expect(try City.filter { $0.name.collate("NOCASE").hasSuffix("LO") }.fetchCount(db) == 1)
  }
}
