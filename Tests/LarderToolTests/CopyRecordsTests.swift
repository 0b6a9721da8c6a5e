import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

@testable import LarderTool

/// A program's records move from a file to a server whose tables the program has created itself.
@Suite("larder copy --data-only moves Larder's records", .enabled(if: PostgresServer.isInstalled))
struct CopyRecordsTests {
  /// A record with each type whose default form differs between the engines.
  private struct Visit: Record, Equatable {
    var id: UUID
    var host: UUID?
    var start: Date
    var end: Date?
    var day: Date
    var logged: Date
    var sent: Date
    var noon: Date
    var price: Decimal
    var page: URL
    var isOpen: Bool
    var photo: [UInt8]
    var notes: [String: Int]
    var tags: [String]
    var guests: [UUID]
    var hours: [Date]
    var flags: [Bool?]
    var grid: [[Double]]
    var rooms: Range<Int>
    var stay: Range<Date>
    var fares: Range<Decimal>

    struct Columns: Sendable {
      let id = Column("id", \Visit.id, .primaryKey)
      let host = Column("host", \Visit.host, .references(Visit.self))
      let start = Column("start", \Visit.start)
      let end = Column("end", \Visit.end)
      let day = Column("day", \Visit.day, .sqlType(postgres: "date"))
      let logged = Column("logged", \Visit.logged, .sqlType(postgres: "timestamp"))
      let sent = Column("sent", \Visit.sent, as: .iso8601)
      let noon = Column("noon", \Visit.noon, as: .unixMilliseconds)
      let price = Column("price", \Visit.price)
      let page = Column("page", \Visit.page)
      let isOpen = Column("isOpen", \Visit.isOpen)
      let photo = Column("photo", \Visit.photo)
      let notes = Column("notes", \Visit.notes, as: .json)
      let tags = Column("tags", \Visit.tags, as: .array)
      let guests = Column("guests", \Visit.guests, as: .array)
      let hours = Column("hours", \Visit.hours, as: .array)
      let flags = Column("flags", \Visit.flags, as: .array)
      let grid = Column("grid", \Visit.grid, as: .array)
      let rooms = Column("rooms", \Visit.rooms, as: .range())
      let stay = Column("stay", \Visit.stay, as: .range())
      let fares = Column("fares", \Visit.fares, as: .range())
    }
    static let columns = Columns()
    static let table = Table(
      "visit", Visit.init, columns.id, columns.host, columns.start,
      columns.end, columns.day, columns.logged, columns.sent, columns.noon, columns.price,
      columns.page, columns.isOpen, columns.photo, columns.notes, columns.tags, columns.guests,
      columns.hours, columns.flags, columns.grid, columns.rooms, columns.stay, columns.fares)
  }

  private func visit(_ number: Int, host: UUID?) throws -> Visit {
    let start = Date(timeIntervalSince1970: 1_700_000_000.25 + Double(number) * 1e8)
    return Visit(
      id: UUID(), host: host, start: start,
      end: number == 0 ? nil : Date(timeIntervalSince1970: -0.5),
      day: Date(timeIntervalSince1970: Double(number) * 86_400), logged: start, sent: start,
      noon: start, price: try #require(Decimal(string: "12.50")),
      page: try #require(URL(string: "https://example.org/a?b")), isOpen: number == 0,
      photo: [0, 255, 92], notes: ["a": number],
      tags: number == 0 ? [] : ["maps", "a\"\\,{} ", "", "NULL"], guests: [UUID(), UUID()],
      hours: [start], flags: [true, nil, false], grid: [[0.5, 1e300], [-1, 2]], rooms: 3..<7,
      stay: start..<start.addingTimeInterval(0.5), fares: 1..<20)
  }

  @Test(
    "larder copy --data-only keeps a record's values of every type by the types of the server's columns"
  )
  func records() throws {
    let tool = try Tool()
    let file = try tool.database("a.db")
    try Visit.table.create(file)
    let first = try visit(0, host: nil)
    let visits = [first, try visit(1, host: first.id)]
    try Visit.insert(file, contentsOf: visits)
    try file.close()
    let address = try PostgresServer.newDatabase()
    let server = try Database.postgres(address)
    try Visit.table.create(server)
    let result = try tool.run("copy", "--data-only", "a.db", address)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try Set(Visit.fetchAll(server).map(\.id)) == Set(visits.map(\.id)))
    for visit in visits { #expect(try Visit.find(server, visit.id) == visit) }
    let again = try tool.run("copy", "--data-only", "--resume", "a.db", address)
    #expect(again.output == "visit: 2 rows, complete already\n", "\(again.errors)")
    try server.close()
  }

