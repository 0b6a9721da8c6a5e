import Foundation
import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport
import Testing

/// A record with columns of a server's own types.
private struct Stay: Record, Equatable {
  enum Mood: String, DatabaseValueConvertible, CaseIterable { case sad, happy }
  struct Guest: Codable, Hashable, Sendable { var name: String, ages: [Int?] }

  var id: Int64?
  var mood: Mood
  var nights: Range<Int>
  var dates: Range<Date>
  var guest: Guest
  var tags: [String]
  var price: Decimal
  var arrival: Date
  var day: Date

  struct Columns: Sendable {
    let id = Column("id", \Stay.id, .primaryKey)
    let mood = Column("mood", \Stay.mood, .sqlType(postgres: "mood"))
    let nights = Column("nights", \Stay.nights, as: .range())
    let dates = Column("dates", \Stay.dates, as: .range())
    let guest = Column("guest", \Stay.guest, as: .json)
    let tags = Column("tags", \Stay.tags, as: .array)
    let price = Column("price", \Stay.price)
    let arrival = Column("arrival", \Stay.arrival)
    let day = Column("day", \Stay.day, as: .iso8601)
  }
  static let columns = Columns()
  static let table = Table(
    "stay", Stay.init, columns.id, columns.mood, columns.nights, columns.dates, columns.guest,
    columns.tags, columns.price, columns.arrival, columns.day)
}

@Suite(
  "Values in feeds of a server",
  .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whySkipped)"),
  .timeLimit(.minutes(10)))
struct FeedValueTests {
  private let server: FeedServer

  init() throws { server = try FeedServer() }

