@testable import LarderBackup
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import LarderSQLite

@Suite("Continuous backups beside other work", .promptly)
struct ContinuousBackupCompanyTests {
  private let folder: ScratchFolder
  private var copies: String { folder.file("copies") }

  init() throws { folder = try ScratchFolder() }

  private func payingPool() throws -> DatabasePool {
    let pool = try DatabasePool(path: folder.file("payments.db"), configuration: .patient)
    try pool.inTransaction { try Payments.createTables($0) }
    return pool
  }

  /// Expects a copy to be intact and to hold no half transaction. Returns its number of payments.
  @discardableResult
  private func check(_ path: String) throws -> Int {
    var configuration = Configuration()
    configuration.readOnly = true
    let db = try Database(path: path, configuration: configuration)
    #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
    #expect(try Payments.halfCount(db) == 0)
    return try Payments.kept(db, from: 0).count
  }

  private var drafts: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: copies)
        .filter { $0.hasPrefix(".") && !$0.hasPrefix(".larder-owner-") }
    }
  }

  @Test(
    "Each continuous backup beside a constant writer is a committed state",
    arguments: [true, false])
  func besideWriter(isPool: Bool) async throws {
    var configuration = Configuration.patient
    configuration.synchronous = .off
    let path = folder.file("payments.db")
    let access: any DatabaseAccess =
      isPool
      ? try DatabasePool(path: path, configuration: configuration)
      : try DatabaseQueue(path: path, configuration: configuration)
    try await access.inTransaction { try Payments.createTables($0) }
    let payments = Payments(from: 1)
    let isDone = Lock(false)
    let writer = Caller {
      while !isDone.withLock({ $0 }) {
        try access.inTransaction { db in
          for _ in 0..<20 { try Payments.insert(db, payments.take()) }
        }
      }
    }
    let backup = try access.backup(every: .milliseconds(1), to: copies, keeping: 50)
    try await yieldUntil { try backup.points.count >= 12 }
    isDone.withLock { $0 = true }
    try await writer.end()
    backup.cancel()
    let counts = try backup.points.map { try check($0.path) }
    #expect(counts == counts.sorted())
    #expect(counts.allSatisfy { $0 % 20 == 0 })
    #expect(Set(counts).count > 5)
    #expect(backup.statistics.failures == 0)
  }

  @Test("Closing the pool ends its continuous backup, and removes the WAL file")
  func closed() async throws {
    let pool = try payingPool()
    let backup = try pool.backup(every: .milliseconds(1), to: copies)
    try await yieldUntil { try backup.points.count == 1 }
    try await pool.close()
    #expect(!folder.exists("payments.db-wal"))
    let error = #expect(throws: DatabaseError.self) { try Self.copy(backup) }
    #expect(error?.code == .misuse)
    backup.cancel()
    #expect(try drafts == [])
  }

  /// Calls the synchronous overload of `backup`, also from an asynchronous test.
  private static func copy(_ backup: ContinuousBackup) throws { try backup.backup() }

  @Test("A continuous backup goes on when closing the pool has failed")
  func notClosed() async throws {
    var configuration = Configuration()
    configuration.scopeTimeout = .milliseconds(50)
    let pool = try DatabasePool(path: folder.file("payments.db"), configuration: configuration)
    try await pool.inTransaction { try Payments.createTables($0) }
    let backup = try pool.backup(every: .milliseconds(1), to: copies)
    try await yieldUntil { try backup.points.count == 1 }
    let holder = try Holder(pool)
    #expect(throws: DatabaseError.self) { try pool.close() }
    try holder.release()
    try await pool.inTransaction { try Payments.insert($0, 1) }
    try await yieldUntil { try backup.points.last.map { try check($0.path) } == 1 }
    backup.cancel()
  }

  @Test("A continuous backup that isn't retained goes on until its pool is released")
  func unheld() async throws {
    try await {
      let pool = try payingPool()
      _ = try pool.backup(every: .milliseconds(1), to: copies)
      try await yieldUntil { try ContinuousBackup.points(in: copies).count == 1 }
      try await pool.inTransaction { try Payments.insert($0, 1) }
      try await yieldUntil { try ContinuousBackup.points(in: copies).count >= 2 }
    }()
    try await yieldUntil { try drafts == [] }
  }

  @Test("`cancel`, or cancelling the task of `backup`, abandons the copy that is being made")
  func stopped() async throws {
    let (isHeld, isReached) = (Lock(false), Lock(false))
    var configuration = Configuration.patient
    configuration.prepareDatabase = { db in
      guard db.path?.contains("/copies/") == true, isHeld.withLock({ $0 }) else { return }
      // The copy is about to be checked.
      isReached.withLock { $0 = true }
      try waitUntil { !isHeld.withLock { $0 } }
    }
    let pool = try DatabasePool(path: folder.file("payments.db"), configuration: configuration)
    try await pool.inTransaction { try Payments.createTables($0) }
    let backup = try pool.backup(every: .seconds(3600), to: copies)
    let first = try await backup.backup()
    func commitAndHold(_ id: Int) async throws {
      isReached.withLock { $0 = false }
      isHeld.withLock { $0 = true }
      try await pool.inTransaction { try Payments.insert($0, id) }
    }
    try await commitAndHold(1)
    let task = Task { try await backup.backup() }
    try await yieldUntil { isReached.withLock { $0 } }
    task.cancel()
    isHeld.withLock { $0 = false }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try backup.points == [first])
    try await commitAndHold(2)
    let other = Caller { try backup.backup() }
    try await yieldUntil { isReached.withLock { $0 } }
    let stopper = Caller { backup.cancel() }
    try await yieldUntil { backup.worker.isBarred }
    isHeld.withLock { $0 = false }
    try await stopper.end()
    #expect((try await other.failureAtEnd() as? DatabaseError)?.code == .misuse)
    #expect(try backup.points == [first])
    #expect(try drafts == [])
    backup.cancel()
    #expect(throws: DatabaseError.self) { try Self.copy(backup) }
  }

  // MARK: Failures

  @Test("A missing backup folder is reported and not created, and is used again when it is back")
  func folderGone() async throws {
    let pool = try payingPool()
    let told = Recorder<String>()
    let backup = try pool.backup(every: .milliseconds(1), to: copies, keeping: 5) { error in
      told.add("\(error)")
    }
    try await yieldUntil { try backup.points.count == 1 }
    try FileManager.default.moveItem(atPath: copies, toPath: folder.file("elsewhere"))
    try await pool.inTransaction { try Payments.insert($0, 1) }
    try await yieldUntil { told.elements.count > 2 }
    #expect(!folder.exists("copies"))
    #expect((backup.statistics.error as? DatabaseError)?.code == .cannotOpen)
    try FileManager.default.createDirectory(atPath: copies, withIntermediateDirectories: true)
    try await yieldUntil { try backup.points.count == 1 }
    try await yieldUntil { backup.statistics.error == nil }
    #expect(backup.statistics.failures >= 3)
    backup.cancel()
  }

  /// Whether this process may mount disks.
  private static var canMount: Bool {
    guard let folder = try? ScratchFolder() else { return false }
    defer { folder.remove() }
    return mountSmallDisk(at: folder.path) && umount2(folder.path, Int32(MNT_DETACH)) == 0
  }

  /// Mounts an in-memory disk of half a megabyte. Returns false without the permission to mount.
  private static func mountSmallDisk(at path: String) -> Bool {
    mount("tmpfs", path, "tmpfs", 0, "size=\(512 << 10)") == 0
  }

  @Test(
    "A full disk is reported, keeps the earlier backup points, and is retried",
    .enabled(if: canMount, "this process may not mount a disk"))
  func fullDisk() async throws {
    try FileManager.default.createDirectory(atPath: copies, withIntermediateDirectories: true)
    try #require(Self.mountSmallDisk(at: copies))
    defer { umount2(copies, Int32(MNT_DETACH)) }
    let pool = try payingPool()
    let backup = try pool.backup(every: .milliseconds(1), to: copies, keeping: 2)
    try await yieldUntil { try backup.points.count == 1 }
    try Data(count: 440 << 10).write(to: URL(fileURLWithPath: copies + "/ballast"))
    try await pool.inTransaction { db in for id in 1...3000 { try Payments.insert(db, id) } }
    try await yieldUntil { backup.statistics.failures > 2 }
    #expect((backup.statistics.error as? DatabaseError)?.code == .full)
    #expect(try backup.points.map { try check($0.path) } == [0])
    unlink(copies + "/ballast")
    try await yieldUntil { try backup.points.count == 2 }
    #expect(try backup.points.map { try check($0.path) } == [0, 3000])
    try await yieldUntil { backup.statistics.error == nil }
    backup.cancel()
    #expect(try drafts == [])
  }

  @Test("A continuous backup's error callback may call `backup` and `cancel` on it")
  func calledBack() async throws {
    let pool = try payingPool()
    let backup = Lock<ContinuousBackup?>(nil)
    let outcome = Lock<String?>(nil)
    let begun = try pool.backup(every: .milliseconds(1), to: copies) { _ in
      let text = Result { try backup.withLock { $0 }?.backup() }
      outcome.withLock { $0 = "\(text)" }
      backup.withLock { $0 }?.cancel()
    }
    backup.withLock { $0 = begun }
    try await yieldUntil { try begun.points.count == 1 }
    try FileManager.default.moveItem(atPath: copies, toPath: folder.file("elsewhere"))
    try await pool.inTransaction { try Payments.insert($0, 1) }
    try await yieldUntil { outcome.withLock { $0 != nil } }
    #expect(outcome.withLock { $0 }?.hasPrefix("failure") == true)
    backup.withLock { $0 = nil }
  }

  // MARK: Several backups and processes

  @Test(
    "Two continuous backups of one database share its points; another with its name has its own")
  func twoInOneFolder() async throws {
    let (one, other) = (try payingPool(), try payingPool())
    let backups = try [one, other].map {
      try $0.backup(every: .milliseconds(1), to: copies, keeping: 4)
    }
    for number in 1...20 {
      try await one.inTransaction { try Payments.insert($0, number) }
      _ = try await backups[number % 2].backup()
    }
    #expect(try check(#require(backups[0].points.last).path) == 20)
    #expect(backups.allSatisfy { $0.statistics.failures == 0 })
    try FileManager.default.createDirectory(
      atPath: folder.file("else"), withIntermediateDirectories: true)
    let third = try DatabaseQueue(path: folder.file("else/payments.db"))
    let own = try third.backup(every: .milliseconds(1), to: copies, keeping: 1)
    let point = try await own.backup()
    #expect(try own.points == [point])
    #expect(try check(#require(backups[0].points.last).path) == 20)
    #expect(try ContinuousBackup.points(in: copies).count == backups[0].points.count + 1)
    for backup in backups + [own] { backup.cancel() }
  }

  @Test(
    "A killed process leaves only complete backup points, and the next start removes its drafts")
  func killed() throws {
    var acknowledged: [String] = []
    var leftovers = 0
    for kill in 0..<12 {
      let process = try ChildProcess.role("copies", folder.file("payments.db"), copies)
      for _ in 0...(kill % 3) {
        acknowledged.append(try #require(process.line()))
      }
      let end = ContinuousClock.now + .microseconds(kill * 1717 % 9000)
      while ContinuousClock.now < end, let line = process.line(before: end) {
        acknowledged.append(line)
      }
      process.kill()
      acknowledged += process.remainingLines()
      leftovers += try drafts.count
      let points = try ContinuousBackup.points(in: copies)
      #expect((1...6).contains(points.count))
      let counts = try points.map { try check($0.path) }
      #expect(counts == counts.sorted())
      #expect(try points.map(\.path).contains(#require(acknowledged.last)))
    }
    #expect(leftovers > 12)
    let pool = try payingPool()
    let backup = try pool.backup(every: .seconds(3600), to: copies, keeping: 5)
    let point = try backup.backup()
    let count = try pool.read { try Payments.kept($0, from: 0).count }
    #expect(try check(point.path) == count)
    backup.cancel()
    #expect(try drafts == [])
    #expect(try ContinuousBackup.points(in: copies).count == 5)
  }
}
