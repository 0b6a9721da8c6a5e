import Foundation
import TestSupport
import Testing

@testable import LarderReplication
@testable import LarderSQLite

@Suite("Objects of a log that are lost", .promptly)
struct LostObjectTests {
  private let folder: ScratchFolder
  private let sink: FolderSink

  init() throws {
    folder = try ScratchFolder()
    sink = try FolderSink(folder.file("log"))
  }

  /// Ships one city in a generation of its own. Returns the last position.
  @discardableResult
  private func ship(_ name: String) throws -> ReplicatedDatabase.Position {
    // What nobody has held can't be continued.
    unlink(folder.file("cities.db-shipped"))
    let pool = try DatabasePool(path: folder.file("cities.db"))
    try pool.inTransaction { db in
      if try !db.tableExists("city") { try createCities(in: db) }
    }
    let log = try pool.replicate(to: sink, as: "cities", every: .seconds(3600))
    try log.ship()
    try pool.inTransaction { try $0.executeUpdate("INSERT INTO city (name) VALUES (\(name))") }
    try log.ship()
    // By now, the sink has what says that there is a whole copy.
    let position = try log.ship()
    try pool.close()
    return position
  }

  private func names(at moment: ReplicatedDatabase.Moment = .latest) throws -> [String] {
    let path = folder.file("restored-\(UUID().uuidString).db")
    try ReplicatedDatabase.restore(from: sink, to: path, at: moment)
    let db = try Database(path: path)
    return try db.fetch(String.self, "SELECT name FROM city WHERE id > 4 ORDER BY id")
  }

