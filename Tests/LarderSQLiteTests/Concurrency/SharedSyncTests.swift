import LarderSQLite
import TestSupport
import Testing

@Suite("Shared syncs of a queue or pool", .promptly)
struct SharedSyncTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private func configuration(_ change: (inout Configuration) -> Void = { _ in }) -> Configuration {
    var configuration = Configuration(profile: .durable)
    change(&configuration)
    return configuration
  }

  private func open(
    isPool: Bool = false, _ change: (inout Configuration) -> Void = { _ in }
  ) throws -> any DatabaseAccess {
    let path = folder.file("cities.db")
    let access: any DatabaseAccess =
      isPool
      ? try DatabasePool(path: path, configuration: configuration(change))
      : try DatabaseQueue(path: path, configuration: configuration(change))
    try access.inTransaction { try createCities(in: $0) }
    return access
  }

  private static func settings(_ access: any DatabaseAccess) throws -> EffectiveSettings {
    try access.inDatabase { try $0.effectiveSettings }
  }

  @Test(
    "Effective settings of a durable queue report synchronous FULL and whether syncs are shared")
  func settings() throws {
    let settings = try Self.settings(open())
    #expect(settings.synchronous == .full)
    #expect(settings.groupCommit)
    let alone = try Self.settings(
      DatabaseQueue(
        path: folder.file("b.db"), configuration: configuration { $0.groupCommit = false }))
    #expect(alone.synchronous == .full)
    #expect(!alone.groupCommit)
  }

  @Test(
    "A durable queue syncs its commits also under an authorizer",
    arguments: [Authorizer.dataOnly, .tables(["city"])])
  func authorizer(preset: Authorizer) throws {
    try open().close()
    let queue = try DatabaseQueue(
      path: folder.file("cities.db"), configuration: configuration { $0.authorizer = preset })
    try queue.inTransaction { _ = try $0.executeUpdate("UPDATE city SET area = 1") }
    #expect(queue.statistics.syncs > 0)
  }

  @Test("A call to a closed queue doesn't change the settings of other connections")
  func afterClose() throws {
    let queue = try open()
    try queue.close()
    let others = try (0..<20).map { number in
      try Database(path: folder.file("\(number).db"), configuration: configuration())
    }
    #expect(throws: DatabaseError.self) { try queue.inDatabase { _ in } }
    for other in others { #expect(try other.effectiveSettings.synchronous == .full) }
  }

  @Test(
    "A pool's scope that commits nothing blocks no read, nested or on another thread",
    arguments: [
      "UPDATE city SET area = 1 WHERE name = 'Atlantis'", "CREATE TEMP TABLE draft (id)",
      "BEGIN IMMEDIATE; COMMIT",
    ] as [SQL])
  func commitsNothing(sql: SQL) throws {
    let pool = try open(isPool: true)
    try pool.inDatabase { db in
      try db.executeStatements(sql)
      #expect(try pool.read { try $0.cityCount() } == 4)
      let reader = Caller { _ = try pool.read { try $0.cityCount() } }
      try reader.join()
    }
  }

  @Test("An INSERT with RETURNING that is reset after its first row is committed and synced")
  func reset() throws {
    let queue = try open()
    let before = queue.statistics.syncs
    try queue.inDatabase { db in
      let insert = try db.prepare("INSERT INTO city (name) VALUES ('Bodø') RETURNING id")
      #expect(try insert.step())
      try insert.reset()
    }
    #expect(try queue.read { try $0.cityCount() } == 5)
    #expect(queue.statistics.syncs > before)
  }

  @Test("`restore` on a durable queue is synced")
  func restoration() throws {
    let source = try Database()
    try createCities(in: source)
    try source.backup(to: folder.file("source.db"))
    let queue = try open()
    let before = queue.statistics.syncs
    let path = folder.file("source.db")
    try queue.inDatabase { try $0.restore(from: path) }
    #expect(queue.statistics.syncs > before)
  }

  @Test("Journal mode DELETE gets synchronous EXTRA, and WAL again gets shared syncs")
  func journalMode() throws {
    let queue = try open()
    try queue.inDatabase { db in
      try db.executeUpdate("PRAGMA synchronous = FULL")
      try db.executeUpdate("PRAGMA journal_mode = DELETE")
    }
    var settings = try Self.settings(queue)
    #expect(settings.journalMode == "delete")
    // Only synchronous EXTRA syncs the journal's deletion.
    #expect(settings.synchronous == .extra)
    #expect(!settings.groupCommit)
    try queue.inDatabase { _ = try $0.executeUpdate("PRAGMA journal_mode = WAL") }
    settings = try Self.settings(queue)
    #expect(settings.journalMode == "wal")
    #expect(settings.synchronous == .full)
    #expect(settings.groupCommit)
  }

  @Test(
    "A change of the journal mode that the authorizer refuses leaves synchronous and sharing unchanged"
  )
  func refusedJournalMode() throws {
    let queue = try open()
    try queue.inDatabase { db in
      let statement = try db.prepare("PRAGMA journal_mode = DELETE")
      db.authorizer = .dataOnly
      #expect(throws: DatabaseError.self) { try statement.step() }
      let before = queue.statistics.syncs
      try db.executeUpdate("UPDATE city SET area = 1")
      db.authorizer = nil
      let settings = try db.effectiveSettings
      #expect(settings.synchronous == .full)
      #expect(queue.statistics.syncs == before)
    }
    #expect(try Self.settings(queue).groupCommit)
  }
}