  /// The address of a new database with these tables.
  private func server(_ sql: String) throws -> String {
    let address = try PostgresServer.newDatabase()
    let db = try Database.postgres(address)
    try db.executeStatements(SQL(raw: sql))
    try db.close()
    return address
  }

  /// Copies the column “a” of a file to that of a server, and returns its texts there.
  private func copied(
    _ declaration: String, _ values: String, to type: String, _ options: String...
  ) throws -> (result: Tool.Result, texts: [String?]) {
    let tool = try Tool()
    let rows = values.split(separator: ", ").enumerated().map { "(\($0 + 1), \($1))" }
    try tool.make(
      "a.db",
      """
      CREATE TABLE t (k INTEGER PRIMARY KEY, a \(declaration));
      INSERT INTO t VALUES \(rows.joined(separator: ", "))
      """)
    let address = try server("CREATE TABLE t (k bigint PRIMARY KEY, a \(type))")
    let result = try tool.run(["copy", "--data-only", "a.db", address] + options)
    if result.status == 0 {
      let again = try tool.run(["copy", "--data-only", "--resume", "a.db", address] + options)
      #expect(again.output.hasSuffix("complete already\n"), "\(again.errors)")
    }
    let db = try Database.postgres(address)
    defer { try? db.close() }
    try db.executeUpdate("SET timezone = 'UTC'")
    let texts = try db.executeQuery("SELECT a::text FROM t ORDER BY k").map {
      try $0.get(at: 0, as: String?.self)
    }
    return (result, texts)
  }

  @Test(
    "larder copy to a column of dates reads each form of dates that Larder writes, and NULL, and years before 1",
    arguments: [
      (
        "REAL", "1700000000.25, -0.5, NULL, -62135596801.0, 253402300799.0", "timestamptz",
        [
          "2023-11-14 22:13:20.25+00", "1969-12-31 23:59:59.5+00", nil, "0001-12-31 23:59:59+00 BC",
          "9999-12-31 23:59:59+00",
        ]
      ),
      ("REAL", "1700000000.1234567", "timestamp", ["2023-11-14 22:13:20.123457"]),
      ("REAL", "0.0, -86400.0", "date", ["1970-01-01", "1969-12-31"]),
      (
        "DATETIME", "1700000000.0, 1700000000.5", "timestamptz",
        [
          "2023-11-14 22:13:20+00", "2023-11-14 22:13:20.5+00",
        ]
      ),
      ("TIMESTAMP", "1700000000.0", "timestamptz", ["2023-11-14 22:13:20+00"]),
      (
        "INTEGER", "1700000000250, -1, 0", "timestamptz",
        [
          "2023-11-14 22:13:20.25+00", "1969-12-31 23:59:59.999+00", "1970-01-01 00:00:00+00",
        ]
      ),
      (
        "REAL", "2460263.425925926, 2451545.0", "timestamptz",
        [
          "2023-11-14 22:13:20+00", "2000-01-01 12:00:00+00",
        ]
      ),
      (
        "TEXT", "'2023-11-14T22:13:20.250Z', '2023-11-14'", "timestamptz",
        [
          "2023-11-14 22:13:20.25+00", "2023-11-14 00:00:00+00",
        ]
      ),
      (
        "TEXT", "'2023-11-14T22:13:20Z', '2023-11-14 22:13:20.5'", "timestamp",
        [
          "2023-11-14 22:13:20", "2023-11-14 22:13:20.5",
        ]
      ),
      ("TEXT", "'2023-11-14T00:00:00.000Z', '2023-11-14'", "date", ["2023-11-14", "2023-11-14"]),
      (
        "ANY", "1700000000.5, '2023-11-14 22:13:20'", "timestamptz",
        [
          "2023-11-14 22:13:20.5+00", "2023-11-14 22:13:20+00",
        ]
      ),
    ])
  func dates(_ declaration: String, _ values: String, _ type: String, _ texts: [String?]) throws {
    let (result, found) = try copied(declaration, values, to: type)
    #expect(result.status == 0, "\(result.errors)")
    #expect(found == texts)
    #expect(result.errors.contains("Julian days") == values.hasPrefix("246"), "\(result.errors)")
  }

