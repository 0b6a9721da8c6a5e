import Foundation
import TestSupport
import Testing

@testable import LarderReplication
@testable import LarderSQLite

/// A folder that holds up a segment until it is told to go on.
private final class StallingSink: LogSink {
  private let folder: FolderSink
  private let stalls = Lock(false)
  private let stalled = DispatchSemaphore(value: 0)
  private let goesOn = DispatchSemaphore(value: 0)

  init(_ folder: FolderSink) { self.folder = folder }

  func stallNextSegment() { stalls.withLock { $0 = true } }
  func goOn() { goesOn.signal() }

  func waitUntilStalled() async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { [self] in
        stalled.wait()
        continuation.resume()
      }
    }
  }

  func put(_ name: String, _ bytes: [UInt8]) throws -> Bool {
    let isHeldUp =
      name.contains("/log-")
      && stalls.withLock { stalls in
        defer { stalls = false }
        return stalls
      }
    if isHeldUp {
      stalled.signal()
      goesOn.wait()
    }
    return try folder.put(name, bytes)
  }
  func get(_ name: String) throws -> [UInt8]? { try folder.get(name) }
  func list(_ prefix: String) throws -> [LogObject] { try folder.list(prefix) }
  func remove(_ name: String) throws { try folder.remove(name) }
}

@Suite("A continuous log", .promptly)
struct ReplicatedDatabaseTests {
  private let folder: ScratchFolder
  private let sink: FolderSink

  init() throws {
    folder = try ScratchFolder()
    sink = try FolderSink(folder.file("log"))
  }

  private func open(_ name: String = "cities.db") throws -> DatabasePool {
    let pool = try DatabasePool(path: folder.file(name))
    try pool.inTransaction { db in
      if try !db.tableExists("city") { try createCities(in: db) }
    }
    return pool
  }

  private func add(_ name: String, to access: any DatabaseAccess) throws {
    try access.inTransaction { try $0.executeUpdate("INSERT INTO city (name) VALUES (\(name))") }
  }

  /// The names of the cities at a moment of the log.
  private func names(at moment: ReplicatedDatabase.Moment = .latest) throws -> [String] {
    let path = folder.file("restored-\(UUID().uuidString).db")
    try ReplicatedDatabase.restore(from: sink, to: path, at: moment)
    let db = try Database(path: path)
    return try db.fetch(String.self, "SELECT name FROM city WHERE id > 4 ORDER BY id")
  }

  @Test("Each shipped commit can be restored, by its position and by its time")
  func positions() throws {
    let pool = try open()
    let log = try pool.replicate(to: sink)
    let first = try log.ship()
    try add("Tromsø", to: pool)
    let second = try log.ship()
    try add("Hamar", to: pool)
    let third = try log.ship()
    #expect(first < second && second < third)
    #expect(try names(at: .position(first)) == [])
    #expect(try names(at: .position(second)) == ["Tromsø"])
    #expect(try names() == ["Tromsø", "Hamar"])
    let points = try ReplicatedDatabase.points(in: sink)
    #expect(points.map(\.position).suffix(3) == [first, second, third])
    let date = try #require(points.first { $0.position == second }?.date)
    #expect(try names(at: .time(date)) == ["Tromsø"])
    #expect(log.statistics.position == third)
    #expect(ReplicatedDatabase.Position(third.description) == third)
    try pool.close()
  }

