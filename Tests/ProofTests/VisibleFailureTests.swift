import CFaultInjection
import Foundation
import LarderSQLite
import TestSupport
import Testing

/// Tests that an operator finds each failure in the statistics and the log: a disk's, a file's, a reader's.
extension DurableOutcomeTests {
  /// Opens a database whose log is recorded.
  private func open(
    isPool: Bool = true, _ errors: Recorder<DatabaseError>,
    configure: (inout Configuration) -> Void = { _ in }
  ) throws -> any DatabaseAccess {
    try open(isPool: isPool) { configuration in
      configuration.log = { errors.add($0) }
      configuration.scopeTimeout = .seconds(5)
      configure(&configuration)
    }
  }

  /// Waits for a condition, at most a second.
  private func seen(_ condition: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(1)
    while !condition() {
      guard ContinuousClock.now < deadline else { return false }
      usleep(500)
    }
    return true
  }

  @Test("While all is well, the statistics show no failure and the log gets nothing")
  func nothingFails() throws {
    let errors = Recorder<DatabaseError>()
    let access = try open(errors)
    defer { close(access) }
    for number in 0..<50 { insert("city \(number)", access) }
    #expect(callers.end())
    try access.read { _ = try $0.value("SELECT count(*) FROM city", as: Int.self) }
    try access.checkpoint(.full)
    let statistics = access.statistics
    #expect(statistics.error == nil && statistics.pinned == nil && statistics.writer == nil)
    #expect(statistics.failures == 0 && statistics.refusals == 0)
    #expect(statistics.sync.running == nil && statistics.checkpoint.running == nil)
    #expect(statistics.pendingFrames == 0 && statistics.copies.isEmpty)
    #expect(statistics.checkpoint.count > 0 && statistics.checkpoint.age != nil)
    #expect(statistics.sync.count == statistics.syncs && statistics.sync.total > .zero)
    #expect(statistics.commit.count >= 50 && statistics.syncWait.count > 0)
    #expect(seen { access.statistics.freeBytes ?? 0 > 0 })
    try access.read { _ in }
    #expect(access.statistics.bytes > 0)
    #expect(errors.elements.isEmpty)
    #expect(access.isReady(within: .seconds(5)) && access.isWritable(within: .seconds(5)))
  }

  @Test("A slow sync is seen by its time, while it runs and afterwards, and by what callers wait")
  func slowSync() throws {
    let access = try open(Recorder())
    defer { close(access) }
    durability_begin(300_000, 0)
    insert("Bergen", access)
    #expect(seen { access.statistics.sync.running ?? .zero > .milliseconds(100) })
    #expect(seen { access.statistics.sync.duration > .milliseconds(290) })
    #expect(callers.end())
    let statistics = access.statistics
    #expect(statistics.sync.longest > .milliseconds(290) && statistics.sync.running == nil)
    #expect(statistics.syncWait.longest > .milliseconds(290))
  }

  @Test("A slow sync of a database with synchronous NORMAL is seen in its checkpoints")
  func slowCheckpoint() throws {
    let access = try open(Recorder()) { $0.synchronous = .normal }
    defer { close(access) }
    insert("Bergen", access)
    #expect(callers.end())
    durability_begin(300_000, 0)
    callers.start("checkpoint") { try access.checkpoint(.full) }
    #expect(seen { access.statistics.checkpoint.running ?? .zero > .milliseconds(100) })
    #expect(callers.end())
    #expect(access.statistics.checkpoint.longest > .milliseconds(290))
  }

  @Test("A sync that hangs is seen while it does; health checks end in time, and recover with it")
  func hangingSync() async throws {
    let errors = Recorder<DatabaseError>()
    let access = try open(errors) { $0.scopeTimeout = .milliseconds(300) }
    defer { close(access) }
    durability_hold_syncs(1)
    insert("Bergen", access)
    #expect(wait { durability_held_syncs() > 0 })
    #expect(seen { access.statistics.sync.running ?? .zero > .milliseconds(50) })
    let start = ContinuousClock.now
    let answers = [
      onThisThread { access.isReady(within: .milliseconds(100)) },
      onThisThread { access.isWritable(within: .milliseconds(100)) },
      await access.isReady(within: .milliseconds(100)),
      await access.isWritable(within: .milliseconds(100)),
    ]
    #expect(answers == [false, false, false, false])
    #expect(ContinuousClock.now - start < .seconds(2))
    // The caller's time is up: it throws, and the log is told for whom and where.
    #expect(wait { callers.find("Bergen") != nil })
    #expect(callers.find("Bergen")?.code == .ioErrorFsync)
    #expect(seen { errors.elements.count == 1 })
    #expect(errors.elements.first?.label == "insert(_:_:)")
    #expect(errors.elements.first?.path == folder.file("cities.db"))
    durability_hold_syncs(0)
    #expect(callers.end())
    #expect(wait { access.isReady(within: .seconds(1)) && access.isWritable(within: .seconds(1)) })
  }

