import Foundation
import LarderPostgres
import LarderSQLite
import Synchronization

/// The engine that the suites of records and queries run on: SQLite, or PostgreSQL where the environment's
/// `LARDER_TEST_ENGINE` says `postgres`.
package enum TestEngine {
  /// Whether it is PostgreSQL.
  package static let isPostgres =
    ProcessInfo.processInfo.environment["LARDER_TEST_ENGINE"] == "postgres"

  private static let schemaCount = Atomic<Int>(0)

  /// The address of an empty schema of the shared server.
  package static func schema() throws -> String {
    let name = "s\(schemaCount.add(1, ordering: .relaxed).newValue)"
    let address = "\(try PostgresServer.shared.address) options=-csearch_path=\(name)"
    let db = try Database.postgres(address)
    try db.executeUpdate("CREATE SCHEMA \(identifier: name)")
    try db.close()
    return address
  }
}

extension Database {
  /// A new database, with nothing in it, of the engine under test.
  package static func empty() throws -> Database {
    guard TestEngine.isPostgres else { return try Database() }
    return try Database.postgres(TestEngine.schema())
  }
}
