import Foundation
import Larder
import TestSupport
import Testing

/// Every command that takes a file, with the rest of its arguments.
private let reading: [[String]] = [
  ["inspect", "FILE"], ["query", "FILE", "SELECT 1"], ["explain", "FILE", "SELECT 1"],
  ["schema", "FILE"], ["generate", "FILE"], ["diff", "FILE", "FILE"], ["diagram", "FILE"],
  ["check", "FILE"], ["export", "FILE", "city"], ["migrate", "status", "FILE"],
]

/// Commands that write. They refuse the same files.
private let writing: [[String]] = [
  ["backup", "FILE", "copy.db"], ["restore", "FILE", "FILE"], ["vacuum", "FILE"],
  ["optimize", "FILE"], ["query", "FILE", "SELECT 1", "--write"],
  ["import", "FILE", "city", "/dev/null", "--jsonl"], ["copy", "FILE", "made.db"],
]

@Suite("Files that the larder command can't read")
struct BadFileTests {
  /// Runs all commands on a file. Each must exit with status 3 and a one-line error, and not change the file.
  private func expect(_ message: String, of name: String, in tool: Tool) throws {
    let files = try tool.files()
    let before = try? tool.contents(of: name)
    for words in reading + writing {
      let result = try tool.run(words.map { $0 == "FILE" ? name : $0 })
      #expect(result.status == 3, "\(words): \(result.errors)")
      #expect(result.errors.hasPrefix("larder: \(name): "), "\(words): \(result.errors)")
      #expect(result.errors.contains(message), "\(words): \(result.errors)")
      #expect(result.errors.split(separator: "\n").count == 1, "\(words): \(result.errors)")
      #expect(result.output.isEmpty, "\(words)")
    }
    #expect(try tool.files() == files)
    #expect((try? tool.contents(of: name)) == before)
  }

  @Test("Every larder command exits with status 3 for a missing file, and doesn't create it")
  func missing() throws { try expect("there is no such file", of: "no.db", in: Tool()) }

  @Test("Every larder command reports an empty file as empty")
  func empty() throws {
    let tool = try Tool()
    try tool.write("a.db", [])
    try expect("the file is empty (0 bytes)", of: "a.db", in: tool)
  }

  @Test("Every larder command refuses a text file, and random bytes as possibly encrypted")
  func noDatabase() throws {
    let tool = try Tool()
    try tool.write("letter", String(repeating: "This is a letter. ", count: 100).utf8)
    try expect("this isn't an SQLite database\n", of: "letter", in: tool)
    var generator = SeededGenerator(seed: 5)
    try tool.write("secret", (0..<4096).map { _ in UInt8.random(in: 0...255, using: &generator) })
    try expect("unless it is encrypted: larder has no key", of: "secret", in: tool)
  }

