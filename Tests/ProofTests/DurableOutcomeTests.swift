import CFaultInjection
import Foundation
import LarderSQLite
import TestSupport
import Testing

/// These tests hold back syncs of the log, to detect outcomes that are returned before they are on disk.
@Suite("Calls return only when what they saw is on disk", .serialized)
struct DurableOutcomeTests {
  private struct Doubt: Error {}

  /// The outcome of a call, and how much of the log was on disk when it returned.
  struct Told {
    var name: String
    var code: ResultCode?
    var synced: Int
  }

  /// Threads and tasks that call a queue or pool, and the outcomes of their calls.
  final class Callers: Sendable {
    let told = Lock<[Told]>([])
    private let group = DispatchGroup()

    func start(_ name: String, _ body: @escaping @Sendable () throws -> Void) {
      group.enter()
      Thread.detachNewThread { [self] in
        var code: ResultCode?
        do { try body() } catch { code = (error as? DatabaseError)?.extendedCode }
        tell(name, code)
      }
    }

    func start(task name: String, _ body: @escaping @Sendable () async throws -> Void) {
      group.enter()
      // High priority: with the default it would run after all tests that wait for a thread.
      Task.detached(priority: .high) { [self] in
        var code: ResultCode?
        do { try await body() } catch { code = (error as? DatabaseError)?.extendedCode }
        tell(name, code)
      }
    }

    private func tell(_ name: String, _ code: ResultCode?) {
      let synced = durability_synced()
      told.withLock { $0.append(Told(name: name, code: code, synced: synced)) }
      group.leave()
    }

    /// Waits for all callers. Returns false if one hangs.
    func end() -> Bool { group.wait(timeout: .now() + 60) == .success }

    func find(_ name: String) -> Told? { told.withLock { $0.first { $0.name == name } } }
  }

  let folder: ScratchFolder
  let callers = Callers()

  init() throws {
    _ = Self.installed
    folder = try ScratchFolder()
  }

  private static let installed: Void = { _ = durability_vfs_install() }()

  func open(
    isPool: Bool, configure: (inout Configuration) -> Void = { _ in }
  ) throws -> any DatabaseAccess {
    durability_hold_syncs(0)
    durability_begin(0, 0)
    var configuration = Configuration(profile: .durable)
    configuration.vfs = "durability"
    configuration.scopeTimeout = .seconds(20)
    configure(&configuration)
    let path = folder.file("cities.db")
    let access: any DatabaseAccess =
      isPool
      ? try DatabasePool(path: path, configuration: configuration)
      : try DatabaseQueue(path: path, configuration: configuration)
    try access.inTransaction { db in
      try db.executeStatements(
        "CREATE TABLE city (name TEXT UNIQUE); INSERT INTO city VALUES ('Oslo')")
    }
    return access
  }

  func close(_ access: any DatabaseAccess) {
    durability_hold_syncs(0)
    try? access.close()
    folder.remove()
  }

  /// Waits for a condition, at most 60 seconds.
  func wait(_ condition: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(60)
    while !condition() {
      guard ContinuousClock.now < deadline else { return false }
      usleep(200)
    }
    return true
  }

  /// Gives calls that would return too early the time to do so.
  func linger() { usleep(30_000) }

  func insert(_ name: String, _ access: any DatabaseAccess) {
    callers.start(name) {
      _ = try access.inTransaction { try $0.executeUpdate("INSERT INTO city VALUES (?)", name) }
    }
  }

  /// Waits until another connection sees this many cities.
  func waitForCities(_ count: Int) throws -> Bool {
    var configuration = Configuration()
    configuration.readOnly = true
    let other = try Database(path: folder.file("cities.db"), configuration: configuration)
    defer { try? other.close() }
    return wait {
      (try? other.value("SELECT count(*) FROM city", as: Int.self)) == count
    }
  }

  @Test(
    "Transactions run while a sync is running, share the next sync, and return only after it",
    arguments: [false, true])
  func sharedSync(isPool: Bool) throws {
    let access = try open(isPool: isPool)
    defer { close(access) }
    durability_hold_syncs(1)
    insert("Bergen", access)
    #expect(wait { durability_held_syncs() > 0 })
    for number in 0..<15 { insert("city \(number)", access) }
    #expect(try waitForCities(17))
    linger()
    #expect(callers.told.withLock { $0.isEmpty })
    let (begun, written) = (durability_syncs(), durability_written())
    durability_hold_syncs(0)
    #expect(callers.end())
    #expect(callers.told.withLock { $0.allSatisfy { $0.code == nil } })
    for number in 0..<15 {
      #expect((callers.find("city \(number)")?.synced ?? 0) >= written, "told before its sync")
    }
    // One sync for all transactions that came while the first sync ran.
    #expect(durability_syncs() <= begun + 1)
  }

  @Test(
    "A sync completes the commits that were written before it began, and no later ones",
    arguments: [false, true])
  func laterCommit(isPool: Bool) throws {
    let access = try open(isPool: isPool)
    defer { close(access) }
    durability_hold_syncs(1)
    insert("Bergen", access)
    #expect(wait { durability_held_syncs() > 0 })
    let first = durability_written()
    insert("Bodø", access)
    #expect(try waitForCities(3))
    let second = durability_written()
    #expect(second > first)
    durability_let_sync()
    #expect(wait { callers.find("Bergen") != nil })
    #expect(wait { durability_held_syncs() > 0 }, "nobody syncs for the second")
    linger()
    #expect(callers.find("Bodø") == nil)
    durability_hold_syncs(0)
    #expect(callers.end())
    #expect((callers.find("Bodø")?.synced ?? 0) >= second)
  }

