import CFaultInjection
import Foundation
import LarderSQLite
import TestSupport
import Testing

@testable import LarderPostgres

/// Tests that each alarm of the documentation's file fires for the failure that it is for, and no other does.
///
/// Prometheus's own `promtool` evaluates the rules, over half an hour of scraped values: those of a healthy
/// database, then those of the failure, as they would go on if it lasted.
extension DurableOutcomeTests {
  /// Opens a database on an ordinary disk, unless told otherwise.
  private func openScraped(
    isPool: Bool = true, isFaulty: Bool = false,
    configure: (inout Configuration) -> Void = { _ in }
  ) throws -> any DatabaseAccess {
    let access = try open(isPool: isPool) { configuration in
      if !isFaulty { configuration.vfs = nil }
      configuration.measuresCalls = true
      configuration.scopeTimeout = .seconds(5)
      configure(&configuration)
    }
    #expect(wait { access.statistics.freeBytes != nil })
    return access
  }

  private static func change(_ access: any DatabaseAccess) throws {
    _ = try access.inTransaction { try $0.executeUpdate("UPDATE city SET name = name") }
  }

  @Test("While all is well, no alarm fires", .enabled(if: Alarms.areThere, "no promtool"))
  func noAlarm() throws {
    let access = try openScraped()
    defer { close(access) }
    let alarms = Alarms(access)
    for _ in 0..<50 { try Self.change(access) }
    try access.read { _ = try $0.value("SELECT count(*) FROM city", as: Int.self) }
    try access.checkpoint(.full)
    #expect(try alarms.firing(access) == [])
  }

  @Test(
    "An alarm fires for slow syncs and checkpoints", .enabled(if: Alarms.areThere, "no promtool"),
    arguments: [Configuration.Synchronous.full, .normal])
  func slowDiskAlarm(synchronous: Configuration.Synchronous) throws {
    let access = try openScraped(isFaulty: true) { $0.synchronous = synchronous }
    defer { close(access) }
    let alarms = Alarms(access)
    // Of several checkpoints only those that have something to do are slow.
    durability_begin(synchronous == .normal ? 1_000_000 : 300_000, 0)
    insert("Bergen", access)
    if synchronous == .normal { callers.start("checkpoint") { try access.checkpoint(.full) } }
    #expect(callers.end())
    #expect(try alarms.firing(access) == ["LarderDiskSlow"])
  }

  @Test("An alarm fires for a sync that hangs", .enabled(if: Alarms.areThere, "no promtool"))
  func hangingSyncAlarm() throws {
    let access = try openScraped(isFaulty: true)
    defer { close(access) }
    let alarms = Alarms(access)
    durability_hold_syncs(1)
    insert("Bergen", access)
    #expect(wait { access.statistics.sync.running != nil && access.statistics.writer == nil })
    #expect(try alarms.firing(access) == ["LarderDiskHangs"])
    durability_hold_syncs(0)
    #expect(callers.end())
  }

  @Test("An alarm fires for a failed sync", .enabled(if: Alarms.areThere, "no promtool"))
  func failedSyncAlarm() throws {
    let access = try openScraped(isFaulty: true)
    defer { close(access) }
    let alarms = Alarms(access)
    durability_begin(0, 1)
    insert("Bergen", access)
    #expect(callers.end())
    #expect(try alarms.firing(access) == ["LarderBroken", "LarderFailures"])
  }

  @Test(
    "An alarm fires for a moved file, and for a removed log",
    .enabled(if: Alarms.areThere, "no promtool"), arguments: ["", "-wal"])
  func movedFileAlarm(suffix: String) throws {
    let access = try openScraped()
    defer { close(access) }
    let alarms = Alarms(access)
    let path = folder.file("cities.db") + suffix
    #expect(rename(path, path + "-moved") == 0)
    #expect(throws: DatabaseError.self) { try Self.change(access) }
    #expect(try alarms.firing(access) == ["LarderBroken", "LarderFailures"])
  }

  @Test(
    "Alarms fire for a reader of another process that starves checkpoints",
    .enabled(if: Alarms.areThere, "no promtool"))
  func starvedCheckpointAlarm() throws {
    // Small pages, of which many can be written.
    var plain = Configuration()
    plain.journalMode = .delete
    let path = folder.file("cities.db")
    let db = try Database(path: path, configuration: plain)
    try db.executeStatements("PRAGMA page_size = 512; VACUUM")
    try db.close()
    let access = try openScraped {
      $0.synchronous = .normal
      // The pool doesn't try to make the log begin anew, for which it would hold the writer.
      $0.journalSizeLimit = 1 << 30
    }
    defer { close(access) }
    let alarms = Alarms(access)
    let shell = try ChildProcess("sqlite3", [path])
    shell.say("BEGIN; SELECT count(*) FROM city;")
    #expect(shell.line() == "1")
    try access.inTransaction {
      try $0.executeUpdate("INSERT INTO city VALUES (zeroblob(17000000))")
    }
    try access.checkpoint(.passive)
    #expect(wait { access.statistics.pinned != nil })
    // The pool's own checkpoint may have waited for the long write.
    let names = try alarms.firing(access).filter { $0 != "LarderWritersWait" }
    #expect(names == ["LarderLogLarge", "LarderLogPinned"])
    shell.say("COMMIT;")
    shell.say(".quit")
    _ = shell.end()
  }

