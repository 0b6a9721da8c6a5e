import Foundation
import Larder
import Testing

@Suite("gazetteer import")
struct ImportTests {
  @Test("gazetteer import without file names imports all of the sample's files")
  func everything() throws {
    let gazetteer = try Gazetteer()
    let objects = try gazetteer.objects("import")
    #expect(objects.map { $0["inserted"] } == [.number(252), .number(34_006), .number(3_511)])
    #expect(try gazetteer.count("city") == 34_006)
    #expect(
      try gazetteer.run("path", "110101").lines.suffix(1) == [
        "110101      东城区  district   39.9283   116.4165"
      ])
    #expect(
      try gazetteer.objects("search", "北京").map { $0["name"] } == [.text("北京市")])
    #expect(try gazetteer.objects("nearest", "47.37", "8.54")[0]["name"] == .text("Zürich"))
    #expect(try gazetteer.objects("children", "110100").count == 16)
    #expect(try gazetteer.open().value("PRAGMA integrity_check", as: String.self) == "ok")
  }

  @Test("gazetteer import takes files in any order, and recognizes them by their header")
  func order() throws {
    let gazetteer = try Gazetteer()
    try gazetteer.writeWorld()
    let result = try gazetteer.run("import", "divisions.csv", "cities.csv", "countries.csv")
    #expect(
      result.lines == [
        "FILE           KIND       NEW  CHANGED  UNCHANGED  LEFT OUT",
        "countries.csv  countries    5        0          0         0",
        "cities.csv     cities      10        0          0         0",
        "divisions.csv  divisions    8        0          0         0",
      ])
    #expect(result.errors.isEmpty && result.status == 0)
  }

  @Test("gazetteer import reads quotes, commas and empty fields correctly")
  func fields() throws {
    let gazetteer = try Gazetteer.imported()
    let city = try gazetteer.objects("search", "san jose")[0]
    #expect(city["name"] == .text("San Jose, \"The Capital\""))
    #expect(try gazetteer.objects("search", "Labasa")[0]["region"] == nil)
    #expect(
      try gazetteer.objects("search", "China")[0]["languages"] == .list(["zh-CN", "yue"]))
    #expect(try gazetteer.objects("path", "130102").last?["latitude"] == nil)
  }

  @Test("gazetteer import of the same files a second time changes nothing")
  func twice() throws {
    let gazetteer = try Gazetteer.imported()
    let dump = try gazetteer.dump()
    let again = try gazetteer.objects("import", "countries.csv", "cities.csv", "divisions.csv")
    for summary in again {
      #expect(summary["inserted"] == .number(0) && summary["changed"] == .number(0))
    }
    #expect(try gazetteer.dump() == dump)
  }

  @Test(
    "Four concurrent runs of gazetteer import into a new database store each row once",
    arguments: 0..<3)
  func together(_: Int) throws {
    let gazetteer = try Gazetteer()
    try gazetteer.writeWorld()
    let runs = try (0..<4).map { _ in
      try gazetteer.start(["import", "countries.csv", "cities.csv", "divisions.csv", "--json"])
    }
    var inserted: [JSONValue] = []
    for run in runs {
      let result = try run.end()
      #expect(result.status == 0, "\(result.errors)")
      let objects = try JSONDecoder().decode(
        [[String: JSONValue]].self, from: Data(result.output.utf8))
      inserted += objects.compactMap { $0["inserted"] }.filter { $0 != .number(0) }
    }
    // One of the runs has stored all rows.
    #expect(inserted == [.number(5), .number(10), .number(8)])
  }

  @Test("gazetteer import completes a database with old empty tables, and refuses one with rows")
  func halfMade() throws {
    let gazetteer = try Gazetteer()
    try gazetteer.writeWorld()
    #expect(try gazetteer.run("upgrade", "--make-old").status == 0)
    let refused = try gazetteer.run("import", "countries.csv")
    #expect(refused.status == 3 && refused.errors.contains("an earlier version"))
    try gazetteer.open().executeStatements(
      "DELETE FROM city; DELETE FROM country; DELETE FROM division")
    let result = try gazetteer.run("import", "countries.csv", "cities.csv")
    #expect(result.status == 0, "\(result.errors)")
    #expect(try gazetteer.count("city") == 10)
  }

  @Test("gazetteer import updates changed cities, which are found by their new names only")
  func changed() throws {
    let gazetteer = try Gazetteer.imported()
    try gazetteer.write(
      "cities.csv",
      """
      \(Gazetteer.cityHeader)
      3143244,Christiania,59.91273,10.74609,NO,580000,Europe/Oslo,12
      3161732,Bergen,60.39299,5.32415,NO,213585,Europe/Oslo,46
      """)
    let summary = try gazetteer.objects("import", "cities.csv")[0]
    #expect(summary["inserted"] == .number(1) && summary["changed"] == .number(1))
    #expect(try gazetteer.objects("search", "Christian").count == 1)
    #expect(try gazetteer.objects("search", "Oslo").isEmpty)
    #expect(try gazetteer.count("city") == 11)
  }

  /// Malformed lines and the expected errors.
  static let badLines: [(line: String, problem: String)] = [
    ("1,Oslo,59.9,10.7,NO,5,Europe/Oslo", "it has 7 fields, and the header 8"),
    ("", "it has 1 fields, and the header 8"),
    ("one,Oslo,59.9,10.7,NO,5,,", "geoname_id is “one”, which is not a whole number"),
    ("0,Oslo,59.9,10.7,NO,5,,", "geoname_id is 0, which is out of range"),
    ("9223372036854775808,Oslo,59.9,10.7,NO,5,,", "geoname_id is “9223372036854775808”"),
    ("1,,59.9,10.7,NO,5,,", "name is missing"),
    ("1,Oslo,north,10.7,NO,5,,", "latitude is “north”, which is not a number"),
    ("1,Oslo,nan,10.7,NO,5,,", "latitude is “nan”, which is not a number"),
    ("1,Oslo,90.5,10.7,NO,5,,", "latitude is 90.5, which is out of range"),
    ("1,Oslo,59.9,10.7,NO,-5,,", "population is -5, which is out of range"),
    ("1,Oslo,59.9,10.7,NO,5.5,,", "population is “5.5”, which is not a whole number"),
    ("1,Oslo,59.9,10.7,XX,5,,", "there is no country “XX”"),
    ("2657896,Zurich,47.3,8.5,CH,5,,", "the key 2657896 was there before"),
    ("1,Os\"lo,59.9,10.7,NO,5,,", "a field contains a quote, but doesn't begin with one"),
    ("1,\"Oslo\"x,59.9,10.7,NO,5,,", "something other than a comma follows a closing quote"),
    ("1,Os\rlo,59.9,10.7,NO,5,,", "a carriage return without a line feed"),
  ]

  @Test(
    "gazetteer import reports a bad line with file and number, and stores nothing of the file",
    arguments: badLines)
  func badLine(line: String, problem: String) throws {
    let gazetteer = try Gazetteer()
    try gazetteer.writeWorld()
    try gazetteer.writeCities("2657896,Zürich,47.3,8.5,CH,5,,", line, "2,Bern,46.9,7.4,CH,5,,")
    let result = try gazetteer.run("import", "countries.csv", "bad.csv")
    #expect(result.status == 1)
    #expect(result.errors.hasPrefix("gazetteer: bad.csv:3: \(problem)"), "\(result.errors)")
    #expect(result.errors.split(separator: "\n").count == 1)
    #expect(try gazetteer.count("city") == 0)
    #expect(try gazetteer.count("country") == 5)

    let skipped = try gazetteer.run("import", "bad.csv", "--skip-bad")
    #expect(skipped.status == 0 && skipped.errors.contains("bad.csv:3: "))
    #expect(skipped.lines.last == "bad.csv  cities    2        0          0         1")
    #expect(try gazetteer.count("city") == 2)
  }

  @Test("gazetteer import counts the lines within multi-line fields in its errors")
  func severalLines() throws {
    let gazetteer = try Gazetteer()
    try gazetteer.writeWorld()
    try gazetteer.writeCities("1,\"Os\nlo\",59.9,10.7,NO,5,,", "2,Bern,46.9,7.4,CH,many,,")
    let result = try gazetteer.run("import", "countries.csv", "bad.csv")
    #expect(result.errors.contains("bad.csv:4: population is “many”"), "\(result.errors)")
  }

  @Test("gazetteer import reports the line where an unclosed quote begins")
  func openQuote() throws {
    let gazetteer = try Gazetteer()
    try gazetteer.writeWorld()
    try gazetteer.writeCities("1,\"Oslo,59.9,10.7,NO,5,,", "2,Bern,46.9,7.4,CH,5,,")
    let result = try gazetteer.run("import", "countries.csv", "bad.csv")
    #expect(result.errors == "gazetteer: bad.csv:2: a quote is never closed\n")
    let skipped = try gazetteer.run("import", "bad.csv", "--skip-bad")
    #expect(skipped.lines.last == "bad.csv  cities    1        0          0         1")
  }

  @Test("gazetteer import refuses text that isn't UTF-8")
  func invalidText() throws {
    let gazetteer = try Gazetteer()
    try gazetteer.writeWorld()
    var data = Data("\(Gazetteer.cityHeader)\n1,".utf8)
    data.append(contentsOf: [0x5A, 0xFC, 0x72])
    data.append(Data(",59.9,10.7,NO,5,,\n".utf8))
    try gazetteer.write("bad.csv", data)
    let result = try gazetteer.run("import", "countries.csv", "bad.csv")
    #expect(result.errors == "gazetteer: bad.csv:2: the text is not valid UTF-8\n")
  }

  @Test(
    "gazetteer import reports a line that violates a constraint, and --skip-bad leaves out only it")
  func refusedLine() throws {
    let gazetteer = try Gazetteer()
    try gazetteer.write(
      "countries.csv",
      """
      \(Gazetteer.countryHeader)
      NO,NOR,Norway,Oslo,EU,324220,5314336,NOK,no,"FI,RU,SE"
      XN,NOR,Norway again,Oslo,EU,324220,5314336,NOK,no,
      CH,CHE,Switzerland,Bern,EU,41290,8516543,CHF,de-CH,
      """)
    let result = try gazetteer.run("import", "countries.csv")
    #expect(result.status == 1 && result.errors.contains("countries.csv:3: UNIQUE"))
    #expect(try gazetteer.run("import", "countries.csv", "--skip-bad").status == 0)
    #expect(try gazetteer.count("country") == 2)
  }

  @Test("gazetteer import refuses missing, empty and unknown files, and creates no database")
  func wrongFiles() throws {
    let gazetteer = try Gazetteer()
    try gazetteer.write("empty.csv", "")
    try gazetteer.write("players.csv", "name,score\nAda,5\n")
    let missing = try gazetteer.run("import", "missing.csv")
    #expect(missing.status == 1)
    #expect(missing.errors == "gazetteer: missing.csv: No such file or directory\n")
    #expect(try gazetteer.run("import", ".").errors == "gazetteer: .: Is a directory\n")
    #expect(try gazetteer.run("import", "empty.csv").errors.contains("the file is empty"))
    let players = try gazetteer.run("import", "players.csv")
    #expect(players.status == 1 && players.errors.contains("players.csv:1: "))
    #expect(!FileManager.default.fileExists(atPath: gazetteer.database))
  }

  @Test("gazetteer import is rolled back completely by an interrupt, and reports it")
  func interrupted() throws {
    let gazetteer = try Gazetteer()
    try gazetteer.writeWorld()
    // The pipe's buffer is smaller than the text: once all of it is written, the program has read and
    // stored much of it, and waits for more.
    let pipe = gazetteer.file("pipe.csv")
    try #require(mkfifo(pipe, 0o600) == 0)
    let run = try gazetteer.start(["import", "countries.csv", "pipe.csv"])
    let writer = try run.openForWriting(pipe)
    let lines = (1...40_000).map { "\($0),City \($0),50,10,NO,5,Europe/Oslo,12\n" }
    try writer.write(contentsOf: Data((Gazetteer.cityHeader + "\n" + lines.joined()).utf8))
    run.interrupt()
    let result = try run.end()
    try writer.close()
    #expect(result.status == 130)
    #expect(result.errors == "gazetteer: interrupted\n")
    #expect(try gazetteer.count("city") == 0)
    #expect(try gazetteer.count("country") == 0)
    #expect(try gazetteer.run("import", "countries.csv", "cities.csv").status == 0)
  }
}

extension Gazetteer {
  /// Writes a file of cities with these lines.
  fileprivate func writeCities(_ lines: String...) throws {
    try write("bad.csv", ([Self.cityHeader] + lines).joined(separator: "\n") + "\n")
  }

  /// All rows of the tables as text.
  fileprivate func dump() throws -> [String] {
    let db = try open()
    return try ["country", "city", "division", "city_text_data"].flatMap { table in
      try db.executeQuery("SELECT * FROM \(identifier: table)").map { row in
        try row.columnNames.indices.map { "\(try row[$0])" }.joined(separator: "|")
      }
    }
  }
}
