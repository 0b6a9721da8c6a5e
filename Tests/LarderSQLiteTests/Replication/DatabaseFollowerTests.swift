import Foundation
import TestSupport
import Testing

@testable import LarderReplication
@testable import LarderSQLite

@Suite("A copy that follows a log", .promptly)
struct DatabaseFollowerTests {
  private let folder: ScratchFolder
  private let sink: FolderSink
  private let pool: DatabasePool

  init() throws {
    folder = try ScratchFolder()
    sink = try FolderSink(folder.file("log"))
    pool = try DatabasePool(path: folder.file("cities.db"))
    try pool.inTransaction { try createCities(in: $0) }
  }

  private func add(_ names: [String]) throws {
    for name in names {
      try pool.inTransaction { try $0.executeUpdate("INSERT INTO city (name) VALUES (\(name))") }
    }
  }

  private func open() throws -> DatabaseFollower {
    try DatabaseFollower(of: sink, to: folder.file("copy.db"), every: .milliseconds(5))
  }

  private func names(_ db: Database) throws -> [String] {
    try db.fetch(String.self, "SELECT name FROM city WHERE id > 4 ORDER BY id")
  }

  private func check(_ copy: DatabaseFollower) throws {
    let answer = try copy.read { try $0.value("PRAGMA integrity_check", as: String.self) }
    #expect(answer == "ok")
  }