  @Test("An idle database ships nothing")
  func idle() throws {
    let pool = try open()
    let log = try pool.replicate(to: sink, every: .milliseconds(1))
    let first = try log.ship()
    let objects = try sink.list("").count
    for _ in 0..<20 { #expect(try log.ship() == first) }
    #expect(try sink.list("").count == objects)
    #expect(log.statistics.segments == 0)
  }

  @Test("A page that was written often is shipped once per segment")
  func lastVersion() throws {
    let pool = try open()
    let log = try pool.replicate(to: sink, every: .seconds(60))
    try log.ship()
    for number in 0..<200 {
      try pool.inTransaction { db in
        try db.executeUpdate("UPDATE city SET population = ? WHERE id = 1", number)
      }
    }
    try log.ship()
    #expect(log.statistics.segments == 1)
    #expect(log.statistics.pages == 1)
  }

  @Test("The log goes on after an orderly end, without another whole copy")
  func nextProcess() throws {
    for number in 0..<3 {
      let pool = try open()
      let log = try pool.replicate(to: sink)
      try add("city \(number)", to: pool)
      try log.ship()
      #expect(log.statistics.bases == (number == 0 ? 1 : 0))
      #expect(log.statistics.generations == (number == 0 ? 1 : 0))
      try pool.close()
    }
    #expect(try names() == ["city 0", "city 1", "city 2"])
  }

  @Test("What another program commits in between is shipped as the pages that differ")
  func inBetween() throws {
    let pool = try open()
    try pool.replicate(to: sink).ship()
    try pool.close()
    let other = try Database(path: folder.file("cities.db"))
    try other.executeUpdate("INSERT INTO city (name) VALUES ('Narvik')")
    try other.close()
    let again = try open()
    let log = try again.replicate(to: sink)
    try log.ship()
    #expect(log.statistics.comparisons == 1)
    #expect(log.statistics.generations == 0)
    #expect(log.statistics.pages < 5)
    #expect(try names() == ["Narvik"])
  }

  @Test("Checkpoints of the pool and of others go on, and the write-ahead log begins anew")
  func checkpoints() throws {
    let pool = try open()
    let log = try pool.replicate(to: sink, every: .milliseconds(1))
    for number in 0..<20 {
      try add("city \(number)", to: pool)
      let (frames, moved) = try pool.checkpoint(.truncate)
      #expect(frames == moved)
    }
    #expect(pool.statistics.logFrames < 20)
    let other = try Database(path: folder.file("cities.db"))
    try waitUntil { (try? other.checkpoint(.truncate)) != nil }
    try add("Bodø", to: pool)
    try log.ship()
    #expect(try names().last == "Bodø")
    #expect(log.statistics.generations == 1)
  }

  @Test("A damaged object is refused, whichever byte of it is wrong")
  func damaged() throws {
    let pool = try open()
    let log = try pool.replicate(to: sink)
    try log.ship()
    try add("Tromsø", to: pool)
    try log.ship()
    let object = try #require(try sink.list("cities.db/").first { $0.name.contains("/log-") })
    let bytes = try #require(try sink.get(object.name))
    for index in stride(from: 0, to: bytes.count, by: 97) {
      var wrong = bytes
      wrong[index] ^= 4
      try sink.remove(object.name)
      _ = try sink.put(object.name, wrong)
      expectError(.corrupt) { try names() }
    }
    try sink.remove(object.name)
    _ = try sink.put(object.name, Array(bytes.prefix(bytes.count / 2)))
    expectError(.corrupt) { try names() }
    try sink.remove(object.name)
    _ = try sink.put(object.name, bytes)
    #expect(try names() == ["Tromsø"])
  }

  @Test("A missing segment is named by the next restore")
  func gap() throws {
    let pool = try open()
    let log = try pool.replicate(to: sink)
    let first = try log.ship()
    for name in ["Hamar", "Narvik", "Bodø"] {
      try add(name, to: pool)
      try log.ship()
    }
    let segments = try sink.list("cities.db/").map(\.name).filter { $0.contains("/log-") }.sorted()
    try sink.remove(segments[1])
    let error = #expect(throws: DatabaseError.self) { try names() }
    #expect(error?.message.contains("gap") == true)
    #expect(try names(at: .position(first)) == [])
    let third = ReplicatedDatabase.Position(generation: first.generation, segment: 3)
    expectError(.notFound) { try names(at: .position(third)) }
  }

  @Test("A later owner takes over, and the former one ships nothing any more")
  func takeover() throws {
    let pool = try open()
    let former = try pool.replicate(to: sink)
    try former.ship()
    let other = try DatabaseQueue(path: folder.file("cities.db"))
    let later = try other.replicate(to: sink)
    try add("Hamar", to: other)
    try later.ship()
    let error = #expect(throws: DatabaseError.self) { try former.ship(within: .seconds(20)) }
    #expect(error?.code == .readOnly)
    try add("Narvik", to: other)
    try later.ship()
    #expect(try names() == ["Hamar", "Narvik"])
  }

  @Test(
    "What a former owner puts after another one has begun isn't acknowledged, and is never read")
  func latePut() async throws {
    let pool = try open()
    let stalling = StallingSink(sink)
    let former = try pool.replicate(to: stalling, as: "cities")
    let position = try await former.ship()
    try add("Narvik", to: pool)
    stalling.stallNextSegment()
    let shipping = Task { try await former.ship() }
    await stalling.waitUntilStalled()
    // The other machine has no file at the original's path.
    try ReplicatedDatabase.restore(from: sink, to: folder.file("moved.db"))
    let moved = try DatabaseQueue(path: folder.file("moved.db"))
    try await moved.inDatabase {
      _ = try $0.executeUpdate("UPDATE larder_identity SET path = '/gone'")
    }
    let later = try moved.replicate(to: sink, as: "cities", every: .seconds(3600))
    stalling.goOn()
    await #expect(throws: DatabaseError.self) { try await shipping.value }
    #expect(former.statistics.pendingBytes > 0 || former.statistics.error != nil)
    let points = try ReplicatedDatabase.points(in: sink).map(\.position)
    #expect(points.filter { $0.generation == position.generation }.max() == position)
    try add("Hamar", to: moved)
    try await later.ship()
    #expect(try names() == ["Hamar"])
  }

  @Test("A read mark that is left over is used for the log; one that a transaction reads by isn't")
  func marks() throws {
    let pool = try open()
    let location = try #require(pool.connections.writersFile?.location)
    var unused = try UnusedMark(location, Configuration())
    var added = 0
    func withReaders(_ count: Int, _ body: () throws -> Void) throws {
      guard count > 0 else { return try body() }
      added += 1
      try add("city \(added)", to: pool)
      try Database(path: location.path).inTransaction(.deferred) { db in
        let before = try db.value("SELECT count(*) FROM city", as: Int.self)
        try withReaders(count - 1, body)
        #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == before)
      }
    }
    var isHeld = true
    try withReaders(4) { isHeld = unused.hold() }
    #expect(!isHeld)
    isHeld = unused.hold()
    #expect(isHeld)
    try withReaders(3) {}
    unused.release()
    try withReaders(3) {
      isHeld = unused.hold()
      unused.release()
    }
    #expect(isHeld)
    unused.close()
  }

  @Test("A transaction of the log returns once its commit is in the sink, also from many callers")
  func replicatedCommits() async throws {
    let pool = try open()
    let log = try pool.replicate(to: sink, every: .seconds(60))
    try await log.inTransaction { db in
      _ = try db.executeUpdate("INSERT INTO city (name) VALUES ('Hamar')")
    }
    #expect(try names() == ["Hamar"])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask { () async throws -> Void in
          let name = "city \(number)"
          try await log.inTransaction { (db: Database) -> Void in
            try db.executeUpdate("INSERT INTO city (name) VALUES (?)", name)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try names().count == 21)
    #expect(log.statistics.segments < 21)
  }

  @Test("The state before a migration can be restored by the migration's name")
  func migrations() throws {
    let pool = try open()
    let log = try pool.replicate(to: sink)
    try add("Hamar", to: pool)
    try log.ship()
    try pool.inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE larder_migration (name TEXT);
        INSERT INTO larder_migration VALUES ('remove cities');
        DELETE FROM city WHERE id > 4
        """)
    }
    try log.ship()
    #expect(try names() == [])
    #expect(try names(at: .before(migration: "remove cities")) == ["Hamar"])
    expectError(.notFound) { try names(at: .before(migration: "add cities")) }
  }

  @Test("Restoring over a database replaces its content, unless others have it open")
  func replacing() throws {
    let pool = try open()
    let log = try pool.replicate(to: sink)
    let first = try log.ship()
    try add("Hamar", to: pool)
    try log.ship()
    try pool.close()
    let path = folder.file("cities.db")
    try ReplicatedDatabase.restore(from: sink, to: path, at: .position(first))
    #expect(try Database(path: path).cityCount() == 4)
  }

  @Test("Misuse is told: twice, no log, no file, a name that can't be one, another database's log")
  func misuse() throws {
    let pool = try open()
    let log = try pool.replicate(to: sink)
    try log.ship()
    expectError(.misuse) { _ = try pool.replicate(to: sink) }
    log.cancel()
    expectError(.misuse) { try log.ship() }
    for name in ["", "a/../b", "/a", "ä", "a/owner"] {
      expectError(.misuse) { _ = try pool.replicate(to: sink, as: name) }
    }
    expectError(.misuse) { _ = try pool.replicate(to: sink, every: .zero) }
    expectError(.misuse) { _ = try DatabaseQueue().replicate(to: sink) }
    var configuration = Configuration()
    configuration.journalMode = .delete
    let journal = try DatabaseQueue(path: folder.file("journal.db"), configuration: configuration)
    expectError(.misuse) { _ = try journal.replicate(to: sink) }
    let another = try open("another.db")
    expectError(.misuse) { _ = try another.replicate(to: sink, as: "cities.db") }
    try pool.replicate(to: sink).ship()
  }

  private func expectError(
    _ code: ResultCode, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) {
    let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) { try body() }
    #expect(error?.code == code, "\(String(describing: error))", sourceLocation: sourceLocation)
  }

  private func expectError<T>(
    _ code: ResultCode, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T
  ) {
    expectError(code, sourceLocation: sourceLocation) { _ = try body() }
  }
}
