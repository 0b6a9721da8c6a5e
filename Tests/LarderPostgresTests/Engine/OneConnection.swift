import Larder
import PostgresSupport

@testable import LarderPostgres

/// A pool of one connection to a new database, in which there is a table `t` of numbers `a`.
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
    // A machine that is busy may take long to end what is cancelled, after which a connection is given up.
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
