import Foundation
import Larder
import PostgresSupport

@testable import LarderPostgres

/// A pool of a new database with a table `city`, and other programs' access to it.
struct ListeningServer {
  let pool: PostgresPool
  let address: String
  private let database: String

  init(_ change: (inout PostgresConfiguration) -> Void = { _ in }) throws {
    address = try PostgresServer.shared.database()
    database = String(address.split(separator: "=").last ?? "")
    pool = try Self.pool(address, change)
    try pool.inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE city (id BIGINT PRIMARY KEY, population BIGINT NOT NULL);
        INSERT INTO city VALUES (1, 10), (2, 20);
        CREATE TABLE other (id BIGINT);
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
  func psql(_ sql: String) throws { try PostgresServer.shared.run(sql, database: database) }

  static func total(_ db: Database) throws -> Int {
    try db.value("SELECT coalesce(sum(population), 0)::bigint FROM city", as: Int.self) ?? 0
  }

  /// The condition that finds the session that listens.
  static let listens = "datname = current_database() AND query LIKE 'LISTEN%'"

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