  @Test("larder's reading commands refuse folders, pipes and devices")
  func otherKinds() throws {
    let tool = try Tool()
    try FileManager.default.createDirectory(
      atPath: tool.file("d"), withIntermediateDirectories: true)
    for words in reading {
      let result = try tool.run(words.map { $0 == "FILE" ? "d" : $0 })
      #expect(
        result.status == 3 && result.errors == "larder: d: this is a folder, not a database\n")
    }
    #expect(mkfifo(tool.file("p"), 0o600) == 0)
    for words in reading {
      let result = try tool.run(words.map { $0 == "FILE" ? "p" : $0 })
      #expect(
        result.status == 3 && result.errors == "larder: p: this is a pipe; a database is a file\n")
    }
    #expect(try tool.run("inspect", "/dev/null").errors.contains("this is a device"))
  }

  @Test("larder reports a truncated file with its size")
  func cutOff() throws {
    let tool = try Tool.withCities()
    let bytes = try tool.contents(of: "cities.db")
    try tool.write("header.db", bytes.prefix(60))
    try expect("the file is cut off: it has 60 bytes", of: "header.db", in: tool)
    try tool.write("half.db", bytes.prefix(4096))
    for words in reading + [["query", "FILE", "SELECT count(*) FROM city"]] {
      let result = try tool.run(words.map { $0 == "FILE" ? "half.db" : $0 })
      #expect(result.status == 3, "\(words): \(result.errors)")
      #expect(
        result.errors.hasPrefix("larder: half.db: the file is cut off: it has 4,096 bytes, of"),
        "\(words): \(result.errors)")
    }
  }

  @Test("Every larder command refuses a file that a newer version of SQLite has written")
  func newer() throws {
    let tool = try Tool.withCities()
    var bytes = try tool.contents(of: "cities.db")
    bytes[18] = 3
    bytes[19] = 3
    try tool.write("newer.db", bytes)
    try expect("a newer version of SQLite has written the file", of: "newer.db", in: tool)
    bytes[18] = 1
    bytes[19] = 1
    bytes[47] = 9
    try tool.write("newer.db", bytes)
    try expect("a newer version of SQLite has written the file", of: "newer.db", in: tool)
  }

  @Test("larder's reading commands exit with status 3 for a locked file after --wait 0")
  func locked() throws {
    let tool = try Tool.withCities()
    let other = try tool.database("cities.db")
    try other.executeUpdate("PRAGMA locking_mode = EXCLUSIVE")
    try other.begin(.exclusive)
    for words in reading {
      let result = try tool.run(words.map { $0 == "FILE" ? "cities.db" : $0 } + ["--wait", "0"])
      #expect(result.status == 3, "\(words)")
      #expect(
        result.errors
          == "larder: cities.db: another program is writing to the database; try again, or --wait longer\n"
      )
    }
    try other.rollback()
  }

  @Test("larder's reading commands leave a WAL database unchanged and no files beside it")
  func writeAheadLog() throws {
    let tool = try Tool.withCities("wal")
    let before = try tool.contents(of: "cities.db")
    #expect(try tool.files() == ["cities.db"])
    for words in reading {
      #expect(try tool.run(words.map { $0 == "FILE" ? "cities.db" : $0 }).status == 0)
      #expect(try tool.files() == ["cities.db"], "\(words)")
    }
    #expect(try tool.contents(of: "cities.db") == before)
  }

  @Test("larder query reads rows in the WAL of another program, and leaves the WAL unchanged")
  func openLog() throws {
    let tool = try Tool.withCities("wal")
    let other = try tool.database("cities.db")
    try other.executeUpdate("DELETE FROM city WHERE id > 10")
    let log = try tool.contents(of: "cities.db-wal")
    #expect(try tool.rows("cities.db", "SELECT count(*) AS n FROM city") == [["n": 10]])
    #expect(try tool.contents(of: "cities.db-wal") == log)
    try other.close()
  }

  @Test("larder query refuses a database with a hot journal, and touches neither file")
  func hotJournal() throws {
    let tool = try Tool.withCities()
    let db = try tool.database("cities.db")
    try db.executeUpdate("PRAGMA cache_size = 1")
    try db.executeUpdate("PRAGMA synchronous = FULL")
    try db.begin(.immediate)
    try db.executeUpdate("UPDATE city SET name = name || hex(randomblob(2000))")
    for suffix in ["", "-journal"] {
      try tool.write("crashed.db" + suffix, try tool.contents(of: "cities.db" + suffix))
    }
    try db.rollback()
    let before = try tool.contents(of: "crashed.db")
    let result = try tool.run("query", "crashed.db", "SELECT count(*) FROM city")
    #expect(result.status == 3)
    #expect(result.errors.contains("a program was interrupted while it wrote"), "\(result.errors)")
    #expect(try tool.contents(of: "crashed.db") == before)
    #expect(try tool.files().contains("crashed.db-journal"))
  }

  @Test("larder --untrusted checks the whole file first, and refuses a damaged one")
  func untrusted() throws {
    let tool = try Tool.withCities()
    #expect(try tool.run("inspect", "cities.db", "--untrusted").status == 0)
    var bytes = try tool.contents(of: "cities.db")
    for index in 8200..<8300 where index < bytes.count { bytes[index] = 0xFF }
    try tool.write("broken.db", bytes)
    let result = try tool.run("query", "broken.db", "SELECT 1", "--untrusted")
    #expect(result.status == 3 && result.errors.contains("the database is damaged"))
  }

  @Test("larder prints hostile names unchanged in JSON, without control characters to terminals")
  func hostileNames() throws {
    let names = [
      "a\"b", "a'b", "a]b`c", "; DROP TABLE x; --", "表\n二", "\u{1B}[31mred", "\u{202E}reversed",
      "%s%n", "a b", " ", "SELECT", "e\u{301}", "👩‍👩‍👧", String(repeating: "x", count: 3000),
    ]
    let tool = try Tool()
    let db = try tool.database("names.db")
    for name in names {
      try db.executeUpdate("CREATE TABLE \(identifier: name) (\(identifier: name) TEXT)")
      try db.executeUpdate(
        "CREATE INDEX \(identifier: name + "_i") ON \(identifier: name) (\(identifier: name))")
      try db.executeUpdate("INSERT INTO \(identifier: name) VALUES (\(name))")
    }
    try db.close()
    let found = try #require(try tool.object("inspect", "names.db")["tables"] as? [[String: Any]])
    #expect(Set(found.compactMap { $0["name"] as? String }) == Set(names))
    for table in found {
      #expect(
        (table["columns"] as? [[String: Any]])?.first?["name"] as? String == table["name"]
          as? String)
      #expect((table["rows"] as? [String: Any])?["rows"] as? Int == 1)
    }
    for name in names {
      let sql = "SELECT * FROM \(name.quotedIdentifier) ORDER BY \(name.quotedIdentifier) || 1"
      #expect(try tool.rows("names.db", sql).first?[name] as? String == name)
      for words in [
        ["inspect", "names.db"], ["inspect", "names.db", name], ["query", "names.db", sql],
        ["query", "names.db", sql, "--json"], ["explain", "names.db", sql],
        ["explain", "names.db", sql, "--json"], ["inspect", "names.db", "--json"],
        ["generate", "names.db", name], ["generate", "names.db", name, "--json", "--by-hand"],
      ] {
        let result = try tool.run(words)
        #expect(result.status == 0, "\(words): \(result.errors)")
        #expect(
          !result.output.contains("\u{1B}") && !result.output.contains("\u{202E}"), "\(words)")
      }
    }
    #expect(try tool.run("diff", "names.db", "names.db").output == "The schemas are the same.\n")
  }
}