  @Test("Alarms fire for a read that doesn't end", .enabled(if: Alarms.areThere, "no promtool"))
  func leakedReadAlarm() throws {
    let access = try openScraped()
    defer { close(access) }
    let alarms = Alarms(access)
    let names = try access.read(label: "report") { db in
      _ = try db.value("SELECT count(*) FROM city", as: Int.self)
      callers.start("write") {
        for _ in 0..<20 { try Self.change(access) }
        try access.checkpoint(.passive)
      }
      #expect(callers.end())
      return try alarms.firing(access)
    }
    #expect(names == ["LarderLogPinned", "LarderReadLeaked"])
  }

  @Test(
    "Alarms fire for a long writer, for those that wait for it, and for those that wait in vain",
    .enabled(if: Alarms.areThere, "no promtool"))
  func longWriterAlarm() throws {
    let access = try openScraped { $0.scopeTimeout = .milliseconds(300) }
    defer { close(access) }
    let letGo = DispatchSemaphore(value: 0)
    callers.start("long") {
      try access.inTransaction(label: "nightly import") { _ in letGo.wait() }
    }
    #expect(wait { access.statistics.writer?.label == "nightly import" })
    // From here on nobody else gets the writer; the import may have had to wait for it.
    var alarms = Alarms(access)
    #expect(try alarms.firing(access) == ["LarderWriterHeld"])
    insert("Bergen", access)
    // The refusal is counted where the wait ends, the failure where the call does.
    #expect(wait { access.statistics.refusals == 1 && access.statistics.failures == 1 })
    let names = try alarms.firing(access)
    #expect(names == ["LarderFailures", "LarderRefusals", "LarderWriterHeld"])
    // Another one waits for 150 ms, and gets the writer.
    alarms = Alarms(access)
    insert("Oslo", access)
    #expect(wait { access.statistics.waiting == 1 })
    let start = ContinuousClock.now
    #expect(wait { ContinuousClock.now - start > .milliseconds(150) })
    letGo.signal()
    #expect(callers.end())
    #expect(try alarms.firing(access).contains("LarderWritersWait"))
  }

  @Test("An alarm fires for another process's lock", .enabled(if: Alarms.areThere, "no promtool"))
  func lockedFileAlarm() throws {
    let access = try openScraped {
      $0.busyTimeout = .zero
      $0.retryLimit = .seconds(30)
    }
    defer { close(access) }
    let alarms = Alarms(access)
    let other = try Database(path: folder.file("cities.db"))
    try other.executeStatements("BEGIN IMMEDIATE")
    insert("Bergen", access)
    #expect(wait { access.statistics.retries > 1 })
    try other.executeStatements("COMMIT")
    try other.close()
    #expect(callers.end())
    #expect(try alarms.firing(access) == ["LarderRetries"])
  }

  @Test(
    "Alarms fire for a full disk",
    .enabled(if: Alarms.areThere && geteuid() == 0, "no promtool, or not root"))
  func fullDiskAlarm() throws {
    let before = try openScraped()
    let alarms = Alarms(before)
    try before.close()
    let disk = folder.file("disk")
    #expect(mkdir(disk, 0o700) == 0)
    guard mount("tmpfs", disk, "tmpfs", 0, "size=400k") == 0 else { return folder.remove() }
    defer {
      umount(disk)
      folder.remove()
    }
    let pool = try DatabasePool(path: disk + "/cities.db")
    try pool.inTransaction { try $0.executeStatements("CREATE TABLE city (name TEXT)") }
    #expect(throws: DatabaseError.self) {
      try pool.inTransaction {
        try $0.executeUpdate("INSERT INTO city VALUES (zeroblob(1000000))")
      }
    }
    #expect(wait { pool.statistics.freeBytes != nil })
    #expect(try alarms.firing(pool) == ["LarderFailures", "LarderVolumeFull"])
    try pool.close()
  }

  @Test(
    "The dashboard's queries are valid, and ask for metrics that are written",
    .enabled(if: Alarms.areThere, "no promtool"))
  func dashboard() throws {
    let access = try openScraped()
    defer { close(access) }
    let text = try String(contentsOf: Alarms.file("dashboard.json"), encoding: .utf8)
    let all = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let panels = all["panels"] as? [[String: Any]] ?? []
    let queries = panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }
      .compactMap { $0["expr"] as? String }
      .map { $0.replacingOccurrences(of: "$database", with: ".*") }
    #expect(queries.count > 20)
    let rules = queries.map { ["record": "larder:query", "expr": $0] }
    let file = folder.file("rules.json")
    let groups = ["groups": [["name": "dashboard", "rules": rules]]]
    try Alarms.write(groups, to: file)
    let promtool = try ChildProcess("promtool", ["check", "rules", "--lint=none", file])
    let output = promtool.remainingLines()
    #expect(promtool.end() == 0, "\(output)")

    try Self.change(access)
    let replica = ReplicaStatistics(
      name: "b:5432", reads: 1, fallbacks: 0, isLeftOut: false, error: nil, outage: nil,
      pendingBytes: 0, busyReaders: 0, idleReaders: 1)
    let server = ServerStatistics(address: "a:5432", replicas: [replica]).prometheusText()
    let samples = [Alarms.samples(access.statistics), Alarms.samples(inText: server)]
    let written = Set(samples.flatMap { $0.keys.map { $0.prefix { $0 != "{" } } })
    let alarms = try String(contentsOf: Alarms.file("alarms.yml"), encoding: .utf8)
    let asked = (queries.joined() + alarms).matches(of: /larder_[a-z_]+/).map(\.output)
    #expect(asked.count > 40)
    for name in Set(asked) { #expect(written.contains(name), "\(name)") }
  }
}
