import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

/// A record for values that the server refuses.
private struct Note: Record {
  var id: Int64?
  var text: String
  var weight: Double

  struct Columns: Sendable {
    let id = Column("id", \Note.id, .primaryKey)
    let text = Column("text", \Note.text)
    let weight = Column("weight", \Note.weight)
  }
  static let columns = Columns()
  static let table = Table("note", Note.init, columns.id, columns.text, columns.weight)
}

@Suite(
  "Errors that Larder finds on a server's connection",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct ErrorTests {
  private let address: String
  private let pool: PostgresPool

  init() throws {
    address = try PostgresServer.shared.database()
    pool = try PostgresPool(address)
    try pool.inTransaction { try Note.table.create($0) }
  }

  @Test(
    "Errors that Larder finds itself name PostgreSQL as their engine")
  func engine() throws {
    func check(_ body: (Database) throws -> Void) {
      let outside = #expect(throws: DatabaseError.self) {
        try pool.inTransaction { db in
          do { try body(db) } catch let error as DatabaseError {
            #expect(error.engine == "PostgreSQL", "\(error)")
            throw error
          }
        }
      }
      #expect(outside?.engine == "PostgreSQL")
      #expect(outside?.description.contains("SQLite") == false)
    }
    check { try $0.commit() }
    check { try $0.executeUpdate("COMMIT") }
    check { try $0.executeUpdate("INSERT INTO note (text) VALUES (?)", arguments: [1, 2]) }
    check { try $0.executeUpdate("SELECT :a", arguments: ["b": 1]) }
    let errors = [
      #expect(throws: DatabaseError.self) {
        try pool.read { try $0.executeUpdate("DELETE FROM note") }
      },
      #expect(throws: DatabaseError.self) {
        try pool.inTransaction { try $0.executeUpdate("ABORT") }
      },
      #expect(throws: DatabaseError.self) {
        try pool.inTransaction { _ in try pool.inTransaction { _ in } }
      },
      #expect(throws: DatabaseError.self) {
        try pool.inDatabase {
          try $0.executeQuery("SELECT 1").map { try $0.get("none", as: Int.self) }
        }
      },
    ]
    for error in errors {
      #expect(error?.description.contains("SQLite") == false, "\(error.map { "\($0)" } ?? "")")
    }
  }

  @Test("A closed pool's errors name PostgreSQL, and errors from elsewhere are unchanged")
  func otherEngines() throws {
    let own = #expect(throws: DatabaseError.self) {
      try pool.inTransaction { _ in
        try DatabaseQueue().read { try $0.executeUpdate("CREATE TABLE t (a)") }
      }
    }
    #expect(own?.engine == "SQLite")
    let thrown = #expect(throws: DatabaseError.self) {
      try pool.inTransaction { _ in throw DatabaseError(code: .error, message: "mine") }
    }
    #expect(thrown == DatabaseError(code: .error, message: "mine"))
    try pool.close()
    let closed = #expect(throws: DatabaseError.self) { try pool.read { _ in } }
    #expect(closed?.engine == "PostgreSQL")
    #expect(closed?.code == .misuse)
  }

  @Test("The error of a value that can't be stored describes what is wrong with it")
  func values() throws {
    func message(_ note: Note) -> String {
      let error = #expect(throws: (any Error).self) {
        try pool.inTransaction { _ = try note.inserted($0) }
      }
      return error.map { "\($0)" } ?? ""
    }
    let nul = message(Note(id: nil, text: "a\0b", weight: 0))
    #expect(nul.contains("“note”.“text”: the text isn't UTF-8, or contains a NUL"), "\(nul)")
    let number = message(Note(id: nil, text: "", weight: .nan))
    #expect(number.contains("NaN can't be stored: not every engine supports it"), "\(number)")
  }

  @Test("The error of a migration outside of a transaction doesn't claim that it was undone")
  func migration() throws {
    let migrator = Migrator([
      Migration(
        "halves", sql: "SELECT 1", postgres: "CREATE TABLE half (a INT); SELECT 1 / 0",
        inTransaction: false)
    ])
    let error = #expect(throws: MigrationError.self) { try migrator.migrate(pool) }
    let text = error.map { "\($0)" } ?? ""
    #expect(
      text.hasPrefix(
        "the migration “halves” failed, and what it did outside of a transaction remains: PostgreSQL"
      ),
      "\(text)")
    #expect(error?.sql?.contains("1 / 0") == true)
    #expect(try pool.read { try $0.tableExists("half") })
  }

  @Test("An error message omits bound values that the server takes for names, and keeps real names")
  func namesAndValues() throws {
    func error(_ sql: SQL, _ value: String? = nil) -> DatabaseError? {
      #expect(throws: DatabaseError.self) {
        try pool.inDatabase { db in
          _ =
            try value.map { try db.value(sql, $0, as: String?.self) }
            ?? db.value(sql, as: String?.self)
        }
      }
    }
    for sql: SQL in [
      "SELECT to_tsquery(?)::text", "SELECT (?)::regclass::text", "SELECT (?)::regproc::text",
      "SELECT pg_has_role(?, 'usage')::text", "SELECT pg_database_size((?)::name)::text",
      "SELECT has_schema_privilege(?, 'usage')::text",
    ] {
      let found = error(sql, "S3cr3t & &")
      #expect(found != nil && "\(found!)".lowercased().contains("s3cr3t") == false, "\(found!)")
    }
    #expect(error("SELECT none FROM note WHERE text = ?", "a")?.message.contains("none") == true)
    #expect(error("SELECT * FROM nowhere WHERE a = ?", "a")?.message.contains("nowhere") == true)
    #expect(error("DROP TABLE nowhere")?.message.contains("nowhere") == true)
  }

  /// Whether the pool refuses a new caller now, rather than letting it wait behind the others.
  private func isClosed(_ pool: PostgresPool, to others: Int) async -> Bool {
    let hasEnded = Lock(false)
    let task = Task {
      defer { hasEnded.withLock { $0 = true } }
      try await pool.read { _ in }
    }
    while !hasEnded.withLock({ $0 }), pool.statistics.waiting <= others { await Task.yield() }
    task.cancel()
    do { try await task.value } catch { return (error as? DatabaseError)?.code == .misuse }
    return false
  }

  @Test("Closing a pool waits for all earlier callers, and refuses later ones")
  func closing() async throws {
    var configuration = PostgresConfiguration()
    configuration.connections = 1
    // On a busy machine some callers wait longer than by default before the others begin to.
    configuration.scopeTimeout = .seconds(600)
    let pool = try PostgresPool(address, configuration: configuration)
    let ends = DispatchSemaphore(value: 0)
    let holds = DispatchSemaphore(value: 0)
    let first = Worker {
      try pool.inTransaction { db in
        holds.signal()
        ends.wait()
        _ = try Note(id: nil, text: "first", weight: 0).inserted(db)
      }
    }
    holds.wait()
    let threads = (0..<3).map { number in
      Worker {
        try pool.inTransaction { db in
          _ = try Note(id: nil, text: "thread \(number)", weight: 0).inserted(db)
        }
      }
    }
    let tasks = (0..<3).map { number in
      Task {
        try await pool.inTransaction { db in
          _ = try Note(id: nil, text: "task \(number)", weight: 0).inserted(db)
        }
      }
    }
    while pool.statistics.waiting < 6 { await Task.yield() }
    let closing = Worker { try pool.close() }
    while await !isClosed(pool, to: 6) {}
    ends.signal()
    try first.end()
    for thread in threads { try thread.end() }
    for task in tasks { try await task.value }
    try closing.end()
    let count = try await self.pool.read { try Note.all.fetchCount($0) }
    #expect(count == 7)
    await #expect(throws: DatabaseError.self) { try await pool.read { _ in } }
  }
}
