import Dispatch
import Foundation
import TestSupport
import Testing

@testable import LarderSQLite

@Suite("Backups in company", .promptly)
struct BackupCompanyTests {
  private struct Doubt: Error {}

  private let folder: ScratchFolder
  private let pool: DatabasePool

  init() throws {
    folder = try ScratchFolder()
    pool = try DatabasePool(path: folder.file("cities.db"))
    try pool.inTransaction { db in
      try createCities(in: db)
      try db.executeUpdate(
        """
        WITH RECURSIVE n(i) AS (SELECT 5 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
        INSERT INTO city (id, name) SELECT i, 'City number ' || i FROM n
        """)
    }
  }

  private var files: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
  }

  /// Commits without pause until it is told to stop.
  private func writer() -> (stop: () throws -> Void, count: Lock<Int>) {
    let count = Lock(0)
    let isDone = Lock(false)
    let pool = pool
    let caller = Caller {
      while !isDone.withLock({ $0 }) {
        try pool.inTransaction { db in
          try db.executeUpdate("UPDATE city SET population = ifnull(population, 0) + 1")
        }
        count.withLock { $0 += 1 }
      }
    }
    return (
      {
        isDone.withLock { $0 = true }
        try caller.join()
      }, count
    )
  }

  @Test(
    "One beside a writer that never pauses ends, and never begins anew", arguments: [true, false])
  func besideWriter(isScope: Bool) throws {
    let (stop, count) = writer()
    defer { try? stop() }
    var remaining: [Int] = []
    func backup(_ db: Database) throws {
      try db.backup(to: folder.file("copy.db"), pagesPerStep: 4) { left, _ in
        remaining.append(left)
        // Somebody commits between any two steps.
        let before = count.withLock { $0 }
        if remaining.count < 8 { try waitUntil { count.withLock { $0 } > before } }
      }
    }
    if isScope {
      try pool.read(backup)
    } else {
      try backup(try Database(path: folder.file("cities.db")))
    }
    #expect(remaining.count > 8)
    #expect(remaining == remaining.sorted(by: >))
    let copy = try Database(path: folder.file("copy.db"))
    #expect(try copy.value("PRAGMA integrity_check", as: String.self) == "ok")
    #expect(try copy.cityCount() == 3000)
  }

  @Test("One whose task is cancelled ends between two steps, and leaves nothing")
  func cancelled() async throws {
    let (pool, path) = (pool, folder.file("copy.db"))
    let before = try files
    let hasBegun = DispatchSemaphore(value: 0)
    let isCancelled = DispatchSemaphore(value: 0)
    let steps = Lock(0)
    let task = Task {
      try await pool.read { db in
        try db.backup(to: path, pagesPerStep: 4) { _, _ in
          if steps.withLock({
            $0 += 1
            return $0
          }) == 2 {
            hasBegun.signal()
            isCancelled.wait()
          }
        }
      }
    }
    try await yieldUntil { hasBegun.wait(timeout: .now()) == .success }
    task.cancel()
    isCancelled.signal()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(steps.withLock { $0 } == 2)
    #expect(try files == before)
  }

  @Test("One that waits for a lock ends when its task is cancelled, and harms nothing")
  func cancelledInWait() async throws {
    let holder = try Database(path: folder.file("rivers.db"))
    try holder.executeUpdate("PRAGMA journal_mode = delete")
    try holder.executeUpdate("CREATE TABLE river (name TEXT)")
    try holder.begin(.exclusive)
    let (pool, path) = (pool, folder.file("rivers.db"))
    let hasBegun = DispatchSemaphore(value: 0)
    let task = Task {
      try await pool.read { db in
        db.busyTimeout = .seconds(watchdogSeconds)
        hasBegun.signal()
        try db.backup(to: path)
      }
    }
    try await yieldUntil { hasBegun.wait(timeout: .now()) == .success }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try holder.rollback()
    #expect(try holder.tableExists("river"))
  }

  @Test("An interrupt ends one between two steps")
  func interrupted() throws {
    let before = try files
    let error = #expect(throws: DatabaseError.self) {
      try pool.read { db in
        try db.backup(to: folder.file("copy.db"), pagesPerStep: 4) { _, _ in db.interrupt() }
      }
    }
    #expect(error?.code == .interrupt)
    #expect(try files == before)
  }

  @Test("One that fails doesn't remove what another one has made at the same path meanwhile")
  func samePath() throws {
    let path = folder.file("copy.db")
    let (pool, second) = (pool, try Database(path: folder.file("cities.db")))
    #expect(throws: Doubt.self) {
      try pool.read { db in
        try db.backup(to: path, pagesPerStep: 4) { _, _ in
          try second.backup(to: path)
          throw Doubt()
        }
      }
    }
    #expect(try Database(path: path).cityCount() == 3000)
  }

  @Test("Of two to the same new path the last one that ends is there as a whole")
  func bothSucceed() throws {
    let path = folder.file("copy.db")
    let second = try makeCities()
    var isFirst = true
    var user: Database?
    try pool.read { db in
      try db.backup(to: path, pagesPerStep: 4) { _, _ in
        guard isFirst else { return }
        isFirst = false
        try second.backup(to: path)
        user = try Database(path: path)
      }
    }
    // Whoever has opened the file meanwhile sees the second as a transaction.
    #expect(try user?.cityCount() == 3000)
    try user?.close()
    #expect(try files.filter { $0.hasPrefix("copy") } == ["copy.db"])
  }

  @Test(
    "A link that leads nowhere stays one where it fails, and leads to the copy where it doesn't")
  func danglingLink() throws {
    let link = folder.file("link.db")
    let target = folder.file("target.db")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "target.db")
    #expect(throws: Doubt.self) {
      try pool.read { try $0.backup(to: link) { _, _ in throw Doubt() } }
    }
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "target.db")
    #expect(!folder.exists("target.db"))
    try pool.read { try $0.backup(to: link, pagesPerStep: 0) }
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "target.db")
    #expect(try Database(path: target).cityCount() == 3000)
    #expect(try folder.mode(of: "target.db") == 0o600)
  }

  @Test("An error names the file that was asked for")
  func missingFolder() throws {
    let path = folder.file("nowhere/copy.db")
    let error = #expect(throws: DatabaseError.self) { try pool.read { try $0.backup(to: path) } }
    #expect(error?.code == .cannotOpen)
    #expect(error?.message.contains(path + " ") == true)
  }
}

