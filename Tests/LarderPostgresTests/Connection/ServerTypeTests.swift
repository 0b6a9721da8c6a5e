import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

@Suite(
  "Types of a server that SQLite lacks",
  .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whySkipped)"))
struct ServerTypeTests {
  private let db: Database

  init() throws {
    db = try Database.postgres(TestEngine.schema())
    try db.executeStatements(
      """
      CREATE TYPE mood AS ENUM ('sad', 'fair', 'happy');
      CREATE DOMAIN email AS text CHECK (value LIKE '%@%');
      CREATE DOMAIN positive AS integer CHECK (value > 0);
      CREATE TYPE place AS (x integer, y double precision, "a name" text, tags text[]);
      CREATE TYPE floats AS RANGE (subtype = float8);
      """)
  }

  /// Types, and literals of each: all are read as the server writes them, or as its JSON.
  private static let literals: [(type: String, values: [String])] = [
    ("text[]", ["{}", "{a,b}", #"{a,NULL,"b\"c\\d","","NULL",",{}"}"#, "{{a,b},{c,NULL}}"]),
    ("integer[]", ["{1,-2,NULL,2147483647}", "{{{1}}}"]), ("smallint[]", ["{-32768}"]),
    ("bigint[]", ["{9223372036854775807,-9223372036854775808}"]),
    ("boolean[]", ["{t,f,NULL}"]), ("numeric[]", ["{1.50,12345678901234567890.123456}"]),
    ("jsonb[]", [#"{"[1, 2]","{\"a\": \"x\"}",1,"\"text\""}"#]), ("json[]", [#"{"{\"a\":1}"}"#]),
    ("mood[]", ["{sad,NULL,happy}"]), ("positive[]", ["{7}"]), ("varchar(3)[]", ["{abc,d}"]),
    ("place", [#"(1,2.5,"a ""b"" (c), \\d","{t,u}")"#, #"(,,"",)"#]),
    ("place[]", [#"{"(1,2,x,)",NULL}"#]),
    ("mood", ["fair"]), ("email", ["a@b"]), ("positive", ["7"]),
    ("int4range", ["[1,10)", "empty", "(,5]", "(,)"]), ("numrange", ["(1.50,2]"]),
    ("tstzrange", ["[2026-01-01 00:00:00.5+00, 2026-02-01 00:00:00+02)"]),
    ("tsrange", ["[2026-01-01 00:00:00, 2026-02-01 00:00:00]"]),
    ("daterange", ["[2026-01-01, infinity)"]), ("floats", ["[1.5,2.25)"]),
    ("int4multirange", ["{[1,3),[5,9)}", "{}"]), ("int8range[]", [#"{"[1,2)",empty}"#]),
    (
      "interval",
      [
        "1 year 2 mons -3 days 04:05:06.789", "0", "-1 day +02:03:00", "-00:00:00.000001", "1 day",
        "2 years 1 mon", "14 mons", "-14 mons", "100 hours", "-1 year +2 days",
      ]
    ),
    ("interval[]", ["{1 day,02:00:00}"]), ("time", ["04:05:06.7", "24:00:00", "00:00:00.000001"]),
    ("timetz", ["04:05:06+02", "04:05:06-05:30", "23:59:59.5+00"]),
    (
      "inet", ["10.0.0.1", "10.0.0.1/8", "::1", "2001:db8::/32", "::ffff:1.2.3.4", "fe80::1:0:0:2"]
    ),
    ("cidr", ["10.0.0.0/8", "2001:db8::/32"]), ("macaddr", ["08:00:2b:01:02:03"]),
    ("macaddr8", ["08:00:2b:01:02:03:04:05"]), ("inet[]", ["{10.0.0.1,::1}"]),
    ("bit(3)", ["101"]), ("varbit", ["1011000110", ""]), ("pg_lsn", ["16/B374D848"]),
    ("timestamptz[]", ["{2026-01-02 03:04:05.678901+02,infinity}"]),
    ("timestamp[]", ["{2026-01-02 03:04:05.5,0044-03-15 00:00:00 BC}"]),
    ("date[]", ["{2026-01-02,infinity,-infinity}"]), ("bytea[]", [#"{"\\xdead","\\x"}"#]),
    ("uuid[]", ["{e621e1f8-c36c-495a-93fc-0c247a3e6e5f}"]), ("float8[]", ["{1,1.5,-0,1e+300}"]),
    ("real[]", ["{0.1,NaN,-Infinity}"]),
  ]

  @Test("A value that is written as it was read is the same value", arguments: literals)
  func writtenAsRead(type: String, values: [String]) throws {
    try db.executeUpdate("CREATE TABLE v (id integer, a \(SQL(raw: type)), b \(SQL(raw: type)))")
    for (index, value) in values.enumerated() {
      try db.executeUpdate("INSERT INTO v (id, a) VALUES (\(index), \(value))")
      let read: DatabaseValue = try #require(
        try db.value("SELECT a FROM v WHERE id = \(index)", as: DatabaseValue.self))
      try db.executeUpdate("UPDATE v SET b = \(read) WHERE id = \(index)")
      #expect(
        try db.value("SELECT a = b AND a::text = b::text FROM v WHERE id = \(index)") == true,
        "\(value) was read as \(read)")
    }
  }

  /// Types of which each value has the same text here as on the server.
  private static let texts = [
    "mood", "email", "int4range", "numrange", "tstzrange", "tsrange", "daterange", "floats",
    "int4multirange", "interval", "time", "timetz", "cidr", "macaddr", "macaddr8", "bit(3)",
    "varbit", "pg_lsn",
  ]

  @Test("A value other than an array has the server's own text", arguments: texts)
  func ownText(type: String) throws {
    let values = Self.literals.first { $0.type == type }?.values ?? []
    try #require(!values.isEmpty)
    for value in values {
      let literal = SQL(raw: "\(value.quoted)::\(type)")
      #expect(
        try db.value("SELECT \(literal)", as: String.self)
          == db.value("SELECT \(literal)::text", as: String.self))
    }
  }

  @Test("An array has the JSON that the server makes of it")
  func arrayJSON() throws {
    for type in ["text[]", "integer[]", "bigint[]", "boolean[]", "numeric[]", "jsonb[]", "mood[]"] {
      for value in Self.literals.first(where: { $0.type == type })?.values ?? [] {
        let literal = SQL(raw: "\(value.quoted)::\(type)")
        let read = try #require(try db.value("SELECT \(literal)", as: String.self))
        #expect(try db.value("SELECT \(read)::text::jsonb = to_jsonb(\(literal))") == true)
      }
    }
  }

  @Test("A composite value is a JSON object, as its Codable type has it")
  func composite() throws {
    struct Place: Codable, Equatable {
      var x: Int?
      var y: Double
      var tags: [String]
    }
    let value = try db.value(
      "SELECT ROW(1, 2.5, 'n', '{a,b}')::place", as: JSON<Place>.self)
    #expect(value?.value == Place(x: 1, y: 2.5, tags: ["a", "b"]))
    try db.executeUpdate("CREATE TABLE t (place place)")
    try db.executeUpdate("INSERT INTO t VALUES (\(JSON(Place(x: nil, y: 1, tags: ["c\""]))))")
    #expect(try db.value("SELECT place::text FROM t") == #"(,1,,"{""c\\""""}")"#)
    #expect(throws: (any Error).self) {
      try db.executeUpdate("INSERT INTO t VALUES (\(#"{"other":1}"#))")
    }
  }

  @Test("Nulls, and columns of several such types, are read in rows that stream")
  func streaming() throws {
    let rows = try db.executeQuery(
      """
      SELECT n, CASE WHEN n % 2 = 0 THEN 'sad'::mood END AS mood, ARRAY[n, NULL] AS list, n::text AS text
      FROM generate_series(1, 3000) AS n
      """)
    var count = 0
    while try rows.next() {
      let n: Int = try rows.get("n")
      #expect(try rows.get("mood", as: String?.self) == (n % 2 == 0 ? "sad" : nil))
      #expect(try rows.get("list", as: JSON<[Int?]>.self).value == [n, nil])
      #expect(try rows.get("text", as: String.self) == "\(n)")
      count += 1
    }
    #expect(count == 3000)
  }

  @Test("A type that can't be read is refused with the column's name before the first row")
  func refused() throws {
    let error = #expect(throws: DatabaseError.self) {
      try db.value("SELECT 1 AS a, '(1,2)'::point AS spot", as: Int.self)
    }
    #expect(error?.message.contains("“spot”") == true)
    #expect(try db.value("SELECT 1", as: Int.self) == 1)
  }

  @Test("Money is read as a number, and written as one")
  func money() throws {
    try db.executeUpdate("CREATE TABLE t (m money)")
    try db.executeUpdate("INSERT INTO t VALUES (\(Decimal(string: "-12.34")))")
    #expect(try db.value("SELECT m FROM t", as: Decimal.self) == Decimal(string: "-12.34"))
    #expect(try db.value("SELECT m::numeric = -12.34 FROM t") == true)
  }

  /// Whether the server has the extensions citext and hstore.
  private static let hasExtensions =
    try? Database.postgres(TestEngine.schema()).value(
      "SELECT count(*) = 2 FROM pg_available_extensions WHERE name IN ('citext', 'hstore')",
      as: Bool.self)

  @Test(
    "citext and hstore are texts and pairs",
    .enabled(if: hasExtensions == true, "the server has no citext or hstore"))
  func extensions() throws {
    try db.executeStatements(
      """
      CREATE EXTENSION IF NOT EXISTS citext SCHEMA pg_catalog;
      CREATE EXTENSION IF NOT EXISTS hstore SCHEMA pg_catalog;
      CREATE TABLE t (email citext, emails citext[], pairs hstore)
      """)
    try db.executeUpdate(
      "INSERT INTO t VALUES (\("Ada@x"), \(#"["Bob@x"]"#), \(#"{"a\"":"1","b":null}"#))")
    #expect(try db.value("SELECT count(*) FROM t WHERE email = \("ADA@X")", as: Int.self) == 1)
    #expect(try db.value("SELECT emails FROM t") == #"["Bob@x"]"#)
    #expect(
      try db.value("SELECT pairs FROM t", as: JSON<[String: String?]>.self)?.value
        == ["a\"": "1", "b": nil])
  }

  @Test("create(enum:of:) creates a type, and adds the values that it lacks where they belong")
  func createdEnum() throws {
    enum Few: String, CaseIterable { case sad, happy }
    enum Many: String, CaseIterable {
      case awful, sad
      case fair = "it's fair"
      case happy, great
    }
    try db.create(enum: "feeling", of: Few.self)
    #expect(try db.value("SELECT enum_range(NULL::feeling)::text") == "{sad,happy}")
    try db.create(enum: "feeling", of: Many.self)
    try db.create(enum: "feeling", of: Many.self)
    #expect(
      try db.value("SELECT enum_range(NULL::feeling)::text")
        == "{awful,sad,\"it's fair\",happy,great}")
    try db.create(enum: "feeling", of: Few.self)
  }
}

extension String {
  fileprivate var quoted: String { "'" + replacingOccurrences(of: "'", with: "''") + "'" }
}
