import LarderFleet
import Foundation
import Larder
import TestSupport
import Testing

@Suite("Limits and waiting in a fleet")
struct FleetPlaceTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private func fleet(
    maximumOpen: Int, _ change: (inout FleetConfiguration) -> Void = { _ in }
  ) throws -> DatabaseFleet {
    try Tenants.fleet(in: folder) {
      $0.maximumOpen = maximumOpen
      change(&$0)
    }
  }

  /// The tenants' files that this process has open, by its descriptors.
  private func openFiles() throws -> [String] {
    let root = folder.file("tenants/")
    return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
    }.filter { $0.hasPrefix(root) }.map { String($0.dropFirst(root.count)) }.sorted()
  }

  @Test("A fleet at maximumOpen closes the least recently used database")
  func leastRecentlyUsed() throws {
    let fleet = try fleet(maximumOpen: 2)
    for (number, key) in ["a", "b", "a", "c"].enumerated() {
      try fleet.inTransaction(key) { try Tenants.insert("city \(number)", $0) }
    }
    #expect(try openFiles() == ["a.db", "a.db-shm", "a.db-wal", "c.db", "c.db-shm", "c.db-wal"])
    #expect(fleet.statistics.count == 2)
    #expect(fleet.statistics.descriptors == 6)
    #expect(fleet.statistics.opened == 3)
    #expect(fleet.statistics.evicted == 1)
  }

  @Test("A fleet closes a database that was idle for idleTime")
  func idle() async throws {
    let fleet = try fleet(maximumOpen: 4) { $0.idleTime = .milliseconds(1) }
    for key in ["a", "b"] { try await fleet.create(key) }
    try await Tenants.wait { fleet.statistics.count == 0 }
    #expect(fleet.statistics.expired == 2)
    #expect(try openFiles() == [])
    #expect(try await fleet.read("a", Tenants.names) == [])
  }

  @Test("A fleet doesn't close a database in use, however many others are opened")
  func inUse() async throws {
    let fleet = try fleet(maximumOpen: 2) { $0.idleTime = .zero }
    let user = try await TenantUser(fleet, "a") { try Tenants.insert("Oslo", $0) }.enter()
    for number in 0..<20 { try await fleet.create("other \(number)") }
    #expect(try openFiles().contains("a.db"))
    try await user.end()
    #expect(try await fleet.read("a", Tenants.names) == ["Oslo"])
  }

  @Test("Many tasks that use one closed database at the same time open it once")
  func openedOnce() async throws {
    let opened = Lock(0)
    let fleet = try fleet(maximumOpen: 4) {
      $0.database.prepareDatabase = { _ in opened.withLock { $0 += 1 } }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<50 {
        group.addTask {
          try await fleet.inTransaction("a") { try Tenants.insert("city \(number)", $0) }
        }
      }
      try await group.waitForAll()
    }
    #expect(opened.withLock { $0 } == 1)
    #expect(fleet.statistics.opened == 1)
    #expect(try await fleet.read("a") { try Tenants.names($0).count } == 50)
  }

  @Test("A slow migration of one tenant's database doesn't delay the use of others")
  func separateOpening() async throws {
    let isReleased = Lock(false)
    let slow = Migration("slow") { db in
      while db.path?.hasSuffix("/slow.db") == true, !isReleased.withLock({ $0 }) {
        try Task.checkCancellation()
        sched_yield()
      }
      try db.define(City.creation)
    }
    let fleet = try fleet(maximumOpen: 3) { $0.migrator = Migrator([slow]) }
    let user = TenantUser(fleet, "slow")
    try await Tenants.wait { fleet.statistics.waiting == 1 }
    for key in ["a", "b", "c", "d"] { #expect(try await fleet.read(key, Tenants.names) == []) }
    #expect(try await fleet.read("e") { try Tenants.names($0) } == [])
    #expect(!user.isInside)
    isReleased.withLock { $0 = true }
    try await user.enter().end()
  }

  // MARK: Waiting for a place

  @Test("Where a fleet's places are all in use, waiting scopes are served first come, first served")
  func line() async throws {
    let fleet = try fleet(maximumOpen: 1)
    let user = try await TenantUser(fleet, "a").enter()
    let order = Lock<[String]>([])
    var others: [TenantUser] = []
    for key in ["b", "c", "d"] {
      others.append(TenantUser(fleet, key) { _ in order.withLock { $0.append(key) } })
      others[others.count - 1].release()
      try await Tenants.wait { fleet.statistics.waiting == others.count }
    }
    #expect(order.withLock { $0 } == [])
    try await user.end()
    for other in others { try await other.end() }
    #expect(order.withLock { $0 } == ["b", "c", "d"])
  }

  @Test(
    "Waiting for a fleet's place for longer than scopeTimeout throws an error that says why",
    arguments: [true, false]
  )
  func timeout(isTask: Bool) async throws {
    let fleet = try fleet(maximumOpen: 1) { $0.database.scopeTimeout = .seconds(1) }
    let user = try await TenantUser(fleet, "a").enter()
    var error: DatabaseError?
    do {
      if isTask {
        try await fleet.read("b") { _ in }
      } else {
        try Self.read(fleet, "b")
      }
    } catch let thrown as DatabaseError { error = thrown }
    #expect(error?.extendedCode == .busyTimeout)
    #expect(error?.message.contains("all 1 databases that may be open are in use") == true)
    #expect(error?.message.contains("“b”") == true)
    #expect(fleet.statistics.waiting == 0)
    try await user.end()
    #expect(try fleet.keys() == ["a"])
  }

  /// Reads synchronously, whatever context calls it.
  private static func read(_ fleet: DatabaseFleet, _ key: String) throws {
    try fleet.read(key) { _ in }
  }

  @Test("A fleet's scope inside of the scope that holds its only place times out")
  func nested() throws {
    // The time is enough to open a database on a slow machine.
    let fleet = try fleet(maximumOpen: 1) { $0.database.scopeTimeout = .seconds(2) }
    try fleet.read("a") { _ in
      let error = failure(DatabaseError.self) { try fleet.read("b") { _ in } }
      #expect(error?.extendedCode == .busyTimeout)
      // A nested scope of the same database throws at once.
      #expect(failure(DatabaseError.self) { try fleet.read("a") { _ in } }?.code == .misuse)
      #expect(
        failure(DatabaseError.self) { try fleet.remove("a") }?.extendedCode == .busyTimeout)
    }
    #expect(try fleet.read("b", Tenants.names) == [])
  }

  @Test("A cancelled task stops waiting for a fleet's place, and the next in line gets it")
  func cancelled() async throws {
    let fleet = try fleet(maximumOpen: 1)
    let user = try await TenantUser(fleet, "a").enter()
    let task = Task { try await fleet.read("b") { _ in } }
    try await Tenants.wait { fleet.statistics.waiting == 1 }
    let next = TenantUser(fleet, "c")
    try await Tenants.wait { fleet.statistics.waiting == 2 }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(fleet.statistics.waiting == 1)
    try await user.end()
    try await next.enter().end()
    #expect(try fleet.keys() == ["a", "c"])
  }

  @Test("Tasks cancelled at random moments leave no fleet database in use and no scope waiting")
  func cancelledAnywhere() async throws {
    let fleet = try fleet(maximumOpen: 2)
    var random = SeededGenerator(seed: 1)
    for number in 0..<300 {
      let key = "tenant \(Int.random(in: 0..<5, using: &random))"
      let task = Task {
        try await fleet.inTransaction(key) { try Tenants.insert("city \(number)", $0) }
      }
      for _ in 0..<Int.random(in: 0..<40, using: &random) { await Task.yield() }
      task.cancel()
      if Bool.random(using: &random) { _ = await task.result }
    }
    try await Tenants.wait { fleet.statistics.waiting == 0 && fleet.statistics.inUse == 0 }
    #expect(fleet.statistics.count <= 2)
    for number in 0..<5 {
      _ = try await fleet.read("tenant \(number)") { try Tenants.names($0) }
    }
    try await fleet.close()
  }

  // MARK: Removing

  @Test("Removing a tenant waits for its scopes, and a call made meanwhile gets a new database")
  func removed() async throws {
    let fleet = try fleet(maximumOpen: 2)
    try await fleet.inTransaction("a") { try Tenants.insert("Oslo", $0) }
    let user = try await TenantUser(fleet, "a") { try Tenants.insert("Bergen", $0) }.enter()
    let removal = Task { try await fleet.remove("a") }
    try await Tenants.wait { fleet.statistics.waiting == 1 }
    let reader = Task { try await fleet.read("a") { try Tenants.names($0) } }
    try await Tenants.wait { fleet.statistics.waiting == 2 }
    #expect(try fleet.exists("a"))
    try await user.end()
    try await removal.value
    #expect(try await reader.value == [])
    try await fleet.remove("a")
    try await fleet.remove("a")
    #expect(try fleet.keys() == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: fleet.folder) == [])
  }

  @Test("Cancelling a tenant's removal admits the scopes that queued behind it")
  func removalGivenUp() async throws {
    let fleet = try fleet(maximumOpen: 2)
    let user = try await TenantUser(fleet, "a").enter()
    let removal = Task { try await fleet.remove("a") }
    try await Tenants.wait { fleet.statistics.waiting == 1 }
    let other = TenantUser(fleet, "a")
    try await Tenants.wait { fleet.statistics.waiting == 2 }
    removal.cancel()
    await #expect(throws: CancellationError.self) { try await removal.value }
    try await user.end()
    try await other.enter().end()
    #expect(try fleet.exists("a"))
  }

  @Test("`remove` deletes a tenant's file even if it isn't a database")
  func removedRubbish() throws {
    let fleet = try fleet(maximumOpen: 2)
    try Data("rubbish".utf8).write(to: URL(fileURLWithPath: fleet.path(of: "a")))
    try fleet.remove("a")
    #expect(try !fleet.exists("a"))
  }
}
