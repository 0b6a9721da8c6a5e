import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

@Suite(
  "Several servers, and lost commits",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here")
)
struct FailoverTests {
  private let address: String
  private let folder: String

  init() throws {
    folder = try PostgresServer.shared.folder
    address = try PostgresServer.shared.database()
    let migrator = Migrator([
      Migration("line", sql: "CREATE TABLE line (number BIGINT NOT NULL)")
    ])
    try migrator.migrate(pool())
  }

  private func pool(
    _ address: String? = nil, _ change: (inout PostgresConfiguration) -> Void = { _ in }
  ) throws -> PostgresPool {
    var configuration = PostgresConfiguration()
    configuration.connections = 1
    configuration.commitTokens = true
    // On a busy machine a task may wait longer than by default for its turn.
    configuration.retryLimit = .seconds(600)
    change(&configuration)
    return try PostgresPool(address ?? self.address, configuration: configuration)
  }

  private func through(_ proxy: Proxy) -> String { address.replacing(folder, with: proxy.folder) }

  private func lines() throws -> [Int] {
    try pool().read { db in
      try db.executeQuery("SELECT number FROM line ORDER BY number").map { try $0.get(at: 0) }
    }
  }

  // MARK: Commit tokens

  @Test("With commit tokens, a transaction that is cut off at any byte is committed exactly once")
  func cutCommits() async throws {
    let proxy = try Proxy(to: folder)
    let pool = try pool(through(proxy))
    let attempts = Lock(0)
    @Sendable func write(_ number: Int, _ db: Database) throws {
      try db.executeUpdate("INSERT INTO line VALUES (?)", number)
      let isFirst = attempts.withLock { attempts in
        attempts += 1
        return attempts == 1
      }
      if isFirst { proxy.cut(after: number % 1000, once: true) }
    }
    func writeHere(_ number: Int) throws { try pool.inTransaction { try write(number, $0) } }
    let numbers = Array(stride(from: 1, to: 500, by: 6)) + stride(from: 1001, to: 1500, by: 60)
    var again = 0
    for number in numbers {
      if number < 1000 {
        try writeHere(number)
      } else {
        try await pool.inTransaction { try write(number, $0) }
      }
      proxy.cut(after: .max)
      again += attempts.withLock { count in
        defer { count = 0 }
        return count - 1
      }
    }
    #expect(try lines() == numbers)
    // Only the transactions that weren't committed ran again.
    #expect(again <= pool.statistics.retries)
    #expect(again > 20 && again < proxy.statistics.cuts)
  }

