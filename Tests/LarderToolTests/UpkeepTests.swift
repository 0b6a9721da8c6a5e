import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderTool

@Suite("larder backup, restore, vacuum and optimize")
struct UpkeepTests {
  @Test("larder backup copies a database, and replaces an existing file only with --replace")
  func backup() throws {
    let tool = try Tool.withCities("wal")
    let result = try tool.run("backup", "cities.db", "copy.db")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.hasPrefix("copy.db: "))
    #expect(try tool.files() == ["cities.db", "copy.db"])
    #expect(try tool.rows("copy.db", "SELECT count(*) AS n FROM city") == [["n": 300]])
    let copied = try tool.contents(of: "copy.db")
    let again = try tool.run("backup", "cities.db", "copy.db")
    #expect(again.status == 1)
    #expect(
      again.errors == "larder: copy.db: the file exists already; use --replace to replace it\n")
    #expect(try tool.contents(of: "copy.db") == copied)
    #expect(
      try tool.run("query", "cities.db", "--write", "DELETE FROM city WHERE id > 5").status == 0)
    #expect(
      try tool.object("backup", "cities.db", "copy.db", "--replace")["file"] as? String == "copy.db"
    )
    #expect(try tool.rows("copy.db", "SELECT count(*) AS n FROM city") == [["n": 5]])
  }

  @Test("larder restore takes a copy's rows, and refuses a file that isn't a database")
  func restore() throws {
    let tool = try Tool.withCities()
    #expect(try tool.run("backup", "cities.db", "copy.db").status == 0)
    #expect(try tool.run("query", "cities.db", "--write", "DELETE FROM city").status == 0)
    try tool.write("letter", String(repeating: "This is a letter. ", count: 100).utf8)
    let before = try tool.contents(of: "cities.db")
    #expect(try tool.run("restore", "cities.db", "letter").status == 3)
    #expect(try tool.run("restore", "cities.db", "missing").status == 3)
    #expect(try tool.contents(of: "cities.db") == before)
    let copy = try tool.contents(of: "copy.db")
    #expect(try tool.run("restore", "cities.db", "copy.db").status == 0)
    #expect(try tool.rows("cities.db", "SELECT count(*) AS n FROM city") == [["n": 300]])
    #expect(try tool.contents(of: "copy.db") == copy)
    #expect(try tool.files() == ["cities.db", "copy.db", "letter"])
  }

  @Test("larder backup, restore and vacuum refuse to copy a file onto itself, also by a link")
  func itself() throws {
    let tool = try Tool.withCities()
    let before = try tool.contents(of: "cities.db")
    try FileManager.default.createSymbolicLink(
      atPath: tool.file("link.db"), withDestinationPath: "cities.db")
    for words in [
      ["backup", "cities.db", "./cities.db", "--replace"], ["restore", "cities.db", "link.db"],
      ["backup", "link.db", "cities.db", "--replace"],
      ["vacuum", "cities.db", "--into", "link.db"],
    ] {
      let result = try tool.run(words)
      #expect(result.status == 2 && result.errors.contains("are the same file"), "\(words)")
    }
    #expect(try tool.contents(of: "cities.db") == before)
  }

  @Test("larder vacuum shrinks a file after rows were deleted, in place or in a copy")
  func vacuum() throws {
    let tool = try Tool.withCities("wal")
    let sql = "DELETE FROM city WHERE id > 5"
    #expect(try tool.run("query", "cities.db", "--write", sql).status == 0)
    let before = try tool.contents(of: "cities.db")
    let into = try tool.object("vacuum", "cities.db", "--into", "compact.db")
    #expect(try tool.contents(of: "cities.db") == before)
    let (was, now) = (try #require(into["before"] as? Int), try #require(into["after"] as? Int))
    #expect(was == before.count && now < was)
    #expect(try tool.rows("compact.db", "SELECT count(*) AS n FROM city") == [["n": 5]])
    #expect(try tool.run("vacuum", "cities.db", "--into", "compact.db").status == 1)
    #expect(try tool.run("vacuum", "cities.db").status == 0)
    #expect(try tool.contents(of: "cities.db").count == now)
    #expect(try tool.rows("cities.db", "SELECT count(*) AS n FROM city") == [["n": 5]])
    #expect(try tool.files() == ["cities.db", "compact.db"])
  }

  @Test("larder restore refuses a damaged copy, and larder backup reports that it made one")
  func damagedCopy() throws {
    let tool = try Tool.withCities()
    var bytes = [UInt8](try tool.contents(of: "cities.db"))
    for index in 4096..<(4096 * 3) { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
    try tool.write("bad.db", bytes)
    let before = try tool.contents(of: "cities.db")
    let restored = try tool.run("restore", "cities.db", "bad.db")
    #expect(restored.status == 3 && restored.errors.contains("bad.db: "), "\(restored)")
    #expect(restored.errors.contains("damaged"))
    #expect(try tool.contents(of: "cities.db") == before)
    let tables = try tool.run("copy", "bad.db", "tables.db")
    #expect(tables.status == 3 && tables.errors.contains("bad.db: the database is damaged"))
    #expect(try tool.files() == ["bad.db", "cities.db"])
    let copied = try tool.run("backup", "bad.db", "copy.db")
    #expect(copied.status == 3 && copied.errors.contains("damaged"), "\(copied)")
    #expect(try tool.contents(of: "copy.db").count == bytes.count)
  }

  @Test("larder optimize --all gathers statistics of all tables")
  func optimize() throws {
    let tool = try Tool.withCities()
    #expect(try tool.run("optimize", "cities.db").status == 0)
    let found = try tool.object("optimize", "cities.db", "--all")
    #expect(found["tables"] as? [String: Int] == ["city": 300, "country": 2])
  }

  @Test("larder backup, vacuum and optimize exit with status 3 for files that can't be written")
  func unwritable() throws {
    let tool = try Tool.withCities()
    let result = try tool.run("backup", "cities.db", "no/folder/copy.db")
    #expect(
      result.status == 3 && result.errors.hasPrefix("larder: no/folder/copy.db: "),
      "\(result.errors)")
    #expect(try tool.files() == ["cities.db"])
    let other = try tool.database("cities.db")
    try other.begin(.immediate)
    for words in [["vacuum", "cities.db"], ["optimize", "cities.db", "--all"]] {
      let result = try tool.run(words + ["--wait", "0"])
      #expect(
        result.status == 3 && result.errors.contains("another program is writing"), "\(words)")
    }
    try other.rollback()
  }
}