  @Test("A failed sync stays in the statistics, and the log gets one line for all that throw it")
  func failedSync() throws {
    let errors = Recorder<DatabaseError>()
    let access = try open(errors)
    defer { close(access) }
    durability_begin(0, 1)
    insert("Bergen", access)
    #expect(callers.end())
    for _ in 0..<1_000 { #expect(throws: DatabaseError.self) { try Self.write(access) } }
    #expect(access.statistics.error?.extendedCode == .ioErrorFsync)
    #expect(access.statistics.failures == 1_001)
    #expect(!access.isWritable(within: .seconds(1)) && !access.isReady(within: .seconds(1)))
    let lines = errors.elements
    #expect(lines.count == 2, "\(lines)")
    #expect(lines.map(\.label) == ["insert(_:_:)", "write(_:)"])
    #expect(lines.allSatisfy { $0.extendedCode == .ioErrorFsync && $0.path != nil })
  }

  private static func write(_ access: any DatabaseAccess) throws {
    _ = try access.inTransaction { try $0.executeUpdate("UPDATE city SET name = name") }
  }

  @Test(
    "A file that was moved, or whose log was, is seen by the next write, and a removed one without it",
    arguments: [("", true), ("-wal", true), ("", false)])
  func movedFile(suffix: String, writes: Bool) throws {
    let errors = Recorder<DatabaseError>()
    let access = try open(errors) { $0.vfs = nil }
    defer { close(access) }
    let path = folder.file("cities.db")
    if writes {
      #expect(rename(path + suffix, path + "-moved") == 0)
      #expect(throws: DatabaseError.self) { try Self.write(access) }
      let line = errors.elements.first
      #expect(line?.extendedCode == .readOnlyMoved && line?.label == "write(_:)")
      #expect(line?.path == path)
    } else {
      // Nobody writes: the file is watched, from a second or two after it was opened.
      #expect(unlink(path + suffix) == 0)
    }
    #expect(wait { access.statistics.error?.extendedCode == .readOnlyMoved })
  }

  @Test("A reader of another process that keeps the log from being moved is seen, with its number")
  func foreignReader() throws {
    let access = try open(Recorder()) { $0.vfs = nil }
    defer { close(access) }
    let shell = try ChildProcess("sqlite3", [folder.file("cities.db")])
    shell.say("BEGIN; SELECT count(*) FROM city;")
    #expect(shell.line() == "1")
    for _ in 0..<20 { try Self.write(access) }
    try access.checkpoint(.passive)
    #expect(access.statistics.pendingFrames > 0)
    #expect(
      seen { access.statistics.pinned?.label == "process \(shell.identifier) (sqlite3)" },
      "\(String(describing: access.statistics.pinned))")
    shell.say("COMMIT;")
    shell.say(".quit")
    _ = shell.end()
    try access.checkpoint(.passive)
    #expect(access.statistics.pinned == nil && access.statistics.pendingFrames == 0)
  }

  @Test("A read that keeps the log from being moved is seen with its label and age")
  func ownReader() throws {
    let access = try open(Recorder())
    defer { close(access) }
    try access.read(label: "report") { db in
      _ = try db.value("SELECT count(*) FROM city", as: Int.self)
      let group = DispatchGroup()
      DispatchQueue.global().async(group: group) {
        for _ in 0..<20 { try? Self.write(access) }
        _ = try? access.checkpoint(.passive)
      }
      group.wait()
      let pinned = access.statistics.pinned
      #expect(pinned?.label.hasPrefix("the read “report” (line ") == true, "\(pinned as Any)")
      #expect(pinned?.duration ?? .zero > .zero)
    }
    try access.checkpoint(.passive)
    #expect(access.statistics.pinned == nil)
  }

  @Test(
    "A long writer is seen with its label and age while others wait for it",
    arguments: [false, true])
  func longWriter(isPool: Bool) throws {
    let errors = Recorder<DatabaseError>()
    let access = try open(isPool: isPool, errors) { $0.scopeTimeout = .milliseconds(200) }
    defer { close(access) }
    let letGo = DispatchSemaphore(value: 0)
    callers.start("long") {
      try access.inTransaction(label: "nightly import") { _ in letGo.wait() }
    }
    #expect(wait { access.statistics.writer != nil })
    insert("Bergen", access)
    #expect(seen { access.statistics.waiting == 1 })
    #expect(access.statistics.writer?.label == "nightly import")
    #expect(seen { access.statistics.writer?.duration ?? .zero > .milliseconds(50) })
    #expect(wait { callers.find("Bergen") != nil })
    #expect(access.statistics.refusals == 1 && errors.elements.count == 1)
    #expect(errors.elements.first?.label == "insert(_:_:)")
    #expect(errors.elements.first?.message.contains("nightly import") == true)
    letGo.signal()
    #expect(callers.end())
    #expect(access.statistics.writer == nil)
  }

  @Test("A full disk is one line in the log, however many calls it makes fail")
  func fullDisk() throws {
    let errors = Recorder<DatabaseError>()
    let access = try open(errors) { configuration in
      configuration.prepareDatabase = { try $0.executeStatements("PRAGMA max_page_count = 10") }
    }
    defer { close(access) }
    for number in 0..<500 {
      #expect(throws: DatabaseError.self) {
        try access.inTransaction(label: "import") {
          try $0.executeUpdate("INSERT INTO city VALUES (zeroblob(100000 + ?))", number)
        }
      }
    }
    let lines = errors.elements
    #expect(lines.count == 1 && lines.first?.code == .full, "\(lines)")
    #expect(lines.first?.label == "import" && lines.first?.path == folder.file("cities.db"))
    #expect(access.statistics.failures == 500)
  }
}

/// Calls a synchronous closure, in which calls that have both variants use the synchronous one.
private func onThisThread<T>(_ body: () throws -> T) rethrows -> T { try body() }
