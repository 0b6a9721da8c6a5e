import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import Testing

private struct Verbose: Record {
  var id: Int64
  var name: String

  struct Columns: Sendable {
    let id = Column("id", \Verbose.id, .primaryKey)
    let name = Column(String(repeating: "name", count: 16), \Verbose.name)
  }
  static let columns = Columns()
  static let table = Table("verbose", Verbose.init, columns.id, columns.name)
}

@Suite(
  "Advice in the errors of a server",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct RefusalTests {
  private func error(_ address: String, retryLimit: Duration? = .seconds(30)) -> DatabaseError? {
    var configuration = PostgresConfiguration()
    configuration.connectTimeout = .seconds(20)
    configuration.retryLimit = retryLimit
    return #expect(throws: DatabaseError.self) {
      _ = try PostgresPool(address, configuration: configuration)
    }
  }

  @Test("Opening a pool with a wrong address, user or database throws with advice")
  func addresses() throws {
    let folder = try PostgresServer.shared.folder
    let nowhere = error("host=/nowhere user=larder dbname=postgres")
    #expect(nowhere?.code == .cannotOpen && nowhere?.sqlState == "08001")
    #expect(nowhere?.message.contains("/nowhere") == true)
    let unreadable = error("postgres//larder")
    #expect(unreadable?.message.contains("neither a URL") == true)
    let database = error("host=\(folder) user=larder dbname=nowhere")
    #expect(database?.code == .cannotOpen && database?.sqlState == "3D000")
    #expect(database?.message.contains("CREATE DATABASE") == true)
    let user = error("host=\(folder) user=nobody dbname=postgres")
    #expect(user?.code == .authorization)
    #expect(user?.message.contains("~/.pgpass") == true)
    #expect(user?.engine == "PostgreSQL")
  }

  @Test(".ignore skips a row that violates CHECK on SQLite, and throws on PostgreSQL")
  func ignoredCheck() throws {
    struct Even: Record {
      var id: Int64

      struct Columns: Sendable {
        let id = Column("id", \Even.id, .primaryKey, .check("id % 2 = 0"))
      }
      static let columns = Columns()
      static let table = Table("even", Even.init, columns.id)
    }
    let numbers = [2, 3, 4, 2].map { Even(id: $0) }
    let (lite, server) = (try Database(), try Database.postgres(TestEngine.schema()))
    for db in [lite, server] { try Even.table.create(db) }
    try Even.insert(lite, contentsOf: numbers, or: .ignore)
    #expect(try Even.all.order { $0.id }.fetchAll(lite).map(\.id) == [2, 4])
    let error = #expect(throws: (any Error).self) {
      try Even.insert(server, contentsOf: numbers, or: .ignore)
    }
    #expect(error.map { "\($0)" }?.contains("even_id_check") == true)
    #expect(try Even.all.fetchCount(server) == 0)
  }

  @Test("Dates as text in several forms are read and written by a server, but not compared")
  func dateTexts() throws {
    struct Picture: Record {
      var id: Int64
      var taken: Date

      struct Columns: Sendable {
        let id = Column("id", \Picture.id, .primaryKey)
        let taken = Column("taken", \Picture.taken, as: .text())
      }
      static let columns = Columns()
      static let table = Table("picture", Picture.init, columns.id, columns.taken)
    }
    let db = try Database.postgres(TestEngine.schema())
    try Picture.table.create(db)
    let date = Date(timeIntervalSince1970: 86_400)
    try Picture.insert(db, contentsOf: [Picture(id: 1, taken: date)])
    try db.executeUpdate("INSERT INTO picture VALUES (2, '1970-W01-5 02:00 +02')")
    #expect(try Picture.order { $0.id }.fetchAll(db).map(\.taken) == [date, date])
    for query in [Picture.filter { $0.taken > date }, Picture.order { $0.taken }] {
      let error = #expect(throws: UnsupportedByEngine.self) { try query.fetchAll(db) }
      #expect("\(String(describing: error))".contains("timestamptz"))
    }
  }

  @Test("A full server, and one that shuts down, throw with advice")
  func full() throws {
    let server = try PostgresServer([
      "-c", "max_connections=2", "-c", "superuser_reserved_connections=0", "-c",
      "max_wal_senders=0",
    ])
    var configuration = PostgresConfiguration()
    configuration.retryLimit = nil
    // Those connections that asked whether the server is there may not have ended yet.
    func afterOthers<T>(_ body: () throws -> T) throws -> T {
      while true {
        do {
          return try body()
        } catch let error as DatabaseError where error.sqlState == "53300" {}
      }
    }
    let pool = try afterOthers {
      try PostgresPool(server.address, configuration: configuration)
    }
    let clients: SQL =
      "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
    while try afterOthers({ try pool.read { try $0.value(clients, as: Int.self) } }) != 1 {}
    let found = try pool.read { _ in
      try pool.read { _ in #expect(throws: DatabaseError.self) { try pool.read { _ in } } }
    }
    #expect(found?.code == .cannotOpen && found?.sqlState == "53300")
    #expect(found?.message.contains("PostgresConfiguration.connections") == true)
    // The server waits for its clients, and accepts no new ones.
    kill(server.identifier, SIGTERM)
    var late: DatabaseError?
    repeat { late = error(server.address, retryLimit: nil) } while late?.sqlState == "53300"
    #expect(late?.code == .cannotOpen && late?.sqlState == "57P03")
    #expect(late?.message.contains("starting or stopping") == true)
    #expect(try pool.read { try $0.value("SELECT 1", as: Int.self) } == 1)
  }

  @Test("Writing to a read-only database, or in a read scope, throws with advice")
  func readOnly() throws {
    let address = try PostgresServer.shared.database()
    let pool = try PostgresPool(address + " options=-cdefault_transaction_read_only=on")
    let table = #expect(throws: DatabaseError.self) {
      try pool.inTransaction { try $0.executeUpdate("CREATE TABLE city (id BIGINT)") }
    }
    let scope = #expect(throws: DatabaseError.self) {
      try PostgresPool(address).read { try $0.executeUpdate("CREATE TABLE city (id BIGINT)") }
    }
    #expect(table?.code == .readOnly && scope?.code == .readOnly)
    #expect(table?.message.contains("only a transaction can write") == true)
  }

  @Test(
    "Binding text with NUL throws before sending, and so does a name that is too long")
  func texts() throws {
    let pool = try PostgresPool(try PostgresServer.shared.database())
    try pool.inTransaction { db in
      try Place.table.create(db)
      #expect(throws: ConversionError.self) {
        try Place.filter { $0.name == "a\0b" }.fetchAll(db)
      }
      #expect(throws: ConversionError.self) {
        _ = try db.value("SELECT ?::text", "a\0b", as: String.self)
      }
      #expect(throws: DatabaseError.self) { try db.executeUpdate("SELECT 'a\0b'") }
      // Nothing was sent to the server.
      #expect(try Place.all.fetchCount(db) == 0)
    }
    let name = #expect(throws: (any Error).self) {
      try pool.inTransaction { try Verbose.table.create($0) }
    }
    #expect("\(String(describing: name))".contains("63"))
    #expect(try pool.read { try $0.tableExists("verbose") } == false)
  }

  @Test("A statement after a failed one in a transaction throws, and advises a savepoint")
  func aborted() throws {
    let pool = try PostgresPool(try PostgresServer.shared.database())
    try pool.inTransaction { db in
      #expect(throws: DatabaseError.self) { try db.executeUpdate("SELECT nothing") }
      let error = #expect(throws: DatabaseError.self) { try db.executeUpdate("SELECT 1") }
      #expect(error?.code == .abort && error?.sqlState == "25P02")
      #expect(error?.message.contains("inSavepoint") == true)
      db.setRollbackOnly()
    }
    let kept = try pool.inTransaction { db in
      #expect(throws: DatabaseError.self) {
        try db.inSavepoint { try $0.executeUpdate("SELECT nothing") }
      }
      return try db.value("SELECT 1", as: Int.self)
    }
    #expect(kept == 1)
  }

  @Test(
    "A transaction with an outdated plan is retried once, and a lasting error isn't")
  func stalePlan() throws {
    let address = try PostgresServer.shared.database()
    var configuration = PostgresConfiguration()
    configuration.connections = 1
    let pool = try PostgresPool(address, configuration: configuration)
    try pool.inTransaction { db in
      try db.executeStatements("CREATE TABLE city (id BIGINT); INSERT INTO city VALUES (7)")
    }
    func columns() throws -> Int {
      try pool.inTransaction { db in
        let rows = try db.executeQuery("SELECT * FROM city WHERE id = ?", 7)
        #expect(try rows.next())
        return rows.columnCount
      }
    }
    #expect(try columns() == 1)
    try PostgresPool(address).inTransaction { db in
      try db.executeUpdate("ALTER TABLE city ADD COLUMN name TEXT")
    }
    #expect(try columns() == 2)
    #expect(pool.statistics.retries == 1)
    let error = #expect(throws: DatabaseError.self) {
      try pool.inTransaction { db in
        for _ in 0..<3 { try db.executeUpdate("SELECT '(1,2)'::point") }
      }
    }
    #expect(error?.sqlState == "0A000")
    #expect(pool.statistics.retries == 1)
  }
}
