import CLibPQ
import Foundation
import Larder
import PostgresSupport
import TestSupport
import Testing

@testable import LarderPostgres

@Suite(
  "Deadlines and keepalives",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct DeadlineTests {
  private let address: String

  init() throws { address = try PostgresServer.shared.database() }

  private func pool(
    _ address: String? = nil, _ change: (inout PostgresConfiguration) -> Void = { _ in }
  ) throws -> PostgresPool {
    var configuration = PostgresConfiguration()
    configuration.connections = 1
    change(&configuration)
    return try PostgresPool(address ?? self.address, configuration: configuration)
  }

  @Test("Preparing a statement ends at the statement's deadline")
  func firstUse() throws {
    let proxy = try Proxy(to: PostgresServer.shared.folder)
    let pool = try pool(address.replacing(PostgresServer.shared.folder, with: proxy.folder)) {
      $0.statementDeadline = .milliseconds(200)
      $0.retryLimit = nil
    }
    let error = #expect(throws: DatabaseError.self) {
      try pool.read { db in
        proxy.freeze()
        _ = try db.value("SELECT ? + 1", 1, as: Int.self)
      }
    }
    #expect(error?.code == .interrupt, "\(String(describing: error))")
  }

  @Test("Calls to a server that is known to be gone fail without waiting again")
  func gone() throws {
    let server = try PostgresServer()
    let pool = try pool(server.address) { $0.retryLimit = .milliseconds(300) }
    try pool.inTransaction { try $0.executeStatements("CREATE TABLE line (number BIGINT)") }
    server.stop()
    func write() throws {
      try pool.inTransaction { _ = try $0.executeUpdate("INSERT INTO line VALUES (7)") }
    }
    #expect(throws: DatabaseError.self) { try write() }
    let retries = pool.statistics.retries
    #expect(retries > 0)
    for _ in 0..<3 {
      let error = #expect(throws: DatabaseError.self) { try write() }
      #expect(error?.code == .cannotOpen)
    }
    #expect(pool.statistics.retries == retries)
  }

  @Test("A connection older than longestConnectionLife is replaced between scopes")
  func longestLife() throws {
    func processes(_ life: Duration?) throws -> [Int?] {
      let pool = try pool { $0.longestConnectionLife = life }
      return try (0..<3).map { _ in
        try pool.inDatabase { try $0.value("SELECT pg_backend_pid()", as: Int.self) }
      }
    }
    #expect(Set(try processes(.zero)).count == 3)
    #expect(Set(try processes(nil)).count == 1)
    #expect(Set(try processes(.seconds(3600))).count == 1)
  }

  @Test(
    "Keepalives are set to end a dead connection in 30 seconds, unless the address sets others"
  )
  func keepalives() throws {
    func options(_ more: String) throws -> [String: String] {
      let connection = try PostgresConnection(PostgresServer.shared.address + more)
      let list = PQconninfo(connection.handle)
      defer { PQconninfoFree(list) }
      var options: [String: String] = [:]
      var next = list
      while let option = next?.pointee, let keyword = option.keyword {
        options[String(cString: keyword)] = option.val.map { String(cString: $0) }
        next = next?.advanced(by: 1)
      }
      return options
    }
    let own = try options("")
    #expect(own["keepalives_idle"] == "15" && own["tcp_user_timeout"] == "30000")
    let other = try options(" keepalives_idle=7 tcp_user_timeout=9000")
    #expect(other["keepalives_idle"] == "7" && other["tcp_user_timeout"] == "9000")
    #expect(other["keepalives_count"] == "3")
  }

  @Test("A function call that may write and is cut off throws an unknown outcome")
  func functionThatWrites() throws {
    let proxy = try Proxy(to: PostgresServer.shared.folder)
    let pool = try pool(address.replacing(PostgresServer.shared.folder, with: proxy.folder))
    try pool.inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE line (number BIGINT);
        CREATE FUNCTION add_line() RETURNS bigint LANGUAGE sql AS
          $$ INSERT INTO line VALUES (7) RETURNING number $$;
        """)
    }
    let error = #expect(throws: DatabaseError.self) {
      try pool.inDatabase { db in
        db.statementDeadline = .milliseconds(100)
        proxy.freeze()
        _ = try db.value("SELECT add_line()", as: Int.self)
      }
    }
    #expect(error?.sqlState == "08007", "\(String(describing: error))")
  }

  @Test("A server error's result code is described as busy, I/O error or cannot open")
  func words() throws {
    let pool = try pool { $0.retryLimit = nil }
    for (state, word) in [("40001", "busy"), ("58030", "I/O error"), ("57P03", "cannot open")] {
      let error = #expect(throws: DatabaseError.self) {
        try pool.inDatabase { db in
          try db.executeStatements(
            SQL(raw: "DO $$ BEGIN RAISE EXCEPTION SQLSTATE '\(state)'; END $$"))
        }
      }
      #expect(error?.extendedCode.description.contains(word) == true)
    }
  }

  @Test("The error of an exhausted sequence names the sequence")
  func sequence() throws {
    let error = #expect(throws: DatabaseError.self) {
      try pool().inTransaction { db in
        try db.executeStatements(
          "CREATE SEQUENCE number START 2 MAXVALUE 2; SELECT nextval('number')")
        _ = try db.value("SELECT nextval('number')", as: Int.self)
      }
    }
    #expect(error?.message.contains("number") == true, "\(String(describing: error))")
  }
}