  @Test("A commit with an unknown outcome throws an error with its token, to ask about later")
  func unknown() throws {
    let proxy = try Proxy(to: folder)
    let pool = try pool(through(proxy))
    let error = #expect(throws: DatabaseError.self) {
      try pool.inTransaction { db in
        try db.executeUpdate("INSERT INTO line VALUES (7)")
        db.statementDeadline = .milliseconds(100)
        proxy.freeze()
      }
    }
    #expect(error?.sqlState == "08007")
    #expect(error?.message.contains("outcome(of:)") == true)
    let token = try #require(error?.commitToken)
    #expect(try self.pool().outcome(of: token) == false)
    #expect(try lines().isEmpty)
  }

  @Test("`outcome` finds a commit by its token, and prevents one that hasn't happened yet")
  func outcome() async throws {
    let pool = try pool()
    let token = UUID()
    func isCommitted(_ token: UUID, _ pool: PostgresPool) throws -> Bool {
      try pool.outcome(of: token)
    }
    func execute(_ sql: SQL) throws { try pool.inTransaction { _ = try $0.executeUpdate(sql) } }
    #expect(try isCommitted(token, pool) == false)
    #expect(try await pool.outcome(of: token) == false)
    // The row that a late transaction would write.
    let insertion: SQL = "INSERT INTO larder_commit (token) VALUES (\(token))"
    let late = #expect(throws: DatabaseError.self) { try execute(insertion) }
    #expect(late?.isConstraint == true)
    let committed = UUID()
    try execute("INSERT INTO larder_commit (token) VALUES (\(committed))")
    #expect(try isCommitted(committed, pool))
    let without = try self.pool { $0.commitTokens = false }
    let error = #expect(throws: DatabaseError.self) { _ = try isCommitted(token, without) }
    #expect(error?.code == .misuse)
  }

  @Test("Each committed transaction writes a token, and one that is rolled back none")
  func rows() throws {
    let pool = try pool()
    func count() throws -> Int {
      try pool.read { try $0.value("SELECT count(*) FROM larder_commit", as: Int.self) ?? -1 }
    }
    let before = try count()
    for number in 0..<3 {
      try pool.inTransaction { try $0.executeUpdate("INSERT INTO line VALUES (?)", number) }
    }
    try pool.inTransaction { db in
      try db.executeUpdate("INSERT INTO line VALUES (9)")
      db.setRollbackOnly()
    }
    try pool.inSavepoint { try $0.executeUpdate("INSERT INTO line VALUES (10)") }
    #expect(try count() == before + 4)
    #expect(try lines() == [0, 1, 2, 10])
  }

  @Test("A transaction's search_path doesn't redirect its commit token")
  func searchPath() throws {
    let pool = try pool()
    try pool.inTransaction { db in
      try db.executeUpdate("INSERT INTO line VALUES (1)")
      try db.executeUpdate("SET LOCAL search_path = pg_catalog")
    }
    #expect(try lines() == [1])
  }

  @Test(
    "A commit without the token table throws, and migrating creates the table"
  )
  func table() throws {
    let other = try PostgresServer.shared.database()
    let pool = try pool(other)
    let error = #expect(throws: DatabaseError.self) {
      try pool.inTransaction { try $0.executeUpdate("CREATE TABLE a (b BIGINT)") }
    }
    #expect(error?.message.contains("Migrator.migrate") == true)
    for _ in 0..<2 { try Migrator([]).migrate(pool) }
    try pool.inTransaction { try $0.executeUpdate("CREATE TABLE a (b BIGINT)") }
    let found = try pool.read { db in
      try Schema(db).tables.map(\.name)
    }
    #expect(found.contains("larder_commit"))
    let step = try pool.read { db in
      try Schema(tables: []).steps(from: Schema(db))
    }
    #expect(step.count == 1 && !"\(step)".contains("larder_commit"))
  }

  @Test("Migrating removes old commit tokens")
  func cleaning() throws {
    let pool = try pool()
    let (old, new) = (UUID(), UUID())
    try pool.inTransaction { db in
      try db.executeUpdate(
        """
        INSERT INTO larder_commit (token, written_at)
        VALUES (\(old), now() - interval '3 hours'), (\(new), now() - interval '1 minute')
        """)
    }
    try Migrator([Migration("line", sql: "CREATE TABLE line (number BIGINT NOT NULL)")])
      .migrate(pool)
    let left = try pool.read { db in
      try db.executeQuery("SELECT token FROM larder_commit").map {
        try $0.get(at: 0, as: UUID.self)
      }
    }
    #expect(left.contains(new) && !left.contains(old))
  }

  // MARK: Several servers

  @Test(
    "A pool connects to the reachable server of a list, with any port list or preference")
  func severalServers() throws {
    for hosts in ["/nowhere,\(folder)", "\(folder),/nowhere", "/nowhere,/neither,\(folder)"] {
      let list = address.replacing("host=\(folder)", with: "host=\(hosts)")
      let pool = try pool(list)
      #expect(try pool.read { try $0.value("SELECT 1", as: Int.self) } == 1)
      let ports = hosts.split(separator: ",").map { _ in "5432" }.joined(separator: ",")
      _ = try self.pool(list + " port=\(ports)")
      _ = try self.pool(list + " port=5432 target_session_attrs=prefer-standby")
    }
  }

  @Test("If no server of a list is suitable, the error names each server's problem")
  func noServer() throws {
    let both = address.replacing("host=\(folder)", with: "host=/nowhere,/neither")
    let error = #expect(throws: DatabaseError.self) { _ = try pool(both) }
    #expect(error?.code == .cannotOpen)
    #expect(error?.message.contains("/nowhere") == true)
    #expect(error?.message.contains("/neither") == true)
    let twice = address.replacing("host=\(folder)", with: "host=\(folder),\(folder)")
    let standby = #expect(throws: DatabaseError.self) {
      _ = try pool(twice + " target_session_attrs=standby")
    }
    #expect(standby?.code == .cannotOpen)
    for ports in ["5432,5432,5432", "x"] {
      #expect(throws: DatabaseError.self) { _ = try pool(twice + " port=\(ports)") }
    }
  }

  @Test("A silent server in a list takes only its share of the connect timeout")
  func silentServer() throws {
    let silent = try Proxy(to: folder, isSilent: true)
    let list = address.replacing("host=\(folder)", with: "host=\(silent.folder),\(folder)")
    let clock = ContinuousClock()
    let time = try clock.measure {
      let pool = try pool(list) { $0.connectTimeout = .seconds(2) }
      #expect(try pool.read { try $0.value("SELECT 1", as: Int.self) } == 1)
    }
    #expect(time >= .seconds(1))
  }

  // MARK: Replicas

  @Test("Without a standby, reads run on the primary, and the statistics give the reason")
  func noReplica() async throws {
    let list = address.replacing("host=\(folder)", with: "host=\(folder),/nowhere")
    let pool = try pool(list) { $0.reads = .replicas(waitAtMost: .milliseconds(20)) }
    func count() throws -> Int? {
      try pool.read { try $0.value("SELECT count(*) FROM line", as: Int.self) }
    }
    func write() throws {
      try pool.inTransaction { _ = try $0.executeUpdate("INSERT INTO line VALUES (1)") }
    }
    try write()
    let (two, position) = try await pool.inTransactionWithPosition { db in
      try db.executeUpdate("INSERT INTO line VALUES (2)")
      return 2
    }
    #expect(two == 2)
    for _ in 0..<3 {
      #expect(try count() == 2)
      let count = try await pool.read(notBefore: position) { db in
        try db.value("SELECT count(*) FROM line", as: Int.self)
      }
      #expect(count == 2)
    }
    let statistics = pool.replicaStatistics
    #expect(statistics.map(\.name) == ["\(folder):5432", "/nowhere:5432"])
    #expect(statistics.allSatisfy { $0.isLeftOut && $0.reads == 0 && $0.fallbacks > 0 })
    #expect(statistics.allSatisfy { $0.error != nil })
    try await pool.close()
    #expect(throws: DatabaseError.self) { _ = try count() }
  }

  @Test("An error thrown by a read's closure is thrown, and the closure isn't run again")
  func ownErrors() throws {
    struct Own: Error {}
    let pool = try pool { $0.reads = .replicas(waitAtMost: .zero) }
    var count = 0
    #expect(throws: Own.self) {
      try pool.read { _ in
        count += 1
        throw Own()
      }
    }
    #expect(count == 1)
  }

  @Test("Commit positions increase, and are the server's log positions")
  func positions() throws {
    let pool = try pool()
    let places = try (0..<3).map { number in
      try pool.inTransactionWithPosition { db in
        _ = try db.executeUpdate("INSERT INTO line VALUES (?)", number)
      }.1
    }
    #expect(places == places.sorted() && Set(places).count == 3)
    let isThere = try pool.inDatabase { db in
      try db.value(
        "SELECT CAST(? AS text)::pg_lsn <= pg_current_wal_insert_lsn()",
        String(places[2].description.drop { $0 != "/" }.dropFirst()), as: Bool.self)
    }
    #expect(isThere == true)
  }

  @Test(
    "A commit position is parsed from text and JSON, or is nil",
    arguments: [
      ("1/16/B374D848", "1/16/B374D848"), ("1/0/0", "1/0/0"), ("0a/0/1", "A/0/1"),
      ("1/7fffffff/ffffffff", "1/7FFFFFFF/FFFFFFFF"), ("1/0/00000010", "1/0/10"),
      ("1/80000000/0", nil), ("", nil), ("/", nil), ("1", nil), ("1/2", nil), ("1/2/3/4", nil),
      ("1/-1/2", nil), ("1/+1/2", nil), ("g/1/1", nil), ("1/1/123456789", nil), (" 1/1/2", nil),
    ])
  func positionText(_ text: String, _ expected: String?) throws {
    let position = CommitPosition(text)
    #expect(position?.description == expected)
    guard let position else {
      let json = try JSONEncoder().encode([text])
      #expect(throws: DecodingError.self) {
        _ = try JSONDecoder().decode([CommitPosition].self, from: json)
      }
      return
    }
    let json = try JSONEncoder().encode([position])
    #expect(try JSONDecoder().decode([CommitPosition].self, from: json) == [position])
  }
}
