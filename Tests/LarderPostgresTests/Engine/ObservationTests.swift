import Larder
import LarderChangeset
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

@Suite("Observation on a server", .enabled(if: PostgresServer.isInstalled))
struct ObservationTests {
  @Test("Feeds, hooks and changesets throw UnsupportedByEngine on a server")
  func refused() async throws {
    let pool = try PostgresPool(try PostgresServer.shared.database())
    await #expect(throws: UnsupportedByEngine.self) {
      for try await _ in pool.changes(of: ["city"]) {}
    }
    try await pool.inDatabase { db in
      #expect(throws: UnsupportedByEngine.self) { try db.onCommit {} }
      #expect(throws: UnsupportedByEngine.self) { try db.onRollback {} }
      #expect(throws: UnsupportedByEngine.self) { try db.onUpdate { _, _, _ in } }
      #expect(throws: UnsupportedByEngine.self) { try db.record { _ in } }
      #expect(throws: UnsupportedByEngine.self) { try Changeset(data: []).apply(to: db) }
    }
    try await pool.close()
  }
}