  private func object(_ kind: String, of position: ReplicatedDatabase.Position) throws -> String {
    try #require(
      try sink.list("cities/\(position.generation)/\(kind)-").map(\.name).max())
  }

  private func expectGap(
    before position: ReplicatedDatabase.Position,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) {
    let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) { try body() }
    #expect(error?.code == .notFound, sourceLocation: sourceLocation)
    let message = error?.message ?? ""
    #expect(
      message.contains("gap") && message.contains("\(position)"), "\(message)",
      sourceLocation: sourceLocation)
  }

  @Test(
    "Without its whole copy's end, the newest generation isn't passed over: the error names what is before"
  )
  func end() throws {
    let first = try ship("Hamar")
    let second = try ship("Narvik")
    #expect(first.generation != second.generation)
    #expect(try names() == ["Hamar", "Narvik"])
    let end = try object("base", of: second)
    let bytes = try #require(try sink.get(end))
    try sink.remove(end)
    expectGap(before: first) { _ = try names() }
    expectGap(before: first) { _ = try names(at: .time(Date(timeIntervalSinceNow: 60))) }
    #expect(try names(at: .position(first)) == ["Hamar"])
    let summary = try #require(try LogSummary.read(sink, name: "cities").first)
    #expect(summary.generations.map { $0.gap == nil } == [true, false])
    // A damaged one is told as such.
    _ = try sink.put(end, Array(bytes.dropLast(8)))
    let error = #expect(throws: DatabaseError.self) { _ = try names() }
    #expect(error?.code == .corrupt)
    try sink.remove(end)
    // The next process begins anew, and says why.
    let reports = Lock<[String]>([])
    let pool = try DatabasePool(path: folder.file("cities.db"))
    let log = try pool.replicate(to: sink, as: "cities") { error in
      reports.withLock { $0.append("\(error)") }
    }
    try log.ship()
    #expect(log.statistics.generations == 1)
    try waitUntil { reports.withLock { $0.contains { $0.contains("whole copy is missing") } } }
    #expect(try names() == ["Hamar", "Narvik"])
    try pool.close()
  }

  @Test("Each other object of the newest generation that is lost is told, or isn't needed")
  func others() throws {
    let first = try ship("Hamar")
    let second = try ship("Narvik")
    let lastSegment = try object("log", of: second)
    for name in try sink.list("cities/\(second.generation)/").map(\.name) {
      let bytes = try #require(try sink.get(name))
      try sink.remove(name)
      do {
        let found = try names()
        // Nobody knows of the last segment before there is another owner.
        #expect(found == ["Hamar", "Narvik"] || name == lastSegment, "without \(name): \(found)")
      } catch let error as DatabaseError {
        #expect(error.code == .notFound, "without \(name): \(error)")
      }
      _ = try sink.put(name, bytes)
    }
    #expect(try names() == ["Hamar", "Narvik"])
    #expect(first < second)
  }

  @Test(
    "A last segment that a later owner has found, or that was put before the log began anew, is missed"
  )
  func lastSegment() throws {
    let position = try ship("Hamar")
    let pool = try DatabasePool(path: folder.file("cities.db"))
    let log = try pool.replicate(to: sink, as: "cities", every: .seconds(3600))
    #expect(try log.ship() == position)
    try sink.remove(try object("log", of: position))
    let error = #expect(throws: DatabaseError.self) { _ = try names() }
    #expect(error?.message.contains("segments up to") == true, "\(String(describing: error))")
    try pool.close()
  }

  @Test(
    "While the first whole copy of a generation isn't complete, the last moment is the one before it"
  )
  func incomplete() throws {
    let first = try ship("Hamar")
    let second = try ship("Narvik")
    for kind in ["whole", "base"] { try sink.remove(try object(kind, of: second)) }
    #expect(try names() == ["Hamar"])
    expectGap(before: first) { _ = try names(at: .time(Date(timeIntervalSinceNow: 60))) }
  }

  @Test(
    "A copy that follows says that the log has lost what comes after it, and goes on once it is there"
  )
  func following() throws {
    let first = try ship("Hamar")
    let hiding = HidingSink(folder: sink)
    let copy = try DatabaseFollower(of: hiding, to: folder.file("copy.db"), every: .milliseconds(2))
    hiding.hidden.withLock { $0 = ["/base-"] }
    hiding.kept.withLock { $0 = first.generation }
    let second = try ship("Narvik")
    try waitUntil { (copy.error as? DatabaseError)?.message.contains("gap") == true }
    for _ in 0..<20 { #expect(copy.position == first) }
    let another = #expect(throws: DatabaseError.self) {
      _ = try DatabaseFollower(of: hiding, to: folder.file("another.db"))
    }
    #expect(another?.code == .notFound)
    hiding.hidden.withLock { $0 = [] }
    #expect(
      try copy.read(notBefore: second) {
        try $0.fetch(String.self, "SELECT name FROM city WHERE id > 4 ORDER BY id")
      } == ["Hamar", "Narvik"])
    try waitUntil { copy.error == nil }
    try copy.close()
  }

  @Test("A copy goes on with the next generation if the log has begun anew within a commit")
  func withinCommit() throws {
    let first = try ship("Hamar")
    let hiding = HidingSink(folder: sink)
    let copy = try DatabaseFollower(of: hiding, to: folder.file("copy.db"), every: .milliseconds(2))
    hiding.hidden.withLock { $0 = ["cities/"] }
    let pool = try DatabasePool(path: folder.file("cities.db"))
    let plan = ReplicationPlan.small(
      interval: .seconds(3600), objectSize: 1 << 14, smallestChain: 1 << 30)
    let log = try pool.replicate(to: sink, as: "cities", plan)
    try pool.inTransaction { db in
      for number in 0..<20 {
        let name = "city \(number) " + String(repeating: "a", count: 3000)
        _ = try db.executeUpdate("INSERT INTO city (name) VALUES (?)", name)
      }
    }
    let last = try log.ship()
    #expect(last.segment > first.segment + 1)
    try pool.close()
    try sink.remove(try object("log", of: last))
    let second = try ship("Narvik")
    #expect(second.generation != first.generation)
    hiding.hidden.withLock { $0 = [] }
    #expect(
      try copy.read(notBefore: second) { db in
        try db.value("SELECT count(*) FROM city WHERE id > 4", as: Int.self)
      } == 22)
    try copy.close()
  }
}

/// A folder without some kinds of objects, except those of one generation.
private final class HidingSink: LogSink {
  private let folder: FolderSink
  let hidden = Lock<[String]>([])
  let kept = Lock("")

  init(folder: FolderSink) { self.folder = folder }

  private func isThere(_ name: String) -> Bool {
    let kept = kept.withLock { $0 }
    return !hidden.withLock { $0.contains { name.contains($0) } }
      || !kept.isEmpty && name.contains(kept)
  }

  func put(_ name: String, _ bytes: [UInt8]) throws -> Bool { try folder.put(name, bytes) }
  func get(_ name: String) throws -> [UInt8]? { isThere(name) ? try folder.get(name) : nil }
  func list(_ prefix: String) throws -> [LogObject] {
    try folder.list(prefix).filter { isThere($0.name) }
  }
  func remove(_ name: String) throws { try folder.remove(name) }
}
