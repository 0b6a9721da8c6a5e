import Larder
import LarderTesting
import PostgresSupport
import TestSupport
import Testing

@Suite("Columns generated from JSON, and unique indexes on paths")
struct GeneratedFromJSONTests {
  private struct Device: Record, Equatable {
    var id: Int64
    var body: String
    var number: Int?
    var ratio: Double?
    var name: String?
    var isOn: Bool?

    struct Columns: Sendable {
      let id = Column("id", \Device.id, .primaryKey)
      let body = Column("body", \Device.body, .validJSON)
      let number = Column(
        "number", \Device.number,
        .generated(json: JSONExpression(column: "body")["n"], stored: true), .indexed)
      let ratio = Column(
        "ratio", \Device.ratio, .generated(json: JSONExpression(column: "body")["r"], stored: true))
      let name = Column(
        "name", \Device.name,
        .generated(json: JSONExpression(column: "body")["names"][-1], stored: true), .indexed)
      let isOn = Column(
        "is_on", \Device.isOn, .generated(json: JSONExpression(column: "body")["on"], stored: true))
    }
    static let columns = Columns()
    static let table = Table(
      "device", Device.init, columns.id, columns.body, columns.number, columns.ratio, columns.name,
      columns.isOn, indexes: [.index(on: columns.body["serial"], as: String.self, unique: true)])

    init(
      id: Int64, body: String, number: Int? = nil, ratio: Double? = nil, name: String? = nil,
      isOn: Bool? = nil
    ) {
      (self.id, self.body, self.number, self.ratio) = (id, body, number, ratio)
      (self.name, self.isOn) = (name, isOn)
    }
  }

  private let db: Database

  init() throws {
    db = try Database.empty()
    try Device.table.create(db)
  }

  private func stored(_ body: String) throws -> Device {
    try Device(id: 1, body: body).upsert(db)
    return try Device.find(db, 1)
  }

