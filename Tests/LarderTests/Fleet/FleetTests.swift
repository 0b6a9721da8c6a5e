import LarderFleet
import Foundation
import Larder
import TestSupport
import Testing

@Suite("Scopes and closing of a fleet")
struct FleetTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  @Test("Each key has its own database, which is migrated when it is first used")
  func separate() throws {
    let fleet = try Tenants.fleet(in: folder)
    try fleet.inTransaction("norway") { try Tenants.insert("Oslo", $0) }
    try fleet.inDatabase("sweden") { try Tenants.insert("Stockholm", $0) }
    #expect(try fleet.read("norway", Tenants.names) == ["Oslo"])
    #expect(try fleet.read("sweden", Tenants.names) == ["Stockholm"])
    #expect(try fleet.read("denmark", Tenants.names) == [])
    #expect(try fleet.keys() == ["denmark", "norway", "sweden"])
  }

  @Test("A fleet's async variants read, write, create and remove tenants")
  func tasks() async throws {
    let fleet = try Tenants.fleet(in: folder)
    try await fleet.inTransaction("norway") { try Tenants.insert("Oslo", $0) }
    try await fleet.inDatabase("norway") { try Tenants.insert("Bergen", $0) }
    #expect(try await fleet.read("norway") { try Tenants.names($0) } == ["Oslo", "Bergen"])
    let count = try await fleet.withDatabase("norway") { queue in
      try await queue.read { try Tenants.names($0).count }
    }
    #expect(count == 2)
    #expect(try await fleet.create("sweden"))
    #expect(try await !fleet.create("sweden"))
    try await fleet.remove("norway")
    #expect(try fleet.keys() == ["sweden"])
  }

  @Test("A scope of a fleet that throws is rolled back, and the next one works")
  func undone() throws {
    struct Doubt: Error {}
    let fleet = try Tenants.fleet(in: folder)
    #expect(throws: Doubt.self) {
      try fleet.inTransaction("norway") { db in
        try Tenants.insert("Oslo", db)
        throw Doubt()
      }
    }
    #expect(try fleet.read("norway", Tenants.names) == [])
    #expect(
      failure(DatabaseError.self) {
        try fleet.read("norway") { try Tenants.insert("Oslo", $0) }
      } != nil)
    #expect(fleet.statistics.inUse == 0)
  }

  @Test("A tenant's file that isn't a database throws at each use, until it is gone")
  func noDatabase() throws {
    let fleet = try Tenants.fleet(in: folder)
    let text = String(repeating: "no database\n", count: 100)
    try Data(text.utf8).write(to: URL(fileURLWithPath: fleet.path(of: "norway")))
    for _ in 0..<2 {
      let error = failure(DatabaseError.self) { try fleet.read("norway") { _ in } }
      #expect(error?.code == .notADatabase)
    }
    #expect(fleet.statistics.count == 0)
    unlink(try fleet.path(of: "norway"))
    #expect(try fleet.read("norway", Tenants.names) == [])
  }

  @Test("A fleet's failing migration throws at each use, and frees its place for other databases")
  func failingMigration() throws {
    let fleet = try Tenants.fleet(in: folder) {
      $0.maximumOpen = 1
      $0.migrator = Migrator([Migration("wrong", sql: "CREATE TABEL city (name)")])
    }
    for key in ["norway", "sweden", "norway"] {
      #expect(failure(MigrationError.self) { try fleet.read(key) { _ in } } != nil)
    }
    #expect(fleet.statistics.count == 0)
  }

  @Test("Without the flag `create`, an unknown key throws until `create` makes its database")
  func created() async throws {
    let fleet = try Tenants.fleet(in: folder) { $0.database.flags.remove(.create) }
    let error = failure(FleetError.self) { try fleet.read("norway") { _ in } }
    guard case .noDatabase("norway")? = error else {
      Issue.record("a database was made")
      return
    }
    await #expect(throws: FleetError.self) { try await fleet.read("norway") { _ in } }
    #expect(try fleet.keys() == [])
    #expect(try await fleet.create("norway"))
    #expect(try await !fleet.create("norway"))
    #expect(try await fleet.read("norway", Tenants.names) == [])
  }

  @Test("A fleet's folder has mode 0700 and its databases 0600")
  func permissions() throws {
    let fleet = try Tenants.fleet(in: folder)
    try fleet.create("norway")
    #expect(try folder.mode(of: "tenants") == 0o700)
    #expect(try folder.mode(of: "tenants/norway.db") == 0o600)
  }

  @Test("Two fleets can share a folder, and `remove` throws while the other has the database open")
  func twoFleets() throws {
    let (one, other) = (try Tenants.fleet(in: folder), try Tenants.fleet(in: folder))
    try one.inTransaction("norway") { try Tenants.insert("Oslo", $0) }
    try other.inTransaction("norway") { try Tenants.insert("Bergen", $0) }
    #expect(try one.read("norway", Tenants.names) == ["Oslo", "Bergen"])
    let error = failure(DatabaseError.self) { try one.remove("norway") }
    #expect(error?.code == .busy)
    try other.close()
    try one.remove("norway")
    #expect(try one.keys() == [])
  }

  @Test("A `remove` that has thrown or was cancelled removes nothing, not even later")
  func abandonedRemoval() async throws {
    for isCancelled in [false, true] {
      // What is cancelled has to wait until then, however busy the machine is.
      let one = try Tenants.fleet(in: folder) {
        $0.database.scopeTimeout = .seconds(isCancelled ? 600 : 1)
      }
      let other = try Tenants.fleet(in: folder)
      try await other.create("norway")
      let removal = Task { try await one.remove("norway") }
      if isCancelled {
        try await Tenants.wait { one.statistics.waiting > 0 }
        removal.cancel()
      }
      let error = await #expect(throws: (any Error).self) { try await removal.value }
      #expect(isCancelled ? error is CancellationError : (error as? DatabaseError)?.code == .busy)
      try await other.close()
      // This waits until the check before the removal has ended.
      #expect(try await one.read("norway", Tenants.names) == [])
      #expect(try one.exists("norway"))
      try await one.remove("norway")
      #expect(try !one.exists("norway"))
      try await one.close()
    }
  }

  @Test("A tenant's queue can be observed inside of withDatabase")
  func observed() async throws {
    let fleet = try Tenants.fleet(in: folder)
    let counts = try await fleet.withDatabase("norway") { queue in
      var counts: [Int] = []
      for try await count in queue.values(of: { try Tenants.names($0).count }) {
        counts.append(count)
        if count == 2 { break }
        try await fleet.inTransaction("norway") { try Tenants.insert("city \(count)", $0) }
      }
      return counts
    }
    #expect(counts == [0, 1, 2])
  }

  // MARK: Closing

  @Test("Closing a fleet checkpoints the logs, and later calls throw misuse")
  func closed() throws {
    let fleet = try Tenants.fleet(in: folder)
    try fleet.inTransaction("norway") { try Tenants.insert("Oslo", $0) }
    try fleet.close()
    try fleet.close()
    #expect(failure(DatabaseError.self) { try fleet.read("norway") { _ in } }?.code == .misuse)
    #expect(failure(DatabaseError.self) { try fleet.migrate() }?.code == .misuse)
    #expect(failure(DatabaseError.self) { try fleet.remove("norway") }?.code == .misuse)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: fleet.folder) == ["norway.db"])
    #expect(fleet.statistics.count == 0)
  }

  @Test("Closing a fleet waits for running scopes, and refuses new ones meanwhile")
  func closingWaits() async throws {
    let fleet = try Tenants.fleet(in: folder)
    let user = try await TenantUser(fleet, "norway") { try Tenants.insert("Oslo", $0) }.enter()
    try await fleet.create("sweden")
    let outcome = Lock<Result<Void, any Error>?>(nil)
    Thread.detachNewThread {
      let result = Result { try fleet.close() }
      outcome.withLock { $0 = result }
    }
    try await Tenants.wait {
      failure(DatabaseError.self) { try fleet.read("sweden") { _ in } }?.code == .misuse
    }
    #expect(outcome.withLock { $0 == nil })
    try await user.end()
    try await Tenants.wait { outcome.withLock { $0 != nil } }
    try outcome.withLock { $0 }?.get()
    #expect(try await Tenants.fleet(in: folder).read("norway", Tenants.names) == ["Oslo"])
  }

  @Test(
    "Closing a fleet throws after scopeTimeout if a scope doesn't end, and the fleet stays usable"
  )
  func closingFails() throws {
    let fleet = try Tenants.fleet(in: folder) { $0.database.scopeTimeout = .seconds(1) }
    try fleet.read("norway") { _ in
      #expect(failure(DatabaseError.self) { try fleet.close() }?.extendedCode == .busyTimeout)
    }
    #expect(try fleet.read("norway", Tenants.names) == [])
    try fleet.close()
  }
}
