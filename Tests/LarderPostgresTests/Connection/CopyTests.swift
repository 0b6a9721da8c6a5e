import LarderSQLite
import PostgresSupport
import Testing

@testable import LarderPostgres

@Suite(
  "COPY into a table", .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whySkipped)"))
struct CopyTests {
  let db: PostgresConnection

  init() throws {
    db = try .test()
    try db.run(
      "CREATE TEMP TABLE \"the \"\"city\"\"\" (id INT8 PRIMARY KEY, \"the name\" TEXT NOT NULL, "
        + "population INT4 CHECK (population >= 0), area FLOAT8)")
  }

  private let table = "the \"city\""

  private func copy(
    _ numbers: some Sequence<Int>, name: (Int) -> String? = { "n\($0)" }, population: Int = 1
  ) throws -> Int {
    let copy = try PostgresCopy(
      into: table, columns: ["id", "the name", "population", "area"], on: db)
    for number in numbers {
      try copy.bind(.integer(Int64(number)))
      try copy.bind(name(number).map { .text($0) } ?? .null)
      try copy.bind(.integer(Int64(population)))
      try copy.bind(.real(Double(number) / 2))
      try copy.endRow()
    }
    return try copy.finish()
  }

  private func count() throws -> String {
    try db.rows("SELECT count(*) FROM \"the \"\"city\"\"\"")[0][0]
  }

  @Test("COPY stores 10,000 rows in the open transaction")
  func rows() throws {
    db.deferred = ["BEGIN"]
    #expect(try copy(1...10_000) == 10_000)
    #expect(db.status == .transaction)
    #expect(
      try db.rows("SELECT sum(id), max(\"the name\"), sum(area) FROM \"the \"\"city\"\"\"")
        == [["'50005000'", "'n9999'", "25002500.0"]])
    try db.run("ROLLBACK")
    #expect(try count() == "0")
    #expect(try copy([]) == 0)
  }

  @Test("COPY throws with the row that violates a constraint, and stores nothing")
  func failingRow() throws {
    #expect(try copy([7000]) == 1)
    let duplicate = failure { _ = try copy(1...10_000) }
    #expect(duplicate?.sqlState == "23505")
    #expect(duplicate?.row == 6999)
    #expect(duplicate?.table == table)
    let missing = failure { _ = try copy(10_001...10_010) { $0 == 10_004 ? nil : "x" } }
    #expect(missing?.sqlState == "23502")
    #expect(missing?.row == 3)
    #expect(missing?.column == "the name")
    #expect(failure { _ = try copy([1, 2], population: -1) }?.row == 0)
    #expect(try count() == "1")
    #expect(db.status == .idle)
  }

  @Test("COPY refuses unsuitable values before sending, and a cancelled COPY stores nothing")
  func refused() throws {
    let copy = try PostgresCopy(into: table, columns: ["id", "the name", "population"], on: db)
    try copy.bind(1)
    #expect(throws: ConversionError.self) { try copy.bind("a\0b") }
    #expect(throws: PostgresFailure.self) { try copy.endRow() }
    #expect(failure { try db.run("SELECT 1") }?.resultCode == .misuse)
    #expect(failure { _ = try db.prepare("SELECT 1") }?.resultCode == .misuse)
    copy.cancel()
    #expect(throws: PostgresFailure.self) { try copy.bind(.null) }
    #expect(throws: PostgresFailure.self) { _ = try copy.finish() }
    do {
      let other = try PostgresCopy(into: table, columns: ["id"], on: db)
      try other.bind(1)
      #expect(throws: PostgresFailure.self) { try other.bind(2) }
    }
    #expect(try count() == "0")
    #expect(
      failure { _ = try PostgresCopy(into: "nowhere", columns: ["id"], on: db) }?.sqlState
        == "42P01")
    #expect(
      failure { _ = try PostgresCopy(into: table, columns: ["no"], on: db) }?.sqlState == "42703")
    #expect(
      failure { _ = try PostgresCopy(into: "pg_am", columns: ["oid"], on: db) }?.sqlState == "0A000"
    )
    #expect(try count() == "0")
  }

  @Test("COPY writes every type as INSERT would")
  func types() throws {
    try db.run(
      """
      CREATE TEMP TABLE every (a INT2, b INT4, c INT8, d FLOAT4, e FLOAT8, f NUMERIC, g TEXT, h VARCHAR(9), i BYTEA,
        j BOOL, k UUID, l JSONB, m JSON, n TIMESTAMPTZ, o TIMESTAMP)
      """)
    let names = (0..<15).map { String(UnicodeScalar(UInt8(ascii: "a") + $0)) }
    let uuid = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
    let copy = try PostgresCopy(into: "every", columns: names, on: db)
    let decimals = ["-12345.678", "1e-7", "1E6", "0.000", "100000000000000000000", "42"]
    for decimal in decimals {
      for number in 1...3 { try copy.bind(.integer(Int64(number))) }
      try copy.bind(0.5)
      try copy.bind(0.1)
      for text in [decimal, "å", "b"] { try copy.bind(.text(text)) }
      try copy.bind(.blob([1, 255]))
      try copy.bind(1)
      for text in [uuid, "{\"a\":1}", "[1]", "2026-11-22T15:30:00.123456Z"] {
        try copy.bind(.text(text))
      }
      try copy.bind(1.5)
      try copy.endRow()
    }
    #expect(try copy.finish() == decimals.count)
    let rows = try db.rows("SELECT * FROM every")
    #expect(
      rows[0] == [
        "1", "2", "3", "0.5", "0.1", "'-12345.678'", "'å'", "'b'", "x'01ff'", "1",
        "x'e621e1f8c36c495a93fc0c247a3e6e5f'",
        "'{\"a\": 1}'",
        "'[1]'", "1795361400.123456", "1.5",
      ])
    for (row, decimal) in zip(rows, decimals) {
      #expect(
        try db.rows(
          "SELECT $1::numeric = $2::numeric", .text(decimal),
          .text(String(row[5].dropFirst().dropLast()))) == [
            ["1"]
          ])
    }
  }

  @Test("A deadline ends COPY, and the connection stays usable")
  func deadline() throws {
    let copy = try PostgresCopy(into: table, columns: ["id", "the name"], on: db)
    db.deadline = LarderPostgresTests.deadline(milliseconds: 50)
    var number: Int64 = 0
    // The server accepts all data, so the loop never waits before the deadline.
    let error = failure {
      while true {
        try copy.bind(.integer(number))
        try copy.bind(.text(String(repeating: "x", count: 1000)))
        try copy.endRow()
        number += 1
        if number == 2_000_000 { _ = try copy.finish() }
      }
    }
    #expect(error?.resultCode == .interrupt)
    db.deadline = nil
    #expect(try count() == "0")
  }
}