  @Test("A table with columns generated from JSON has no differences once created or rebuilt")
  func differences() throws {
    #expect(try Device.table.differences(db) == [])
    _ = try stored(#"{"n": 7}"#)
    try Device.table.rebuild(db)
    #expect(try Device.table.differences(db) == [])
    #expect(try Device.find(db, 1).number == 7)
    try db.executeUpdate("ALTER TABLE device ADD COLUMN old TEXT")
    #expect(try Device.table.differences(db).count == 1)
    try Device.table.rebuild(db, losing: .columns)
    #expect(try Device.table.differences(db) == [])
    #expect(try stored(#"{"n": 8, "names": ["x"]}"#).name == "x")
  }

  @Test("A generated column has its JSON path's value, or nil if missing, null or of another type")
  func values() throws {
    let all = try stored(#"{"n": 7, "r": 0.1, "names": ["a", "å\"'"], "on": true}"#)
    #expect(all.number == 7)
    #expect(all.ratio == 0.1)
    #expect(all.name == "å\"'")
    #expect(all.isOn == true)
    for body in [
      "{}", "null", "[]", "7", #""text""#, #"{"n": null, "r": null, "names": null, "on": null}"#,
      #"{"names": [], "n": {}, "r": [], "on": {}}"#, #"{"n": [7], "names": {"-1": "x"}}"#,
    ] {
      let found = try stored(body)
      #expect(found == Device(id: 1, body: body), "\(body)")
    }
    // "7" isn't a number, 1 isn't a Bool, and true isn't a number.
    let others = try stored(#"{"n": "7", "r": true, "names": [1], "on": 1}"#)
    #expect(others.number == nil && others.ratio == nil && others.name == nil && others.isOn == nil)
  }

  @Test("Columns generated from JSON follow updates, and queries find them by their indexes")
  func changes() throws {
    try Device.insert(
      db, contentsOf: (1...50).map { Device(id: $0, body: #"{"n": \#($0), "names": ["d\#($0)"]}"#) }
    )
    try Device.filter { $0.number == 7 }.update(db) {
      $0.body["n"] = 700
      $0.body["names"][-1] = "seven"
    }
    #expect(
      try Device.filter { $0.number == 700 && $0.name == "seven" }.fetchAll(db).map(\.id) == [7])
    #expect(try Device.filter { $0.body["n"] == 700 }.fetchCount(db) == 1)
    #expect(try Device.filter { $0.number == 7 }.fetchCount(db) == 0)
    #expect(try Device.order { $0.number.desc }.limit(2).fetchAll(db).map(\.id) == [7, 50])
    if TestEngine.isPostgres { return }
    #expect(try Device.filter { $0.number == 700 }.explain(db).usesIndex("device_number_index"))
    #expect(try Device.filter { $0.name == "d5" }.explain(db).usesIndex("device_name_index"))
  }

  @Test("Malformed JSON throws on insert and update, and changes nothing")
  func malformed() throws {
    _ = try stored(#"{"n": 1}"#)
    for body in ["", "{", "{\"n\": 1,}", "nul", "[1 2]"] {
      #expect(throws: DatabaseError.self) { try Device(id: 1, body: body).update(db) }
      #expect(throws: DatabaseError.self) { try Device(id: 2, body: body).inserted(db) }
    }
    #expect(try Device.fetchAll(db).map(\.body).count == 1)
    #expect(try Device.find(db, 1).number == 1)
  }

  @Test("A unique index on a JSON path only refuses a second row with the same text")
  func unique() throws {
    _ = try Device(id: 1, body: #"{"serial": "a"}"#).inserted(db)
    let error = #expect(throws: DatabaseError.self) {
      try Device(id: 2, body: #"{"serial": "\u0061"}"#).inserted(db)
    }
    #expect(error?.code == .constraint)
    for (id, body) in [
      #"{"serial": "b"}"#, #"{"serial": 1}"#, #"{"serial": 1}"#, "{}", "{}", #"{"serial": "A"}"#,
    ].enumerated() {
      _ = try Device(id: Int64(id + 2), body: body).inserted(db)
    }
    #expect(try Device.filter { $0.body["serial"] == "a" }.fetchAll(db).map(\.id) == [1])
  }

  @Test(
    "The integrity check finds an index on JSON that another function has written wrongly",
    .onlySQLite(.files))
  func damaged() throws {
    try Device.insert(
      db, contentsOf: (1...9).map { Device(id: $0, body: #"{"serial": "s\#($0)", "n": \#($0)}"#) })
    #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
    // Another program writes with a function of the same name and other results.
    let folder = try ScratchFolder()
    let path = folder.path + "/device.db"
    try db.backup(to: path)
    var configuration = Configuration()
    configuration.trustsSchema = true
    let other = try Database(path: path, configuration: configuration)
    try other.createFunction("larder_json_if", argumentCount: 3, directOnly: false) {
      if $0[2] == .text("valid") { return 1 }
      return $0[1] == .text(#"["serial"]"#) ? "x" : nil
    }
    let error = #expect(throws: DatabaseError.self) {
      try other.executeUpdate("UPDATE device SET body = '{}' WHERE id = 3")
    }
    #expect(error?.code == .corrupt)
    try other.executeUpdate("INSERT INTO device (id, body) VALUES (10, '{\"serial\": \"t\"}')")
    try other.close()
    let again = try Database(path: path)
    #expect(try again.value("PRAGMA integrity_check", as: String.self) != "ok")
    try again.executeUpdate("REINDEX")
    #expect(try again.value("PRAGMA integrity_check", as: String.self) == "ok")
    #expect(try Device.filter { $0.body["serial"] == "t" }.fetchAll(again).map(\.id) == [10])
  }

  @Test(
    "The sqlite3 shell reads a table with an index on JSON, and writes once it is dropped",
    .onlySQLite(.files))
  func shell() throws {
    struct Job: Record {
      var id: Int64
      var body: String
      struct Columns: Sendable {
        let id = Column("id", \Job.id, .primaryKey)
        let body = Column("body", \Job.body)
      }
      static let columns = Columns()
      static let table = Table(
        "job", Job.init, columns.id, columns.body,
        indexes: [.index(on: columns.body["n"], as: Int.self, name: "job_n")])
    }
    let folder = try ScratchFolder()
    let path = folder.path + "/job.db"
    let own = try Database(path: path)
    try Job.table.create(own)
    _ = try Job(id: 1, body: #"{"n": 7}"#).inserted(own)
    try own.close()
    func shell(_ sql: String) throws -> String {
      let process = try ChildProcess(
        "sqlite3", ["-batch", path, sql], input: .nothing, errors: .output)
      let lines = process.remainingLines()
      return lines.joined(separator: "\n")
    }
    #expect(try shell("SELECT body FROM job WHERE id = 1") == #"{"n": 7}"#)
    #expect(try shell("INSERT INTO job VALUES (2, '{}')").contains("unknown function"))
    #expect(try shell("DROP INDEX job_n; INSERT INTO job VALUES (2, '{}')").isEmpty)
    let db = try Database(path: path)
    #expect(try Job.fetchAll(db).count == 2)
    #expect(try !Job.table.differences(db).isEmpty)
  }
}
