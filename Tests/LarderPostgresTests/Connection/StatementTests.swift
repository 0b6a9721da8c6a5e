import LarderSQLite
import PostgresSupport
import Testing

@testable import LarderPostgres

@Suite(
  "Statements on a server", .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whySkipped)")
)
struct StatementTests {
  let db: PostgresConnection

  init() throws {
    db = try .test()
    try db.run("CREATE TEMP TABLE city (id INT8 PRIMARY KEY, name TEXT NOT NULL, population INT4)")
  }

  @Test("A prepared statement runs with different values")
  func insert() throws {
    let insert = try db.prepare("INSERT INTO city VALUES ($1, $2, $3)")
    #expect(insert.parameters.types == [TypeOID.int8, TypeOID.text, TypeOID.int4])
    try insert.bind([1, "北京市", 21_893_095])
    try insert.execute()
    #expect(insert.changes == 1)
    try insert.bind([2, "Oslo", .null])
    try insert.execute()
    #expect(
      try db.rows("SELECT * FROM city ORDER BY id")
        == [["1", "'北京市'", "21893095"], ["2", "'Oslo'", "NULL"]])
    #expect(try db.rows("SELECT name FROM city WHERE id = $1", 2) == [["'Oslo'"]])
  }

  @Test("A statement without parameters is prepared in its first execution's round trip")
  func withoutParameters() throws {
    let count = try db.prepare("SELECT count(*) AS cities FROM city", parameterCount: 0)
    #expect(count.columnNames.isEmpty)
    for _ in 0..<3 {
      try count.execute()
      #expect(count.columnNames == ["cities"])
      #expect(try count.next())
      #expect(count.column(0).integer == 0)
      #expect(try !count.next())
      #expect(try !count.next())
    }
    #expect(db.status == .idle)
  }

  @Test("The number of changes counts changed rows only, not selected ones")
  func changes() throws {
    func changes(_ sql: String) throws -> Int {
      let statement = try db.prepare(sql)
      try statement.execute(streaming: true)
      while try statement.next() {}
      return statement.changes
    }
    #expect(try changes("INSERT INTO city SELECT i, 'n' || i FROM generate_series(1, 10) i") == 10)
    #expect(try changes("UPDATE city SET population = 1 WHERE id > 4 RETURNING id") == 6)
    #expect(try changes("SELECT * FROM city") == 0)
    #expect(try changes("DELETE FROM city WHERE id > 8") == 2)
    #expect(try changes("CREATE TEMP TABLE other (a INT)") == 0)
  }

  @Test("BEGIN is sent with the first statement, and an empty transaction sends nothing")
  func deferredBegin() throws {
    db.deferred = ["BEGIN ISOLATION LEVEL SERIALIZABLE"]
    #expect(db.status == .transaction)
    #expect(try db.rows("SHOW transaction_isolation") == [["'serializable'"]])
    #expect(db.status == .transaction)
    #expect(!db.discardDeferredBegin())
    #expect(try db.run("COMMIT") == "COMMIT")
    #expect(db.status == .idle)
    db.deferred = ["BEGIN"]
    #expect(db.discardDeferredBegin())
    #expect(db.status == .idle)
  }

  @Test("A failing BEGIN is told apart from the statement that was sent with it")
  func failedBegin() throws {
    db.deferred = ["BEGIN ISOLATION LEVEL WHATEVER"]
    let error = failure { try db.rows("SELECT 1") }
    #expect(error?.sql == "BEGIN ISOLATION LEVEL WHATEVER")
    #expect(error?.sqlState == "42601")
    #expect(db.status == .idle)
    db.deferred = ["BEGIN"]
    let other = failure { try db.rows("SELECT nothing") }
    #expect(other?.sql == nil && other?.sqlState == "42703")
    #expect(db.status == .failedTransaction)
    #expect(failure { try db.rows("SELECT 1") }?.sqlState == "25P02")
    #expect(try db.run("COMMIT") == "ROLLBACK")
    #expect(try db.rows("SELECT 1") == [["1"]])
  }

  @Test("Another statement can run while a statement's rows are streamed")
  func nested() throws {
    let numbers = try db.prepare("SELECT i, 'n' || i FROM generate_series(1, 1000) i")
    try numbers.execute(streaming: true)
    #expect(db.status == .active)
    var sum = 0
    while try numbers.next() {
      let number = numbers.column(0).integer
      if number % 100 == 50 {
        #expect(try db.rows("SELECT $1::int8 + 1", .integer(number)) == [["\(number + 1)"]])
      }
      #expect(try numbers.column(1).text() == "n\(number)")
      sum += Int(number)
    }
    #expect(sum == 500_500)
    #expect(db.status == .idle)
  }

  @Test("Resetting a streaming statement early leaves the transaction as it is")
  func earlyEnd() throws {
    try db.run("BEGIN")
    do {
      let numbers = try db.prepare("SELECT generate_series(1, 100000)")
      try numbers.execute(streaming: true)
      #expect(try numbers.next())
      try numbers.reset()
      #expect(db.status == .transaction)
      try numbers.execute(streaming: true)
      #expect(try numbers.next())
    }
    #expect(db.status == .transaction)
    #expect(try db.run("COMMIT") == "COMMIT")
  }

  @Test("An error in a later row is thrown when that row is read, also after reading ahead")
  func lateFailure() throws {
    let sql = "SELECT 10 / (3 - i) FROM generate_series(1, 5) i"
    let statement = try db.prepare(sql)
    try statement.execute(streaming: true)
    #expect(try statement.next())
    #expect(try statement.next())
    #expect(failure { _ = try statement.next() }?.sqlState == "22012")
    #expect(try !statement.next())
    try statement.execute(streaming: true)
    #expect(try statement.next())
    #expect(try db.rows("SELECT 1") == [["1"]])
    #expect(try statement.next())
    #expect(failure { _ = try statement.next() }?.sqlState == "22012")
    try statement.execute(streaming: true)
    #expect(failure { try statement.reset() }?.sqlState == "22012")
    #expect(failure { try statement.execute() }?.sqlState == "22012")
    #expect(try db.rows("SELECT 2") == [["2"]])
  }

  @Test("A deferred constraint that fails at an implicit commit is thrown")
  func deferredConstraint() throws {
    try db.runAll(
      """
      CREATE TEMP TABLE parent (id INT8 PRIMARY KEY);
      CREATE TEMP TABLE child (parent INT8 REFERENCES parent DEFERRABLE INITIALLY DEFERRED)
      """)
    let insert = try db.prepare("INSERT INTO child VALUES ($1)")
    try insert.bind([7])
    let error = failure { try insert.execute() }
    #expect(error?.sqlState == "23503")
    #expect(error?.table == "child")
    #expect(try db.rows("SELECT count(*) FROM child") == [["0"]])
    #expect(failure { try db.run("INSERT INTO child VALUES (8)") }?.sqlState == "23503")
    #expect(db.status == .idle)
  }

  @Test(
    "Released statements are deallocated in a later round trip, outside of transactions")
  func deallocation() throws {
    func count() throws -> String {
      try db.rows("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%gone%'")[0][0]
    }
    try db.run("BEGIN")
    for number in 0..<5 { try db.prepare("SELECT \(number) AS gone, $1::int").execute() }
    #expect(try count() == "6")
    try db.run("ROLLBACK")
    db.deferred = ["BEGIN"]
    #expect(try count() == "1")
    try db.run("ROLLBACK")
  }

  @Test("A statement whose table has changed is prepared again outside of transactions")
  func stalePlan() throws {
    let all = try db.prepare("SELECT * FROM city WHERE id >= $1")
    try all.bind([0])
    try all.execute()
    try db.run("ALTER TABLE city ADD COLUMN founded INT4")
    try db.run("INSERT INTO city VALUES (1, 'Oslo', 2, 1048)")
    try all.execute()
    #expect(all.columnNames == ["id", "name", "population", "founded"])
    #expect(try all.next())
    #expect(try all.texts == ["1", "'Oslo'", "2", "1048"])
    try all.reset()
    // In a transaction the server has already failed, so only the next one succeeds.
    try db.run("ALTER TABLE city DROP COLUMN founded")
    try db.run("BEGIN")
    #expect(failure { try all.execute() }?.sqlState == "0A000")
    try db.run("ROLLBACK")
    try all.execute()
    #expect(all.columnNames == ["id", "name", "population"])
    try all.reset()
    try db.run("DISCARD ALL")
    try db.run("CREATE TEMP TABLE city (id INT8)")
    try all.execute()
    #expect(all.columnNames == ["id"])
  }

  @Test("With preparesStatements off, no prepared statement stays on the server")
  func unnamed() throws {
    var configuration = PostgresConfiguration()
    configuration.preparesStatements = false
    let db = try PostgresConnection(PostgresServer.shared.address, configuration)
    let double = try db.prepare("SELECT $1::int4 * 2")
    let one = try db.prepare("SELECT 1", parameterCount: 0)
    for number in 1...3 {
      try double.bind([.integer(Int64(number))])
      try double.execute()
      #expect(try double.next())
      #expect(double.column(0).integer == Int64(2 * number))
      try one.execute(streaming: true)
      #expect(try one.next())
    }
    #expect(try db.rows("SELECT count(*) FROM pg_prepared_statements") == [["0"]])
  }

  @Test(
    "NUL in SQL, unreadable types and COPY as a statement are refused, empty statements aren't"
  )
  func oddStatements() throws {
    #expect(failure { try db.run("SELECT '\0'") }?.resultCode == .misuse)
    #expect(failure { _ = try db.prepare("SELECT '\0'") }?.resultCode == .misuse)
    try db.prepare("").execute()
    try db.prepare("  -- nothing", parameterCount: 0).execute()
    #expect(
      failure { _ = try db.prepare("SELECT '(1,2)'::point AS spot") }?.message
        == "the type of column “spot” (OID 600) can't be read: cast it to text")
    #expect(try db.rows("SELECT '(1,2)'::point::text") == [["'(1,2)'"]])
    #expect(
      failure { try db.prepare("COPY city TO STDOUT", parameterCount: 0).execute() }?.sqlState
        == "0A000")
    #expect(!db.isOpen)
    #expect(failure { try db.run("SELECT 1") }?.isConnectionLost == true)
  }
}