  /// Types, and values of each.
  private static let types: [(type: String, values: [String])] = [
    ("boolean", ["true", "false"]), ("smallint", ["-32768"]), ("integer", ["2147483647"]),
    ("bigint", ["-9223372036854775808", "0"]), ("oid", ["4294967295"]),
    ("real", ["0.1", "'NaN'", "'-Infinity'"]), ("double precision", ["1.5", "'NaN'", "1e300"]),
    ("numeric", ["0", "1.50", "-12345678901234567890.123456", "'NaN'", "7"]),
    ("numeric(10,2)", ["3"]), ("money", ["12.5"]),
    ("text", ["''", "'Ænes – 東京'"]), ("varchar(9)", ["'abc'"]), ("char(5)", ["'ab'"]),
    ("name", ["'n'"]), ("bytea", [#"'\x00ff'"#, "''"]),
    ("uuid", ["'e621e1f8-c36c-495a-93fc-0c247a3e6e5f'"]),
    ("json", [#"'{"a": [1]}'"#]), ("jsonb", [#"'{"a": [1, null]}'"#]), ("xml", ["'<a/>'"]),
    ("timestamptz", ["'2026-01-02 03:04:05.678901+02'", "'infinity'", "'0044-03-15 BC'"]),
    ("timestamp", ["'2026-01-02 03:04:05.5'"]), ("date", ["'2026-01-02'", "'-infinity'"]),
    ("time", ["'24:00:00'"]), ("timetz", ["'04:05:06-05:30'"]), ("interval", ["'1 mon -3 days'"]),
    ("inet", ["'10.0.0.1/8'"]), ("cidr", ["'2001:db8::/32'"]), ("macaddr", ["'08:00:2b:01:02:03'"]),
    ("bit(3)", ["'101'"]), ("varbit", ["''"]), ("int4range", ["'[1,10)'", "'empty'"]),
    ("tstzrange", ["'[2026-01-01 00:00:00+00,)'"]), ("nummultirange", ["'{[1.5,2)}'"]),
    ("text[]", [#"'{a,NULL,"b\"c"}'"#, "'{}'"]), ("timestamptz[]", ["'{infinity}'"]),
    ("mood", ["'happy'"]), ("mood[]", ["'{happy,sad}'"]), ("email", ["'a@b'"]),
    ("positive", ["7"]), ("spot", ["'(1,x)'"]), ("spot[]", [#"'{"(1,)"}'"#]),
  ]

  @Test("A value of each type is what a query of the row has")
  func asInQueries() async throws {
    try server.run(
      """
      CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE TYPE spot AS (x integer, name text);
      CREATE DOMAIN email AS text; CREATE DOMAIN positive AS integer
      """)
    let columns = Self.types.enumerated().map { "c\($0.offset) \($0.element.type)" }
    try server.run(
      """
      CREATE TABLE v (id BIGINT PRIMARY KEY, \(columns.joined(separator: ", ")), p POINT, t TSVECTOR);
      ALTER TABLE v REPLICA IDENTITY FULL
      """)
    let feed = try await ServerFeed(server.pool.changes(of: ["v"]))
    let rows = Self.types.map(\.values.count).max() ?? 0
    for row in 0..<rows {
      let values = Self.types.map { row < $0.values.count ? $0.values[row] : "NULL" }
      try server.run(
        "INSERT INTO v VALUES (\(row), \(values.joined(separator: ", ")), '(1,2)', 'a b')")
    }
    try server.run("UPDATE v SET id = id + 100")
    var told: [[DatabaseValue]] = []
    for _ in 0..<rows { told += try #require(try await feed.next()).changes.compactMap(\.new) }
    let updated = try #require(try await feed.next()).changes
    let names = ["id"] + Self.types.indices.map { "c\($0)" }
    // Types that queries can't read either are left out.
    #expect(updated.allSatisfy { $0.columns == names })
    let found = try await server.pool.read { db in
      try db.executeQuery(
        SQL(raw: "SELECT \(names.joined(separator: ", ")) FROM v ORDER BY id")
      ).map { row in try names.indices.map { try row.get(at: $0, as: DatabaseValue.self) } }
    }
    #expect(told.map { $0.dropFirst() } == found.map { $0.dropFirst() })
    #expect(updated.map(\.old) == told)
    #expect(updated.map(\.new) == found)
  }

  @Test("Records of a feed equal those that queries read")
  func records() async throws {
    let moment = Date(timeIntervalSince1970: 1_700_000_000.123456)
    try server.run("CREATE TYPE mood AS ENUM ('sad', 'happy')")
    try await server.pool.inTransaction { db in
      try Stay.table.create(db)
      try Place.table.create(db)
    }
    try server.run(
      "ALTER TABLE stay REPLICA IDENTITY FULL; ALTER TABLE place REPLICA IDENTITY FULL")
    let feed = try await ServerFeed(server.pool.changes(of: Stay.self))
    let both = try await ServerFeed(server.pool.changes(of: Stay.self, Place.self))
    var stay = Stay(
      id: 1, mood: .sad, nights: 2..<5, dates: moment..<moment.addingTimeInterval(86_400),
      guest: .init(name: "Åse \"A\"", ages: [1, nil]), tags: ["a", "b,c", "{}"],
      price: Decimal(string: "1234.50") ?? 0, arrival: moment, day: moment)
    let place = Place.some("Oslo", 700_000, area: 454.25)
    try await server.pool.inTransaction { [stay] db in
      try Stay.insert(db, contentsOf: [stay])
      try Place.insert(db, contentsOf: [place])
    }
    let stored = try await server.pool.read { try Stay.find($0, 1) }
    #expect(try await feed.next()?.changes == [.inserted(stored)])
    stay = stored
    stay.mood = .happy
    stay.tags = []
    try await server.pool.inTransaction { [stay] db in _ = try stay.updated(db) }
    #expect(try await feed.next()?.changes == [.updated(from: stored, to: stay)])
    try await server.pool.inTransaction { [stay] db in _ = try stay.delete(db) }
    #expect(try await feed.next()?.changes == [.deleted(stay)])
    let first = try #require(try await both.next()).changes
    #expect(first.count == 2 && first[0].new as? Stay == stored)
    #expect(first[1].new as? Place == (try await server.pool.read { try Place.fetchOne($0, 1) }))
  }
}