  @Test(
    "A read, an error or a rollback returns only when the commit that it saw is on disk",
    arguments: [false, true])
  func whatWasSeen(isPool: Bool) throws {
    let access = try open(isPool: isPool)
    defer { close(access) }
    durability_hold_syncs(1)
    insert("Bergen", access)
    #expect(try waitForCities(2))
    #expect(wait { durability_held_syncs() > 0 })
    let written = durability_written()
    let closures = Lock(0)
    let count: @Sendable (Database) throws -> Void = { (db) throws in
      closures.withLock { $0 += 1 }
      #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 2)
    }
    let calls: [(String, @Sendable () throws -> Void)] = [
      ("read", { try access.read(count) }),
      ("scope", { try access.inDatabase(count) }),
      ("savepoint", { try access.inSavepoint(count) }),
      ("transaction", { try access.inTransaction(.deferred, count) }),
      (
        "rollback",
        {
          try access.inTransaction { db in
            try count(db)
            db.setRollbackOnly()
          }
        }
      ),
      (
        "error",
        {
          try access.inTransaction { db in
            try count(db)
            throw Doubt()
          }
        }
      ),
      (
        "constraint",
        {
          try access.inTransaction { db in
            try count(db)
            try db.executeUpdate("INSERT INTO city VALUES ('Bergen')")
          }
        }
      ),
    ]
    for (name, call) in calls { callers.start(name, call) }
    #expect(wait { closures.withLock { $0 } == calls.count })
    linger()
    #expect(callers.told.withLock { $0.map(\.name) } == [])
    durability_hold_syncs(0)
    #expect(callers.end())
    for (name, _) in calls {
      #expect((callers.find(name)?.synced ?? 0) >= written, "\(name) was told too early")
    }
    #expect(callers.find("constraint")?.code == .constraintUnique)
  }

  @Test("Reads that wait for a sync don't occupy the pool's readers", arguments: [1, 2])
  func waitingReads(readers: Int) throws {
    let access = try open(isPool: true)
    defer { close(access) }
    durability_hold_syncs(1)
    insert("Bergen", access)
    #expect(try waitForCities(2))
    let ran = Lock(0)
    // More than the pool's four readers.
    for number in 0..<(6 * readers) {
      callers.start("read \(number)") { try access.read { _ in ran.withLock { $0 += 1 } } }
    }
    #expect(wait { ran.withLock { $0 } == 6 * readers })
    durability_hold_syncs(0)
    #expect(callers.end())
  }

  @Test("Calls return without a sync if nothing was written, or if commits needn't be durable")
  func noWait() throws {
    let access = try open(isPool: true)
    defer { close(access) }
    durability_hold_syncs(1)
    callers.start("read") { try access.read { _ in } }
    callers.start("transaction") { try access.inTransaction { _ in } }
    #expect(wait { callers.find("read") != nil && callers.find("transaction") != nil })
    #expect(durability_held_syncs() == 0)
    durability_hold_syncs(0)
    #expect(callers.end())
    var configuration = Configuration()
    configuration.vfs = "durability"
    let queue = try DatabaseQueue(path: folder.file("rivers.db"), configuration: configuration)
    // The first commit syncs the new log's header.
    try queue.inTransaction { _ = try $0.executeUpdate("CREATE TABLE river (name)") }
    durability_hold_syncs(1)
    callers.start("normal") {
      try queue.inTransaction { _ = try $0.executeUpdate("INSERT INTO river VALUES ('Glomma')") }
    }
    #expect(wait { callers.find("normal") != nil })
    durability_hold_syncs(0)
    #expect(callers.end())
    try queue.close()
  }

  @Test(
    "After a failed sync its commits throw, no further sync is tried, and writes throw",
    arguments: [false, true])
  func failedSync(isPool: Bool) throws {
    let access = try open(isPool: isPool)
    defer { close(access) }
    durability_begin(0, 2)
    durability_hold_syncs(1)
    insert("Bergen", access)
    #expect(wait { durability_held_syncs() > 0 })
    for number in 0..<4 { insert("city \(number)", access) }
    #expect(try waitForCities(6))
    durability_hold_syncs(0)
    #expect(callers.end())
    let failed: ResultCode = 1034  // SQLITE_IOERR_FSYNC
    #expect(callers.find("Bergen")?.code == nil)
    for number in 0..<4 { #expect(callers.find("city \(number)")?.code == failed) }
    let syncs = durability_syncs()
    for _ in 0..<3 {
      let error = #expect(throws: DatabaseError.self) {
        try access.inTransaction { _ in _ = Issue.record("the closure ran") }
      }
      #expect(error?.extendedCode == failed)
    }
    #expect(durability_syncs() == syncs)
    try? access.close()
    // After reopening, the file can be written again.
    durability_begin(0, 0)
    let path = folder.file("cities.db")
    let queue = try DatabaseQueue(path: path, configuration: Configuration(profile: .durable))
    try queue.inTransaction { _ = try $0.executeUpdate("INSERT INTO city VALUES ('Narvik')") }
    #expect(try queue.read { try $0.value("PRAGMA integrity_check", as: String.self) } == "ok")
    try queue.close()
  }
}
