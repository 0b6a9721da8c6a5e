import LarderSQLite
import PostgresSupport
import Testing

@testable import LarderPostgres

@Suite(
  "Errors of a server", .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whySkipped)"))
struct FailureTests {
  @Test(
    "Each SQLSTATE maps to a result code",
    arguments: [
      ("23505", ResultCode.constraintUnique), ("23503", .constraintForeignKey),
      ("23001", .constraintForeignKey), ("23502", .constraintNotNull), ("23514", .constraintCheck),
      ("23P01", .constraint), ("40001", .busy), ("40P01", .busy), ("55P03", .busy),
      ("57014", .interrupt), ("25006", .readOnly), ("25P02", .abort), ("53100", .full),
      ("53200", .noMemory), ("53300", .cannotOpen), ("08006", .ioError), ("08001", .cannotOpen),
      ("57P01", .ioError), ("57P03", .cannotOpen), ("28P01", .authorization), ("42601", .error),
      ("42501", .authorization), ("22003", .error), ("54000", .tooBig), ("XX001", .corrupt),
      ("", .error),
    ])
  func codes(_ sqlState: String, _ code: ResultCode) {
    #expect(SQLState.resultCode(of: sqlState) == code)
    #expect((PostgresFailure(sqlState, "").constraintKind != nil) == (code.primary == .constraint))
  }

  @Test("A constraint violation names table and column, and its description contains no value")
  func constraints() throws {
    let db = try PostgresConnection.test()
    try db.runAll(
      """
      CREATE TEMP TABLE city (id INT8 PRIMARY KEY, name TEXT NOT NULL CONSTRAINT short CHECK (length(name) < 9));
      INSERT INTO city VALUES (1, 'geheim')
      """)
    func error(_ sql: String, _ values: DatabaseValue...) -> PostgresFailure? {
      failure {
        let statement = try db.prepare(sql)
        try statement.bind(values)
        try statement.execute()
      }
    }
    let insert = "INSERT INTO city VALUES ($1, $2)"
    let duplicate = error(insert, 1, "geheim")
    #expect(duplicate?.constraintKind == .primaryKey)
    #expect(duplicate?.constraint == "city_pkey")
    #expect(duplicate?.table == "city")
    let missing = error(insert, 2, .null)
    #expect(missing?.constraintKind == .notNull)
    #expect(missing?.column == "name")
    let long = error(insert, 3, "geheimnisse")
    #expect(long?.constraintKind == .check)
    #expect(long?.constraint == "short")
    #expect(long?.detail?.contains("geheimnisse") == true)
    for found in [duplicate, missing, long] {
      #expect(found.map { "\($0)" }?.contains("geheim") == false)
    }
  }

  @Test("An error's offset in the SQL counts bytes")
  func offset() throws {
    let db = try PostgresConnection.test()
    let sql = "SELECT '🐘é' AS \"ö\", nothing"
    let error = failure { try db.run(sql) }
    #expect(error?.offset == sql.utf8.count - "nothing".utf8.count)
    #expect(PostgresFailure.byteOffset(ofCharacter: 0, in: sql) == nil)
    #expect(PostgresFailure.byteOffset(ofCharacter: 99, in: sql) == nil)
    #expect(PostgresFailure.byteOffset(ofCharacter: 1, in: sql) == 0)
  }

  @Test("The row in a COPY error's context is found in any language, after the table's name")
  func contexts() {
    #expect(
      PostgresFailure.row(inContext: "COPY city, line 3, column name: \"x 7\"", of: "city") == 2)
    #expect(
      PostgresFailure.column(inContext: "COPY city, line 3, column a: b: \"x: 7\"", of: "city")
        == "a")
    #expect(
      PostgresFailure.column(inContext: "COPY city, Zeile 3, Spalte der Tag: »x«", of: "city")
        == "der Tag")
    #expect(PostgresFailure.column(inContext: "COPY city, line 3, column a", of: "city") == "a")
    #expect(PostgresFailure.column(inContext: "COPY city, line 3", of: "city") == nil)
    #expect(PostgresFailure.row(inContext: "COPY city, Zeile 12", of: "city") == 11)
    #expect(PostgresFailure.row(inContext: "COPY a, 1, line 4", of: "a, 1") == 3)
    #expect(PostgresFailure.row(inContext: "COPY other, line 4", of: "city") == nil)
    #expect(PostgresFailure.row(inContext: "COPY city", of: "city") == nil)
  }

  @Test(
    "Read-only transactions, held locks and serialization failures have their result codes"
  )
  func transactions() throws {
    let (db, other) = (try PostgresConnection.test(), try PostgresConnection.test())
    try db.runAll(
      "CREATE TABLE account (id INT8, balance INT8); INSERT INTO account VALUES (1, 0)")
    defer { _ = try? db.run("DROP TABLE account") }
    try db.run("BEGIN READ ONLY")
    #expect(failure { try db.run("DELETE FROM account") }?.resultCode == .readOnly)
    try db.run("ROLLBACK")
    try db.run("BEGIN")
    try db.run("LOCK account")
    try other.run("SET lock_timeout = 10")
    #expect(failure { try other.runAll("BEGIN; LOCK account") }?.resultCode == .busy)
    try other.run("ROLLBACK")
    try db.run("COMMIT")
    for connection in [db, other] { try connection.run("BEGIN ISOLATION LEVEL SERIALIZABLE") }
    for connection in [db, other] { try connection.rows("SELECT sum(balance) FROM account") }
    for connection in [db, other] { try connection.run("INSERT INTO account VALUES (2, 1)") }
    try db.run("COMMIT")
    let error = failure { try other.run("COMMIT") }
    #expect(error?.sqlState == "40001" && error?.resultCode == .busy)
    #expect(other.status == .idle)
  }
}