@Suite("Restoring pages of another size", .promptly)
struct PageSizeTests {
  private let folder: ScratchFolder

  init() throws {
    folder = try ScratchFolder()
    let other = try Database()
    try other.executeUpdate("PRAGMA page_size = 16384")
    try createCities(in: other)
    try other.executeUpdate("DELETE FROM city WHERE id > 1")
    try other.backup(to: folder.file("large.db"))
  }

  @Test(
    "The write-ahead log is there again afterwards, whoever is idle beside it",
    arguments: Company.files)
  func restored(company: Company) async throws {
    let access = try company.open(in: folder)
    let backup = try access.backup(every: .seconds(3600), to: folder.file("copies"))
    _ = try await backup.backupNow()
    // An idle reader, and what a checkpoint has open.
    #expect(try await access.read { try $0.cityCount() } == 4)
    _ = try access.checkpoint(.full)
    let path = folder.file("large.db")
    if company.isAsynchronous {
      try await access.inDatabase { try $0.restore(from: path) }
    } else {
      try onThisThread { try access.inDatabase { try $0.restore(from: path) } }
    }
    #expect(try await access.read { try $0.cityCount() } == 1)
    let settings = try await access.inDatabase { try $0.effectiveSettings }
    #expect(settings.journalMode == "wal")
    #expect(settings.groupCommit == company.sharesSyncs)
    try await access.inTransaction { try $0.executeUpdate("INSERT INTO city (name) VALUES ('x')") }
    #expect(try await access.read { try $0.cityCount() } == 2)
    #expect(try await backup.backupNow().bytes > 0)
    try await access.close()
    let db = try Database(path: folder.file("cities.db"))
    #expect(try db.value("PRAGMA page_size", as: Int.self) == 16384)
    #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
  }

  @Test("Where another connection has the file open, it is refused, and everything stays")
  func refused() throws {
    var configuration = Configuration()
    configuration.busyTimeout = .milliseconds(20)
    let pool = try DatabasePool(path: folder.file("cities.db"), configuration: configuration)
    try pool.inTransaction { try createCities(in: $0) }
    let other = try Database(path: folder.file("cities.db"))
    #expect(try other.cityCount() == 4)
    let path = folder.file("large.db")
    let error = #expect(throws: DatabaseError.self) {
      try pool.inDatabase { try $0.restore(from: path) }
    }
    #expect(error?.isBusy == true)
    #expect(try pool.read { try $0.cityCount() } == 4)
    try pool.inTransaction { try $0.executeUpdate("INSERT INTO city (name) VALUES ('x')") }
    #expect(try pool.inDatabase { try $0.effectiveSettings.journalMode } == "wal")
  }
}
