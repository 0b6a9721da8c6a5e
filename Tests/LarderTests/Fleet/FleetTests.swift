import Foundation
import Larder
import TestSupport
import Testing

@Suite("A fleet of databases")
struct FleetTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  @Test("Each key has a database of its own, migrated when it is first used")
  func separate() throws {
    let fleet = try Tenants.fleet(in: folder)
    try fleet.inTransaction("norway") { try Tenants.insert("Oslo", $0) }
    try fleet.inDatabase("sweden") { try Tenants.insert("Stockholm", $0) }
    #expect(try fleet.read("norway", Tenants.names) == ["Oslo"])
    #expect(try fleet.read("sweden", Tenants.names) == ["Stockholm"])
    #expect(try fleet.read("denmark", Tenants.names) == [])
    #expect(try fleet.keys() == ["denmark", "norway", "sweden"])
  }

  @Test("Tasks do the same")
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

  @Test("A scope that throws is undone, and the next one goes on")
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

  @Test("What can't be opened throws, to all who wait, and is tried again by the next call")
  func noDatabase() throws {
    let fleet = try Tenants.fleet(in: folder)
    let text = String(repeating: "no database\n", count: 100)
    try Data(text.utf8).write(to: URL(fileURLWithPath: fleet.path(of: "norway")))
    for _ in 0..<2 {
      let error = failure(DatabaseError.self) { try fleet.read("norway") { _ in } }
      #expect(error?.code == .notADatabase)
    }
    #expect(fleet.statistics.open == 0)
    unlink(try fleet.path(of: "norway"))
    #expect(try fleet.read("norway", Tenants.names) == [])
  }

  @Test("A migration that fails throws, and leaves room for others")
  func failingMigration() throws {
    let fleet = try Tenants.fleet(in: folder) {
      $0.maximumOpen = 1
      $0.migrator = Migrator([Migration("wrong", sql: "CREATE TABEL city (name)")])
    }
    for key in ["norway", "sweden", "norway"] {
      #expect(failure(MigrationError.self) { try fleet.read(key) { _ in } } != nil)
    }
    #expect(fleet.statistics.open == 0)
  }

  @Test("Without leave to make databases a key that has none throws, until it is made on purpose")
  func created() async throws {
    let fleet = try Tenants.fleet(in: folder) { $0.createsDatabases = false }
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

  @Test("The files are their owner's alone, and so is the folder that is made")
  func permissions() throws {
    let fleet = try Tenants.fleet(in: folder)
    try fleet.create("norway")
    #expect(try folder.mode(of: "tenants") == 0o700)
    #expect(try folder.mode(of: "tenants/norway.db") == 0o600)
  }

  @Test("Two fleets share a folder")
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

  @Test("A queue of a fleet can be observed while it is held open")
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

  @Test("Closing ends the fleet, and leaves files without logs")
  func closed() throws {
    let fleet = try Tenants.fleet(in: folder)
    try fleet.inTransaction("norway") { try Tenants.insert("Oslo", $0) }
    try fleet.close()
    try fleet.close()
    #expect(failure(DatabaseError.self) { try fleet.read("norway") { _ in } }?.code == .misuse)
    #expect(failure(DatabaseError.self) { try fleet.migrateAll() }?.code == .misuse)
    #expect(failure(DatabaseError.self) { try fleet.remove("norway") }?.code == .misuse)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: fleet.folder) == ["norway.db"])
    #expect(fleet.statistics.open == 0)
  }

  @Test("Closing waits for scopes, and lets nobody in meanwhile")
  func closingWaits() async throws {
    let fleet = try Tenants.fleet(in: folder)
    let user = try await TenantUser(fleet, "norway") { try Tenants.insert("Oslo", $0) }.enter()
    try await fleet.create("sweden")
    let isClosed = Lock(false)
    Thread.detachNewThread {
      try? fleet.close()
      isClosed.withLock { $0 = true }
    }
    try await Tenants.wait {
      failure(DatabaseError.self) { try fleet.read("sweden") { _ in } }?.code == .misuse
    }
    #expect(!isClosed.withLock { $0 })
    try await user.end()
    try await Tenants.wait { isClosed.withLock { $0 } }
    #expect(try await Tenants.fleet(in: folder).read("norway", Tenants.names) == ["Oslo"])
  }

  @Test("Closing gives up where a scope doesn't end, and the fleet goes on")
  func closingFails() throws {
    let fleet = try Tenants.fleet(in: folder) { $0.database.scopeTimeout = .seconds(1) }
    try fleet.read("norway") { _ in
      #expect(failure(DatabaseError.self) { try fleet.close() }?.extendedCode == .busyTimeout)
    }
    #expect(try fleet.read("norway", Tenants.names) == [])
    try fleet.close()
  }
}
