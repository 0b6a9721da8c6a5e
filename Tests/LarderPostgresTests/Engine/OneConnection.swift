import Larder
import PostgresSupport

@testable import LarderPostgres

/// A pool with a single connection to a new database, which has a table `t` of numbers `a`.
struct OneConnection {
  let pool: PostgresPool
  private let address: String

  init() throws {
    address = try PostgresServer.shared.database()
    pool = try Self.pool(address)
    try pool.inTransaction { try $0.executeStatements("CREATE TABLE t (a BIGINT)") }
  }

  private static func pool(
    _ address: String, _ change: (inout PostgresConfiguration) -> Void = { _ in }
  ) throws -> PostgresPool {
    var configuration = PostgresConfiguration()
    configuration.connections = 1
    // A busy machine may take long to end a cancelled statement, after which the connection is
    // given up.
    configuration.cancellationPatience = .seconds(60)
    change(&configuration)
    return try PostgresPool(address, configuration: configuration)
  }

  /// Another pool of the same database.
  func pool(_ change: (inout PostgresConfiguration) -> Void) throws -> PostgresPool {
    try Self.pool(address, change)
  }

  func number(_ sql: SQL) throws -> Int? {
    try pool.inDatabase { try $0.value(sql, as: Int?.self) ?? nil }
  }
}
