@testable import LarderBackup
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import LarderSQLite

@Suite("Backups beside other work", .promptly)
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

  /// Starts a thread that commits without pause until `stop` is called.
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
    "A backup beside a writer that never pauses finishes without restarting",
    arguments: [true, false])
  func besideWriter(isScope: Bool) throws {
    let (stop, count) = writer()
    defer { try? stop() }
    var remaining: [Int] = []
    func backup(_ db: Database) throws {
      try db.backup(to: folder.file("copy.db"), pagesPerStep: 4) { left, _ in
        remaining.append(left)
        // At least one commit happens between any two steps.
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

  @Test("A backup whose task is cancelled ends between two steps, and leaves no file")
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

  @Test(
    "A backup that waits for a lock ends when its task is cancelled, and leaves the target as it was"
  )
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

  @Test("An interrupt ends a backup between two steps, and leaves no file")
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

  @Test(
    "A backup that fails doesn't remove a file that another backup made at the same path meanwhile")
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

  @Test("Of two concurrent backups to one new path, the last to finish is there completely")
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
    // A connection that opened the file in between sees the second copy like a transaction.
    #expect(try user?.cityCount() == 3000)
    try user?.close()
    #expect(try files.filter { $0.hasPrefix("copy") } == ["copy.db"])
  }

  @Test(
    "A backup to a dangling symbolic link keeps the link, and creates its target only on success")
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

  @Test("A backup into a missing folder throws an error with the path")
  func missingFolder() throws {
    let path = folder.file("nowhere/copy.db")
    let error = #expect(throws: DatabaseError.self) { try pool.read { try $0.backup(to: path) } }
    #expect(error?.code == .cannotOpen)
    #expect(error?.message.contains(path + " ") == true)
  }
}

@Suite("Restoring a database with another page size", .promptly)
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
    "Restoring another page size beside idle readers keeps WAL mode and shared syncs",
    arguments: Company.files)
  func restored(company: Company) async throws {
    let access = try company.open(in: folder)
    let backup = try access.backup(every: .seconds(3600), to: folder.file("copies"))
    _ = try await backup.backup()
    // This leaves an idle reader and the checkpoint's connection open.
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
    #expect(try await backup.backup().bytes > 0)
    try await access.close()
    let db = try Database(path: folder.file("cities.db"))
    #expect(try db.value("PRAGMA page_size", as: Int.self) == 16384)
    #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
  }

  @Test(
    "Restoring another page size throws busy, and changes nothing, while the file is open elsewhere"
  )
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
