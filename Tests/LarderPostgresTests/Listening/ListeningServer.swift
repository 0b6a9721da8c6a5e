import Foundation
import Larder
import PostgresSupport
import Testing

@testable import LarderPostgres

/// A pool of a new database with a table `city`, and other programs' access to it.
struct ListeningServer {
  let pool: PostgresPool
  let address: String
  private let server: PostgresServer
  private let database: String

  /// What tells of commits: triggers, and the log of a server that permits it, with triggers of tables
  /// without keys.
  static let sources = [PostgresConfiguration.CommitSource.triggers, .automatic]

  /// - Parameter source: what tells of commits; the log has a server of its own.
  init(
    _ source: PostgresConfiguration.CommitSource = .triggers,
    _ change: (inout PostgresConfiguration) -> Void = { _ in }
  ) throws {
    server = try source == .triggers ? PostgresServer.shared : FeedServer.shared.get()
    address = try server.database()
    database = String(address.split(separator: "=").last ?? "")
    pool = try Self.pool(address) { configuration in
      configuration.commitSource = source
      change(&configuration)
    }
    try pool.inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE city (id BIGINT PRIMARY KEY, population BIGINT NOT NULL);
        INSERT INTO city VALUES (1, 10), (2, 20);
        CREATE TABLE other (id BIGINT PRIMARY KEY);
        """)
    }
  }

  static func pool(
    _ address: String, _ change: (inout PostgresConfiguration) -> Void = { _ in }
  ) throws -> PostgresPool {
    var configuration = PostgresConfiguration()
    configuration.connections = 2
    // A busy machine may take long.
    configuration.scopeTimeout = .seconds(600)
    configuration.retryLimit = .seconds(600)
    configuration.connectTimeout = .seconds(60)
    // So that LISTEN stays the last statement of the session that listens.
    configuration.listeningInterval = .seconds(600)
    change(&configuration)
    return try PostgresPool(address, configuration: configuration)
  }

  /// Runs SQL by another program, in a transaction.
  func psql(_ sql: String) throws { try server.run(sql, database: database) }

  static func total(_ db: Database) throws -> Int {
    try db.value("SELECT coalesce(sum(population), 0)::bigint FROM city", as: Int.self) ?? 0
  }

  /// The condition that finds the sessions that tell of commits.
  static let tells = "\(listens) OR datname = current_database() AND backend_type = 'walsender'"

  /// The tables that the server's log tells of, and those that have triggers.
  func tellingTables() throws -> [String] {
    try pool.read { db in
      try db.executeQuery(
        """
        SELECT 'log: ' || r.prrelid::regclass::text AS t FROM pg_publication_rel r
        UNION ALL SELECT 'trigger: ' || tgrelid::regclass::text FROM pg_trigger
          WHERE tgname = 'larder_change' ORDER BY t
        """
      ).map { try $0.get(at: 0) }
    }
  }

  /// Returns once the server's log tells of commits to a table.
  func waitUntilFollowed(_ table: String) async throws {
    let number = try await pool.read { db in
      try db.value("SELECT to_regclass(\(table))::oid::bigint", as: Int.self) ?? 0
    }
    guard let decoded = pool.listener.decoded else { return }
    // Then nothing is left of what was running when it began.
    #expect(
      try await becomesTrue {
        decoded.followed.contains(UInt32(number)) && decoded.nextLook == .max
      })
  }

  /// The condition that finds the session that listens.
  static let listens = """
    datname = current_database() AND backend_type = 'client backend' AND (query LIKE 'LISTEN%'
      OR query LIKE 'SELECT pg_catalog.pg_current_snapshot%'
      OR query LIKE 'SELECT coalesce(string_agg(transactionid%')
    """

  /// How many sessions listen.
  func listenerCount() throws -> Int {
    try pool.read { db in
      let sql: SQL = "SELECT count(*) FROM pg_stat_activity WHERE \(SQL(raw: Self.listens))"
      return try db.value(sql, as: Int.self) ?? 0
    }
  }
}

/// Whether a condition becomes true within ten minutes, which are for busy machines.
func becomesTrue(_ isSo: () throws -> Bool) async throws -> Bool {
  let deadline = ContinuousClock.now + .seconds(600)
  while ContinuousClock.now < deadline {
    if try isSo() { return true }
    try await Task.sleep(for: .milliseconds(1))
  }
  return false
}