  @Test("Reads see what was committed up to a position, and later what follows")
  func following() throws {
    let log = try pool.replicate(to: sink)
    try log.ship()
    let copy = try open()
    for number in 0..<20 {
      try add(["city \(number)"])
      let position = try log.ship()
      #expect(try copy.read(notBefore: position) { try names($0).count } == number + 1)
    }
    try check(copy)
    #expect(copy.error == nil)
    let error = #expect(throws: DatabaseError.self) {
      try copy.inTransaction { try $0.executeUpdate("DELETE FROM city") }
    }
    #expect(error?.code == .readOnly)
    try copy.close()
  }

  @Test(
    "Tasks await a position without a thread; cancelling ends the wait, and a position that doesn't come is an error"
  )
  func tasks() async throws {
    let log = try pool.replicate(to: sink)
    try await log.ship()
    let copy = try open()
    for number in 0..<10 {
      try add(["city \(number)"])
      let position = try await log.ship()
      #expect(
        try await copy.read(notBefore: position) {
          try $0.value("SELECT count(*) FROM city WHERE id > 4", as: Int.self)
        } == number + 1)
    }
    let never = ReplicatedDatabase.Position(generation: "99999999-x", segment: 1)
    let waiting = Task { try await copy.read(notBefore: never) { _ in } }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    let error = await #expect(throws: DatabaseError.self) {
      try await copy.read(notBefore: never, within: .milliseconds(1)) { _ in }
    }
    #expect(error?.extendedCode == .busyTimeout)
    try onThisThread { try copy.close() }
  }

  @Test("A copy leaves what a former owner has put too late")
  func superseded() throws {
    let log = try pool.replicate(to: sink, as: "cities", every: .seconds(3600))
    let shared = try log.ship()
    let copy = try open()
    // The former owner's segment is taken away, and comes back after the next one has begun.
    try add(["Narvik"])
    let late = try log.ship()
    let object = try #require(
      try sink.list("cities/\(late.generation)/log-").first {
        $0.name.hasSuffix("c") && $0.name.contains("\(late.segment)-00000001-")
      })
    let bytes = try #require(try sink.get(object.name))
    #expect(try copy.read(notBefore: late) { try names($0) } == ["Narvik"])
    try sink.remove(object.name)
    try ReplicatedDatabase.restore(from: sink, to: folder.file("moved.db"))
    let moved = try DatabaseQueue(path: folder.file("moved.db"))
    try moved.inDatabase { _ = try $0.executeUpdate("UPDATE larder_identity SET path = '/gone'") }
    let later = try moved.replicate(to: sink, as: "cities", every: .seconds(3600))
    #expect(try sink.put(object.name, bytes))
    try moved.inTransaction { try $0.executeUpdate("INSERT INTO city (name) VALUES ('Hamar')") }
    let position = try later.ship()
    #expect(position > late)
    #expect(try copy.read(notBefore: position) { try names($0) } == ["Hamar"])
    #expect(try ReplicatedDatabase.points(in: sink).map(\.position).contains(shared))
    #expect(try !ReplicatedDatabase.points(in: sink).map(\.position).contains(late))
    try check(copy)
    try copy.close()
  }

  @Test("A read keeps its state while the copy goes on")
  func snapshots() throws {
    let log = try pool.replicate(to: sink)
    try log.ship()
    let copy = try open()
    try copy.read { db in
      #expect(try names(db) == [])
      for number in 0..<5 {
        try add(["city \(number)"])
        let position = try log.ship()
        try waitUntil { copy.position >= position }
        #expect(try names(db) == [])
      }
    }
    #expect(try copy.read { try names($0).count } == 5)
    try check(copy)
  }

  @Test("Large commits, dropped tables and VACUUM arrive, and the copy's log doesn't grow for ever")
  func contents() throws {
    let log = try pool.replicate(to: sink)
    try log.ship()
    let copy = try open()
    for number in 0..<6 {
      try pool.inTransaction { db in
        try db.executeUpdate("CREATE TABLE large (a)")
        for _ in 0..<40 { try db.executeUpdate("INSERT INTO large VALUES (randomblob(60000))") }
      }
      try log.ship()
      try pool.inTransaction { _ = try $0.executeUpdate("DROP TABLE large") }
      if number % 2 == 0 { try pool.inDatabase { _ = try $0.executeUpdate("VACUUM") } }
      try add(["city \(number)"])
      let position = try log.ship()
      #expect(try copy.read(notBefore: position) { try names($0).count } == number + 1)
      try check(copy)
    }
    let size = try FileManager.default.attributesOfItem(atPath: folder.file("copy.db-wal"))[.size]
    #expect(try #require(size as? Int) < 32 << 20)
  }

  @Test(
    "The copy goes on from its own file, also after a new generation and after segments were merged"
  )
  func again() throws {
    var log = try pool.replicate(to: sink)
    try add(["Hamar"])
    try log.ship()
    try open().close()
    try add(["Narvik"])
    var position = try log.ship()
    var copy = try open()
    #expect(try copy.read(notBefore: position) { try names($0) } == ["Hamar", "Narvik"])
    try copy.close()
    // Another generation, since the table of pages is gone.
    log.cancel()
    try FileManager.default.removeItem(atPath: folder.file("cities.db-shipped"))
    try pool.checkpoint(.truncate)
    try add(["Bodø"])
    log = try pool.replicate(to: sink)
    position = try log.ship()
    copy = try open()
    #expect(try copy.read(notBefore: position) { try names($0).last } == "Bodø")
    try check(copy)
    try copy.close()
    for number in 0..<6 {
      try add(["city \(number)"])
      position = try log.ship()
    }
    try log.keepUp(asAt: HeldLog.milliseconds + 9 * 86_400_000)
    copy = try open()
    #expect(try copy.read(notBefore: position) { try names($0).count } == 9)
    try check(copy)
  }

  @Test("A position that doesn't come is an error after the limit, and a sink without a log throws")
  func errors() throws {
    #expect(throws: DatabaseError.self) { try open() }
    let log = try pool.replicate(to: sink)
    let position = try log.ship()
    let copy = try open()
    let later = ReplicatedDatabase.Position(generation: position.generation, segment: 99)
    let error = #expect(throws: DatabaseError.self) {
      try copy.read(notBefore: later, within: .milliseconds(20)) { _ in () }
    }
    #expect(error?.extendedCode == .busyTimeout)
  }

  @Test(
    "Another machine takes over with a restored file, and the former owner ships nothing any more")
  func takingOver() throws {
    let log = try pool.replicate(to: sink)
    try add(["Hamar"])
    try log.ship()
    let copy = try open()
    let moved = folder.file("moved.db")
    try ReplicatedDatabase.restore(from: sink, to: moved)
    let other = try DatabasePool(path: moved)
    // On another machine, the original isn't at its path.
    try other.inDatabase {
      _ = try $0.executeUpdate("UPDATE larder_identity SET path = '/elsewhere'")
    }
    let next = try other.replicate(to: sink, as: "cities.db")
    try next.ship()
    // Committed on the old machine after the move: it stays there.
    try add(["Narvik"])
    let error = #expect(throws: DatabaseError.self) { try log.ship() }
    #expect(error?.code == .readOnly)
    try other.inTransaction { try $0.executeUpdate("INSERT INTO city (name) VALUES ('Bodø')") }
    let position = try next.ship()
    #expect(try copy.read(notBefore: position) { try names($0) } == ["Hamar", "Bodø"])
    try check(copy)
  }
}
