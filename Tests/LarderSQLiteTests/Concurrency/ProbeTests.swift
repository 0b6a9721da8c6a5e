import Dispatch
import LarderSQLite
import TestSupport
import Testing

@Suite("Health checks of a queue or pool", .promptly)
struct ProbeTests {
  private func open(isPool: Bool, in folder: ScratchFolder) throws -> any DatabaseAccess {
    let path = folder.file("cities.db")
    var configuration = Configuration.patient
    configuration.maximumReaders = 1
    let access: any DatabaseAccess =
      isPool
      ? try DatabasePool(path: path, configuration: configuration)
      : try DatabaseQueue(path: path, configuration: configuration)
    try access.inTransaction { try createCities(in: $0) }
    return access
  }

  @Test(
    "A database that works is ready and writable, and neither changes it", arguments: [false, true])
  func works(isPool: Bool) async throws {
    let folder = try ScratchFolder()
    let access = try open(isPool: isPool, in: folder)
    let frames = access.statistics.logFrames
    #expect(onThisThread { access.isReady(within: .seconds(60)) })
    #expect(onThisThread { access.isWritable(within: .seconds(60)) })
    #expect(await access.isReady(within: .seconds(60)))
    #expect(await access.isWritable(within: .seconds(60)))
    #expect(access.statistics.logFrames == frames)
    let memory = try DatabaseQueue()
    #expect(await memory.isReady(within: .seconds(60)))
    #expect(await memory.isWritable(within: .seconds(60)))
  }

  @Test(
    "A check ends in time while the writer is held, and leaves its place in the line",
    arguments: [false, true])
  func busyWriter(isPool: Bool) async throws {
    let folder = try ScratchFolder()
    let access = try open(isPool: isPool, in: folder)
    let holder = try Holder(access)
    for _ in 0..<5 {
      #expect(onThisThread { access.isWritable(within: .milliseconds(20)) } == false)
      #expect(await access.isWritable(within: .milliseconds(20)) == false)
    }
    // A pool reads beside the writer.
    #expect(await access.isReady(within: isPool ? .seconds(60) : .milliseconds(20)) == isPool)
    // Of ten checks none waits any more. The database's own look for its file may wait for the writer meanwhile.
    try await yieldUntil { access.statistics.waiting <= 1 }
    try holder.release()
    try await yieldUntil { onThisThread { access.isWritable(within: .seconds(60)) } }
  }

  @Test("A database that only reads is ready, not writable; one that is closed is neither")
  func others() async throws {
    let folder = try ScratchFolder()
    let access = try open(isPool: true, in: folder)
    try onThisThread { try access.close() }
    #expect(await access.isReady(within: .seconds(60)) == false)
    #expect(await access.isWritable(within: .seconds(60)) == false)
    var configuration = Configuration()
    configuration.readOnly = true
    let reading = try DatabaseQueue(path: folder.file("cities.db"), configuration: configuration)
    #expect(await reading.isReady(within: .seconds(60)))
    #expect(await reading.isWritable(within: .seconds(60)) == false)
  }

  @Test("While another process holds SQLite's lock, a database is ready and not writable")
  func foreignWriter() async throws {
    let folder = try ScratchFolder()
    let access = try open(isPool: true, in: folder)
    let other = try Database(path: folder.file("cities.db"))
    try other.begin()
    #expect(await access.isReady(within: .seconds(60)))
    #expect(await access.isWritable(within: .milliseconds(50)) == false)
    try other.rollback()
    try await yieldUntil { onThisThread { access.isWritable(within: .seconds(60)) } }
    try other.close()
  }
}
