import CFaultInjection
import LarderSQLite
import Testing

/// Tests of shared syncs: their settings, their statistics, and when syncs aren't shared.
extension DurableOutcomeTests {
  @Test(
    "With `readsWaitForDurability` off, reads return during a sync, and transactions still wait")
  func readsThatDoNotWait() throws {
    let access = try open(isPool: true) { $0.readsWaitForDurability = false }
    defer { close(access) }
    durability_hold_syncs(1)
    insert("Bergen", access)
    #expect(try waitForCities(2))
    #expect(wait { durability_held_syncs() > 0 })
    let count: @Sendable (Database) throws -> Void = { (db) throws in
      #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 2)
    }
    callers.start("thread") { try access.read(count) }
    callers.start(task: "task") { try await access.read(count) }
    callers.start("error") {
      try access.read { db in
        try count(db)
        throw DatabaseError(.notFound, "Bodø")
      }
    }
    #expect(wait { callers.told.withLock { $0.count == 3 } })
    #expect(callers.find("error")?.code == .notFound)
    // A transaction waits nevertheless, because it could write.
    callers.start("transaction") { try access.inTransaction(.deferred, count) }
    linger()
    #expect(callers.find("transaction") == nil)
    #expect(callers.find("Bergen") == nil)
    durability_hold_syncs(0)
    #expect(callers.end())
    #expect(callers.told.withLock { $0.count } == 5)
  }

  @Test(
    "The statistics count each sync once, and the largest number of commits that shared one",
    arguments: [false, true])
  func syncStatistics(isPool: Bool) throws {
    let access = try open(isPool: isPool)
    defer { close(access) }
    let before = access.statistics
    durability_hold_syncs(1)
    insert("Bergen", access)
    #expect(wait { durability_held_syncs() > 0 })
    for number in 0..<15 { insert("city \(number)", access) }
    #expect(try waitForCities(17))
    #expect(access.statistics.syncs == before.syncs)
    durability_hold_syncs(0)
    #expect(callers.end())
    let after = access.statistics
    #expect(after.transactions == before.transactions + 16)
    #expect(after.syncs == before.syncs + 2)
    #expect(after.largestGroup == 15)
  }

  @Test(
    "`effectiveSettings.groupCommit` is true only for a durable queue in WAL mode with the option on",
    arguments: [
      (Configuration.Profile.durable, Configuration.JournalMode.wal, true, true),
      (.durable, .wal, false, false), (.durable, .truncate, true, false),
      (.service, .wal, true, false),
    ])
  func settings(
    profile: Configuration.Profile, mode: Configuration.JournalMode, groupCommit: Bool,
    isShared: Bool
  ) throws {
    var configuration = Configuration(profile: profile)
    configuration.journalMode = mode
    configuration.groupCommit = groupCommit
    let queue = try DatabaseQueue(path: folder.file("cities.db"), configuration: configuration)
    let settings = try queue.inDatabase { try $0.effectiveSettings }
    #expect(settings.groupCommit == isShared)
    #expect(settings.synchronous == (profile == .durable ? .full : .normal))
    #expect(try queue.read { try $0.effectiveSettings.groupCommit } == isShared)
    try queue.close()
    let db = try Database(path: folder.file("cities.db"), configuration: configuration)
    #expect(try !db.effectiveSettings.groupCommit)
    try db.close()
  }

  @Test(
    "Commits stay durable after PRAGMA journal_mode = DELETE, and syncs are shared again in WAL")
  func journalModeByHand() throws {
    let access = try open(isPool: false)
    defer { close(access) }
    func isShared() throws -> Bool {
      try access.inDatabase { try $0.effectiveSettings.groupCommit }
    }
    #expect(try isShared())
    try access.inDatabase { (db) throws in
      #expect(try db.value("PRAGMA journal_mode = DELETE", as: String.self) == "delete")
      #expect(try db.value("PRAGMA synchronous", as: Int.self) == 2)
    }
    #expect(try !isShared())
    let syncs = durability_journal_syncs()
    try access.inTransaction { try $0.executeUpdate("INSERT INTO city VALUES ('Bergen')") }
    // With synchronous FULL SQLite syncs the journal's pages, then its header with their count.
    #expect(durability_journal_syncs() == syncs + 2)
    try access.inDatabase { (db) throws in
      #expect(try db.value("PRAGMA journal_mode = WAL", as: String.self) == "wal")
      // Until the scope ends, SQLite itself syncs each commit.
      #expect(try !db.effectiveSettings.groupCommit)
      try db.executeUpdate("INSERT INTO city VALUES ('Bodø')")
      #expect(durability_written() > 0)
      #expect(durability_synced() == durability_written())
    }
    #expect(try isShared())
    // Setting WAL again changes nothing.
    try access.inDatabase { (db) throws in
      #expect(try db.value("PRAGMA journal_mode = WAL", as: String.self) == "wal")
      try db.executeUpdate("INSERT INTO city VALUES ('Narvik')")
    }
    #expect(durability_synced() == durability_written())
    #expect(try isShared())
    let before = access.statistics.syncs
    durability_hold_syncs(1)
    insert("Tromsø", access)
    #expect(wait { durability_held_syncs() > 0 })
    insert("Alta", access)
    #expect(try waitForCities(6))
    linger()
    #expect(callers.told.withLock { $0.isEmpty })
    durability_hold_syncs(0)
    #expect(callers.end())
    #expect(access.statistics.syncs == before + 2)
  }

  @Test("Explicit checkpoints succeed beside the pool's own checkpoints and writers")
  func checkpoints() throws {
    let access = try open(isPool: true) { configuration in
      configuration.journalSizeLimit = 64 << 10
      configuration.prepareDatabase = { try $0.executeUpdate("PRAGMA wal_autocheckpoint = 4") }
    }
    defer { close(access) }
    for number in 0..<2 {
      callers.start("writer \(number)") {
        for row in 0..<150 {
          try access.inTransaction {
            _ = try $0.executeUpdate("INSERT INTO city VALUES (?)", "city \(number) \(row)")
          }
        }
      }
    }
    let modes = [CheckpointMode.passive, .full, .restart, .truncate]
    for mode in modes {
      callers.start("checkpoint \(mode)") {
        for _ in 0..<50 { try access.checkpoint(mode) }
      }
    }
    #expect(callers.end())
    #expect(callers.told.withLock { $0.compactMap(\.code) } == [])
    #expect(try access.read { try $0.value("SELECT count(*) FROM city", as: Int.self) } == 301)
  }
}
