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
      type: "NUMERIC(10,2)", values: ["1", "0.99"], swift: "Double?",
      other: ("'x'", "DatabaseValue")),
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
      coding: ".format(.sqlDateTimeMilliseconds)", other: ("'2026-11-21 08:33:26'", "String?")),
    Sample(
      type: "TEXT", values: ["'2026-11-21T08:33:26.123Z'"], swift: "Date?",
      coding: ".iso8601", other: ("'2026-11-21T08:33:26Z'", "String?")),
    Sample(
      type: "TEXT", values: ["'2026-11-21T08:33:26Z'"], swift: "Date?",
      coding: ".format(.iso8601Seconds)", other: ("'2026-11-21T08:33:26+01'", "String?")),
    Sample(type: "DATETIME", values: ["1700000000"], swift: "Int?"),
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
    #expect(note == ["Guessed: all 10,000 values looked at are text such as 2026-11-21."])
  }

  @Test("larder generate notes a column with text that isn't UTF-8")
  func brokenText() throws {
    let tool = try Tool.with(
      "CREATE TABLE t (x TEXT); INSERT INTO t VALUES ('ok'), (CAST(x'FF41' AS TEXT))")
    let property = try tool.generated()[0].properties[0]
    #expect(property.type == "String?")
    #expect(property.notes == ["Some text isn't UTF-8: reading such a row throws."])
  }

  @Test("larder generate keeps dates in mixed forms as text, with a note")
  func otherDates() throws {
    let tool = try Tool.with(
      "CREATE TABLE t (x TEXT); INSERT INTO t VALUES ('2026-11-21 08:33:26.123456'), ('2026-11-21')"
    )
    let property = try tool.generated()[0].properties[0]
    #expect(property.type == "String?")
    #expect(
      property.notes == [
        "Its texts are dates, but not all in one format of DateFormat: kept as text."
      ])
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
        ["readings"], ["deviceRecord", "readingRecord", "readings"], [],
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