  @Test(
    "larder copy refuses dates as numbers that may have several forms, until --dates tells the form",
    arguments: [
      ("REAL", "2419200.0", "seconds", "1970-01-29 00:00:00+00"),
      ("REAL", "2451544.5", "julian-days", "2000-01-01 00:00:00+00"),
      ("INTEGER", "1700000000", "seconds", "2023-11-14 22:13:20+00"),
      ("INTEGER", "1700000000", "milliseconds", "1970-01-20 16:13:20+00"),
    ])
  func ambiguousDates(
    _ declaration: String, _ value: String, _ form: String, _ text: String
  ) throws {
    let (refused, none) = try copied(declaration, value, to: "timestamptz")
    #expect(refused.status == 1 && none == [])
    #expect(refused.errors.contains("“t”.“a”: numbers such as \(value) may be"))
    #expect(refused.errors.contains("(--dates \(form))"), "\(refused.errors)")
    let (result, texts) = try copied(declaration, value, to: "timestamptz", "--dates", form)
    #expect(result.status == 0 && texts == [text], "\(result.errors)")
    let (misspelled, _) = try copied(declaration, value, to: "timestamptz", "--dates", "days")
    #expect(misspelled.status == 2 && misspelled.errors.contains("julian-days"))
  }

  @Test(
    "larder copy to a column of UUIDs reads blobs of 16 bytes and texts, and names the column and row of others and of bad dates",
    arguments: [
      ("BLOB", "x'e621e1f8c36c495a93fc0c247a3e6e5f'", "uuid", nil),
      ("TEXT", "'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'", "uuid", nil),
      (
        "ANY", "x'e621e1f8c36c495a93fc0c247a3e6e5f', x'00'", "uuid",
        "“t”.“a”, the row with k = 2: a blob of 1 byte isn't a UUID"
      ),
      ("TEXT", "NULL, 'E621'", "uuid", "“t”.“a”, the row with k = 2: the text isn't a UUID"),
      (
        "REAL", "0.0, 1.5", "date",
        "“t”.“a”, the row with k = 2: 1.5 isn't the beginning of a day in UTC"
      ),
      (
        "REAL", "9e999", "timestamptz",
        "“t”.“a”, the row with k = 1: inf isn't a date that the server can store"
      ),
      ("ANY", "x'00'", "timestamptz", "“t”.“a”, the row with k = 1: a blob isn't a date"),
      ("TEXT", "NULL, 'soon: 5'", "timestamptz", "“t”.“a”, row 2: invalid input syntax for type"),
    ])
  func names(_ declaration: String, _ values: String, _ type: String, _ problem: String?) throws {
    let (result, texts) = try copied(declaration, values, to: type)
    guard let problem else {
      #expect(result.status == 0, "\(result.errors)")
      return #expect(texts == ["e621e1f8-c36c-495a-93fc-0c247a3e6e5f"])
    }
    #expect(result.status == 1 && texts == [], "\(result.output)")
    #expect(result.errors.contains(problem), "\(result.errors)")
  }

  @Test(
    "larder copy gives a foreign key's column the type of its key, whether it has values or not")
  func foreignKeys() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE user (id UUID PRIMARY KEY);
      CREATE TABLE report (
        id UUID PRIMARY KEY REFERENCES user, handled_by UUID REFERENCES user, size BLOB,
        FOREIGN KEY (size) REFERENCES user (id));
      CREATE TABLE note (report UUID REFERENCES report, parent UUID REFERENCES NOTE (report), UNIQUE (report));
      INSERT INTO user VALUES ('E621E1F8-C36C-495A-93FC-0C247A3E6E5F');
      INSERT INTO report VALUES ('E621E1F8-C36C-495A-93FC-0C247A3E6E5F', NULL, NULL);
      """)
    let address = try PostgresServer.newDatabase()
    let result = try tool.run("copy", "a.db", address)
    #expect(result.status == 0, "\(result.errors)")
    let db = try Database.postgres(address)
    let types = try db.executeQuery(
      """
      SELECT column_name || ' ' || data_type FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name IN ('report', 'note') ORDER BY 1
      """
    ).map { try $0.get(at: 0, as: String.self) }
    #expect(
      types == ["handled_by text", "id text", "parent text", "report text", "size text"],
      "\(types)")
    try db.close()
  }

  @Test(
    "larder copy makes texts of columns without values whose type says UUID, time, JSON or array, and numbers of others"
  )
  func emptyColumns() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE t (a UUID, b TIMESTAMP, c JSON, d UUID[], e NUMERIC, f DECIMAL(4, 2));
      INSERT INTO t VALUES (NULL, NULL, NULL, NULL, NULL, NULL)
      """)
    let address = try PostgresServer.newDatabase()
    #expect(try tool.run("copy", "a.db", "b.db", "--dates", "seconds").status == 2)
    let result = try tool.run("copy", "a.db", address)
    #expect(result.status == 0, "\(result.errors)")
    let db = try Database.postgres(address)
    let types = try db.executeQuery(
      """
      SELECT data_type FROM information_schema.columns WHERE table_name = 't' ORDER BY column_name
      """
    ).map { try $0.get(at: 0, as: String.self) }
    #expect(types == ["text", "text", "text", "text", "bigint", "bigint"], "\(types)")
    try db.close()
  }
}
