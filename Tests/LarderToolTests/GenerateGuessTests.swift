import Foundation
import Larder
import Testing

/// Types guessed from a column's values: a guess needs every value to fit.
@Suite("larder generate: guessed types")
struct GenerateGuessTests {
  /// A column's declared type and values in SQL, and the expected Swift type.
  struct Sample: CustomTestStringConvertible, Sendable {
    let type: String
    let values: [String]
    let swift: String
    var coding: String?
    /// A value that doesn't fit the guess, and the Swift type that is expected with it.
    var other: (value: String, swift: String)?
    var column = "x"

    var testDescription: String { "\(column) \(type): \(values.joined(separator: ", "))" }
  }

  static let samples: [Sample] = [
    Sample(type: "TEXT", values: ["'Oslo'"], swift: "String?", other: ("x'00'", "DatabaseValue")),
    Sample(type: "INTEGER", values: ["1", "7"], swift: "Int?", other: ("'x'", "DatabaseValue")),
    Sample(type: "INTEGER", values: ["1.5"], swift: "Double?", other: ("'x'", "DatabaseValue")),
    Sample(type: "REAL", values: ["1", "2.5"], swift: "Double?", other: ("'x'", "DatabaseValue")),
    Sample(type: "BLOB", values: ["x'00'"], swift: "Data?", other: ("1", "DatabaseValue")),
    Sample(
      type: "NUMERIC(10,2)", values: ["1", "0.99"], swift: "Decimal?",
      other: ("'x'", "DatabaseValue")),
    Sample(type: "decimal", values: ["-0.1"], swift: "Decimal?", other: ("9e999", "Double?")),
    Sample(type: "MONEY", values: [], swift: "Decimal?"),
    Sample(type: "NUMBER(10)", values: ["7"], swift: "Int?", other: ("0.5", "Double?")),
    Sample(type: "DECIMAL(8, 0)", values: [], swift: "Int?"),
    Sample(type: "", values: ["1"], swift: "Int?", other: ("'x'", "DatabaseValue")),
    Sample(type: "", values: ["'x'"], swift: "String?", other: ("1.5", "DatabaseValue")),
    Sample(type: "", values: [], swift: "DatabaseValue"),
    Sample(type: "INTEGER", values: [], swift: "Int?"),
    // Dates.
    Sample(
      type: "TEXT", values: ["'2026-11-21'", "'1960-02-29'"], swift: "Date?",
      coding: ".format(.sqlDate)",
      other: ("'2026-02-30'", "String?")),
    Sample(
      type: "DATE", values: ["'2026-11-21'"], swift: "Date?", coding: ".format(.sqlDate)",
      other: ("'21.11.2026'", "String?")),
    Sample(
      type: "DATETIME", values: ["'2026-11-21 08:33:26'"], swift: "Date?",
      coding: ".format(.sqlDateTime)", other: ("'2026-11-21'", "String?")),
    Sample(
      type: "TEXT", values: ["'2026-11-21 08:33:26.123'"], swift: "Date?",
      coding: ".format(.sqlDateTimeMilliseconds)", other: ("'2026-11-21 08:33:26'", "Date?")),
    Sample(
      type: "TEXT", values: ["'2026-11-21T08:33:26.123Z'"], swift: "Date?",
      coding: ".iso8601", other: ("'2026-11-21T08:33:26Z'", "String?")),
    Sample(
      type: "TEXT", values: ["'2026-11-21T08:33:26Z'"], swift: "Date?",
      coding: ".format(.iso8601Seconds)", other: ("'2026-11-21T08:33:26+01'", "String?")),
    Sample(type: "DATETIME", values: ["1700000000"], swift: "Int?"),
    // Dates as Rails, SQLAlchemy, Django, Python, Go, .NET and Sequelize write them.
    Sample(
      type: "datetime(6)",
      values: ["'2024-01-02 03:04:05.123456'", "'1883-11-18 12:03:58.000000'"], swift: "Date?",
      coding: "DateTexts.sqlMicroseconds", other: ("'2024-01-02 03:04:05'", "String?")),
    Sample(
      type: "datetime", values: ["'2024-01-02 03:04:05.123450'", "'2024-01-02 03:04:05'"],
      swift: "Date?", coding: "DateTexts.sqlMicrosecondsOrSeconds",
      other: ("'2024-01-02 03:04:05.1'", "String?")),
    Sample(
      type: "TEXT", values: ["'2024-01-02T03:04:05.123456+00:00'"], swift: "Date?",
      coding: "DateTexts.iso8601MicrosecondsOrSecondsPlus00_00",
      other: ("'2024-01-02T03:04:05.123456+01:00'", "String?")),
    Sample(
      type: "TEXT", values: ["'2024-01-02T03:04:05-05:30'", "'0001-12-31T23:04:05-05:30'"],
      swift: "Date?", coding: "DateTexts.iso8601SecondsMinus05_30",
      other: ("'2024-01-02T03:04:05'", "String?")),
    Sample(
      type: "TIMESTAMP", values: ["'2024-01-02 03:04:05.1'", "'2024-01-02 03:04:05.12'"],
      swift: "Date?", coding: "DateTexts.sqlMicrosecondsShortened",
      other: ("'2024-01-02 03:04:05.1234567'", "String?")),
    Sample(
      type: "DATETIME", values: ["'2024-01-02 03:04:05.678 +00:00'"], swift: "Date?",
      coding: "DateTexts.sqlMillisecondsSpacePlus00_00",
      other: ("'2024-02-30 03:04:05.678 +00:00'", "String?")),
    Sample(
      type: "TEXT", values: ["'2024-01-02T03:04:05'"], swift: "Date?",
      coding: "DateTexts.iso8601Seconds", other: ("'2024-01-02T03:04'", "String?")),
    // Their order as texts isn't that of the dates.
    Sample(
      type: "TEXT", values: ["'2024-01-02T03:04:05.1Z'", "'2024-01-02T03:04:05.12Z'"],
      swift: "String?"),
    // A Date doesn't keep so many digits, here and so far from now.
    Sample(type: "TEXT", values: ["'2024-01-02 03:04:05.123456789'"], swift: "String?"),
    Sample(type: "TEXT", values: ["'9999-12-31 23:59:59.999999'"], swift: "String?"),
    Sample(type: "DATE", values: [], swift: "String?"),
    Sample(
      type: "TIMESTAMP DEFAULT CURRENT_TIMESTAMP", values: [], swift: "Date?",
      coding: ".format(.sqlDateTime)"),
    // Bools.
    Sample(
      type: "INTEGER", values: ["0", "1"], swift: "Bool?", other: ("2", "Int?"), column: "is_open"),
    Sample(type: "INT", values: ["1"], swift: "Bool?", other: ("-1", "Int?"), column: "hasTrees"),
    Sample(
      type: "INTEGER", values: ["0"], swift: "Bool?", other: ("NULL", "Bool?"),
      column: "Discontinued"),
    Sample(type: "INTEGER", values: ["0", "1"], swift: "Int?"),
    Sample(type: "INTEGER", values: ["0", "1"], swift: "Int?", column: "island"),
    Sample(type: "INTEGER", values: [], swift: "Int?", column: "is_open"),
    Sample(type: "BOOLEAN", values: ["0", "1"], swift: "Bool?", other: ("2", "Int?")),
    Sample(type: "BOOL", values: [], swift: "Bool?"),
    // UUIDs.
    Sample(
      type: "TEXT", values: ["'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'"], swift: "UUID?",
      coding: ".text",
      other: ("'e621e1f8-c36c-495a-93fc-0c247a3e6e5f'", "String?")),
    Sample(
      type: "CHAR(36)", values: ["'e621e1f8-c36c-495a-93fc-0c247a3e6e5f'"], swift: "UUID?",
      coding: ".lowercaseText", other: ("'e621e1f8c36c495a93fc0c247a3e6e5f'", "String?")),
    Sample(
      type: "BLOB", values: ["x'E621E1F8C36C495A93FC0C247A3E6E5F'"], swift: "UUID?",
      other: ("x'00'", "Data?"), column: "device_uuid"),
    Sample(type: "BLOB", values: ["x'E621E1F8C36C495A93FC0C247A3E6E5F'"], swift: "Data?"),
    Sample(
      type: "BLOB", values: (1...8).map { "x'E621E1F8C36C495A93FC0C247A3E6E5\($0)'" },
      swift: "UUID?",
      other: ("x'E621E1F8C36CF95A03FC0C247A3E6E5F'", "Data?")),
    // JSON.
    Sample(
      type: "TEXT", values: ["'[\"a\"]'", "'[]'"], swift: "[String]?", coding: ".json",
      other: ("'[1]'", "JSONValue?")),
    Sample(
      type: "TEXT", values: ["'[1, 2]'"], swift: "[Int]?", coding: ".json",
      other: ("'[1.5]'", "[Double]?")),
    Sample(
      type: "TEXT", values: ["'{\"a\": \"b\"}'"], swift: "[String: String]?", coding: ".json",
      other: ("'{\"a\": 1}'", "JSONValue?")),
    Sample(
      type: "JSON", values: ["'{\"a\": 1}'"], swift: "[String: Int]?", coding: ".json",
      other: ("'{\"a\": 1'", "String?")),
    Sample(
      type: "TEXT", values: ["'{\"a\": [1, {\"b\": null}]}'"], swift: "JSONValue?", coding: ".json",
      other: ("'{a}'", "String?")),
    Sample(
      type: "TEXT", values: ["'{}'"], swift: "JSONValue?", coding: ".json", other: ("''", "String?")
    ),
    Sample(
      type: "TEXT", values: ["'[\"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\"]'", "'[]'"],
      swift: "[UUID]?", coding: ".json",
      other: ("'[\"e621e1f8-c36c-495a-93fc-0c247a3e6e5f\"]'", "[String]?")),
    // Arrays as Fluent declares them.
    Sample(
      type: "UUID[]", values: ["'[]'"], swift: "[UUID]?", coding: ".array",
      other: ("'[\"a\"]'", "[String]?")),
    Sample(
      type: "TEXT[]", values: ["'[]'"], swift: "[String]?", coding: ".array",
      other: ("'{\"a\": 1}'", "JSONValue?")),
    Sample(
      type: "DOUBLE[]", values: ["'[1, 2]'"], swift: "[Double]?", coding: ".array",
      other: ("'soon'", "String?")),
    // Dates as real numbers.
    Sample(
      type: "REAL", values: ["1777460434.050631", "1700000000"], swift: "Date?",
      other: ("5", "Double?"), column: "created_at"),
    Sample(type: "REAL", values: ["1777460434.050631"], swift: "Double?"),
    Sample(type: "REAL", values: [], swift: "Double?", column: "created_at"),
    Sample(type: "TEXT", values: ["'1'"], swift: "String?"),
    Sample(type: "TEXT", values: ["'null'"], swift: "String?"),
    Sample(
      type: "TEXT", values: ["'\(String(repeating: "[", count: 100_000))'"], swift: "String?"),
  ]

  @Test(
    "larder generate guesses a Swift type that every value fits, and notes the guess",
    arguments: samples)
  func fits(sample: Sample) throws {
    let property = try #require(
      try guess(sample.column, sample.type, sample.values + ["NULL"]))
    #expect(property.type == sample.swift)
    #expect(property.coding == sample.coding)
    if property.coding != nil { #expect(property.notes.first?.hasPrefix("Guessed: ") == true) }
  }

  @Test(
    "larder generate drops a guess if a single value doesn't fit",
    arguments: samples.filter { $0.other != nil })
  func doesNotFit(sample: Sample) throws {
    let other = try #require(sample.other)
    for values in [sample.values + [other.value], [other.value] + sample.values] {
      let property = try #require(try guess(sample.column, sample.type, values))
      #expect(property.type == other.swift, "\(values)")
    }
  }

  private func guess(
    _ column: String, _ type: String, _ values: [String]
  ) throws -> Tool.GeneratedType.Property? {
    let rows = values.map { "INSERT INTO t (\(column)) VALUES (\($0));" }.joined(separator: "\n")
    let tool = try Tool.with("CREATE TABLE t (\(column) \(type)); \(rows)")
    return try tool.generated()[0].properties.first
  }

  @Test("larder generate reads the first and last rows, as many as --rows says")
  func rows() throws {
    let tool = try Tool.with(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, day TEXT);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
      INSERT INTO t SELECT i, iif(i = 15000, 'soon', '2026-11-21') FROM n;
      CREATE TABLE u (id TEXT PRIMARY KEY, day TEXT) WITHOUT ROWID;
      INSERT INTO u SELECT id, iif(id = 9999, 'soon', '2026-11-21') FROM t;
      CREATE TABLE v (day TEXT, "rowid" TEXT);
      INSERT INTO v SELECT iif(id = 30000, 'soon', '2026-11-21'), 'x' FROM t;
      """)
    func types(_ options: String...) throws -> [String] {
      try tool.generated(options).compactMap { $0.properties.first { $0.name == "day" }?.type }
    }
    #expect(try types() == ["Date?", "String?", "String?"])
    #expect(try types("--rows", "30000") == ["String?", "String?", "String?"])
    #expect(try types("--rows", "1") == ["Date?", "Date?", "Date?"])
    #expect(try types("--rows", "0") == ["String?", "String?", "String?"])
    let note = try tool.generated()[0].properties[1].notes
    #expect(note == ["Guessed: all 10,000 values looked at are texts as YYYY-MM-DD."])
  }

  @Test(
    "larder generate declares a column of Fluent's arrays, so that the table is adopted as it is")
  func arrays() throws {
    let tool = try Tool.with(
      "CREATE TABLE user (id UUID PRIMARY KEY, muted UUID[] NOT NULL, tags TEXT[] NOT NULL DEFAULT '{}')"
    )
    let result = try tool.run("generate", "data.db")
    #expect(result.output.contains(".sqlType(\"UUID[]\")"), "\(result.output)")
    #expect(result.output.contains(".sqlType(\"TEXT[]\"), .default(\"{}\")"))
    #expect(!result.output.contains("isn't declared"))
    #expect(!result.output.contains("Differs"))
  }

  @Test("larder generate notes a column with text that isn't UTF-8")
  func brokenText() throws {
    let tool = try Tool.with(
      "CREATE TABLE t (x TEXT); INSERT INTO t VALUES ('ok'), (CAST(x'FF41' AS TEXT))")
    let property = try tool.generated()[0].properties[0]
    #expect(property.type == "String?")
    #expect(property.notes == ["Some text isn't UTF-8: reading such a row throws."])
  }

  @Test(
    "larder generate keeps dates that a Date can't hold exactly as text, with the reason",
    arguments: [
      (
        ["2026-11-21 08:33:26.123456", "2026-11-21"],
        "Its texts are dates, but not all in one form that a Date keeps exactly: kept as text."
      ),
      (
        ["2026-11-21 08:33:26+01:00", "2026-07-21 08:33:26+02:00"],
        "Its texts are dates with several offsets from UTC, which a Date doesn't keep: kept as text."
      ),
      (
        ["2026-11-21 08:33:26.1234567"],
        "Its texts are dates with 7 digits of a second, and a Date keeps 6 exactly: kept as text."
      ),
    ])
  func otherDates(values: [String], note: String) throws {
    let rows = values.map { "('\($0)')" }.joined(separator: ", ")
    let tool = try Tool.with("CREATE TABLE t (x TEXT); INSERT INTO t VALUES \(rows)")
    let property = try tool.generated()[0].properties[0]
    #expect(property.type == "String?")
    #expect(property.notes == [note])
  }

  @Test("larder generate expects fractions of zero to be left out in a database of Django's")
  func django() throws {
    let tool = try Tool.with(
      """
      CREATE TABLE t (x datetime); INSERT INTO t VALUES ('2024-01-02 03:04:05.123456');
      CREATE TABLE django_migrations (id INTEGER PRIMARY KEY);
      """)
    let coding = try tool.generated()[0].properties[0].coding
    #expect(coding == "DateTexts.sqlMicrosecondsOrSeconds")
  }

  @Test("Columns whose CHECK lists the same texts share one enum, unless a value isn't in the list")
  func enums() throws {
    let tool = try Tool.with(
      """
      CREATE TABLE "order" (id INTEGER PRIMARY KEY,
        status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'on hold', 'done')),
        kind TEXT CHECK (("kind" in ('a', 'b')) ), size TEXT, old TEXT CHECK (old IN ('x')),
        nocase TEXT COLLATE NOCASE CHECK (nocase IN ('x')), number INTEGER CHECK (number IN (1, 2)),
        CHECK (size IS NULL OR size IN ('S', 'none', '', '+')));
      CREATE TABLE returned (id INTEGER PRIMARY KEY, status TEXT CHECK (status IN ('done', 'open', 'on hold')));
      CREATE VIEW v AS SELECT status FROM returned;
      PRAGMA ignore_check_constraints = ON;
      INSERT INTO "order" (old, size) VALUES ('y', 'S');
      """)
    let types = try tool.generated()
    #expect(
      types.map { $0.properties.map(\.type) } == [
        ["Int64?", "Status", "OrderKind?", "OrderSize?", "String?", "String?", "Int?"],
        ["Int64?", "Status?"], ["Status?"],
      ])
    let text = try tool.run("generate", "data.db").output
    #expect(
      text.contains(
        """
        /// The texts that the CHECK of “order.status”, “returned.status” allows.
        enum Status: String, CaseIterable, DatabaseValueConvertible {
          case open
          case onHold = "on hold"
          case done
        }
        """), "\(text)")
    #expect(
      text.contains(
        """
          case s = "S"
          case noneValue = "none"
          case empty = ""
          case value4 = "+"
        """), "\(text)")
    #expect(text.contains("var status: Status = Status.open"), "\(text)")
    #expect(text.components(separatedBy: "enum ").count == 4)
  }

  @Test("larder generate gives a foreign key the type of the referenced key if its values fit")
  func foreignKeys() throws {
    let tool = try Tool.with(
      """
      PRAGMA foreign_keys = OFF;
      CREATE TABLE device (uuid TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE reading (id INTEGER PRIMARY KEY, device TEXT NOT NULL REFERENCES device,
        reading INTEGER REFERENCES reading);
      CREATE TABLE loose (device TEXT REFERENCES device);
      INSERT INTO device VALUES ('E621E1F8-C36C-495A-93FC-0C247A3E6E5F');
      INSERT INTO loose VALUES ('none');
      """)
    let types = try tool.generated()
    #expect(
      types.map { $0.properties.map(\.type) } == [
        ["UUID"], ["Int64?", "UUID", "Int64?"], ["String?"],
      ])
    #expect(types[1].properties[1].coding == ".text")
    #expect(
      types.map(\.associations) == [
        ["readings"], ["device", "reading", "readingsByReading"], [],
      ])
  }

  @Test(
    "larder generate gives a view's columns the types of their table's columns, or of their values")
  func views() throws {
    let tool = try Tool.with(
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, founded TEXT, is_open INTEGER);
      INSERT INTO city VALUES (1, '1048-01-01', 1);
      CREATE VIEW v AS SELECT id, founded AS day, is_open + 0 AS n, count(*) AS c, 'x' AS t, NULL AS e FROM city;
      """)
    let view = try #require(try tool.generated().last)
    #expect(
      view.properties.map(\.type) == [
        "Int64?", "Date?", "Int?", "Int?", "String?", "DatabaseValue",
      ])
  }
}
