import Foundation
import Larder
import TestSupport
import Testing

@Suite("The open databases of a fleet")
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

  /// Which databases the process has open, by the descriptors.
  private func openFiles() throws -> [String] {
    let root = folder.file("tenants/")
    return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
    }.filter { $0.hasPrefix(root) }.map { String($0.dropFirst(root.count)) }.sorted()
  }

  @Test("There are at most so many, and the one that was unused for longest goes first")
  func leastRecentlyUsed() throws {
    let fleet = try fleet(maximumOpen: 2)
    for (number, key) in ["a", "b", "a", "c"].enumerated() {
      try fleet.inTransaction(key) { try Tenants.insert("city \(number)", $0) }
    }
    #expect(try openFiles() == ["a.db", "a.db-shm", "a.db-wal", "c.db", "c.db-shm", "c.db-wal"])
    #expect(fleet.statistics.open == 2)
    #expect(fleet.statistics.descriptors == 6)
    #expect(fleet.statistics.opened == 3)
    #expect(fleet.statistics.evicted == 1)
  }

  @Test("One that nobody uses for a while is closed")
  func idle() async throws {
    let fleet = try fleet(maximumOpen: 4) { $0.idleTime = .milliseconds(1) }
    for key in ["a", "b"] { try await fleet.create(key) }
    try await Tenants.wait { fleet.statistics.open == 0 }
    #expect(fleet.statistics.expired == 2)
    #expect(try openFiles() == [])
    #expect(try await fleet.read("a", Tenants.names) == [])
  }

  @Test("One in use is never closed, however many others come")
  func inUse() async throws {
    let fleet = try fleet(maximumOpen: 2) { $0.idleTime = .zero }
    let user = try await TenantUser(fleet, "a") { try Tenants.insert("Oslo", $0) }.enter()
    for number in 0..<20 { try await fleet.create("other \(number)") }
    #expect(try openFiles().contains("a.db"))
    try await user.end()
    #expect(try await fleet.read("a", Tenants.names) == ["Oslo"])
  }

  @Test("Many threads and tasks that use one cold database open it once")
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

  @Test("Nobody waits for the migration of another's database")
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

  // MARK: The line

  @Test("Where all are in use the next waits, first come first served")
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

  @Test("Who waits for too long is told why, thread or task", arguments: [true, false])
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

  /// On this thread, whatever the context is.
  private static func read(_ fleet: DatabaseFleet, _ key: String) throws {
    try fleet.read(key) { _ in }
  }

  @Test("Scopes of two databases, one inside of the other, fail in time where there is one place")
  func nested() throws {
    // Long enough to open one on a slow machine.
    let fleet = try fleet(maximumOpen: 1) { $0.database.scopeTimeout = .seconds(2) }
    try fleet.read("a") { _ in
      let error = failure(DatabaseError.self) { try fleet.read("b") { _ in } }
      #expect(error?.extendedCode == .busyTimeout)
      // That of the same database is told at once.
      #expect(failure(DatabaseError.self) { try fleet.read("a") { _ in } }?.code == .misuse)
      #expect(
        failure(DatabaseError.self) { try fleet.remove("a") }?.extendedCode == .busyTimeout)
    }
    #expect(try fleet.read("b", Tenants.names) == [])
  }

  @Test("A task that is cancelled leaves the line, and the next one gets the place")
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

  @Test("Tasks that are cancelled at any moment leave nothing in use, nor waiting")
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
    #expect(fleet.statistics.open <= 2)
    for number in 0..<5 {
      _ = try await fleet.read("tenant \(number)") { try Tenants.names($0) }
    }
    try await fleet.close()
  }

  // MARK: Removing

  @Test("Removing waits for those who use it; who comes meanwhile finds a new one")
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

  @Test("A removal that is given up lets those in who came after it")
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

  @Test("What is no database is removed all the same")
  func removedRubbish() throws {
    let fleet = try fleet(maximumOpen: 2)
    try Data("rubbish".utf8).write(to: URL(fileURLWithPath: fleet.path(of: "a")))
    try fleet.remove("a")
    #expect(try !fleet.exists("a"))
  }
}
