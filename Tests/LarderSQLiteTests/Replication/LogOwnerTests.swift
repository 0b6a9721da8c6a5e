import Foundation
import TestSupport
import Testing

@testable import LarderReplication
@testable import LarderSQLite

/// A folder in which something happens between the list of owners and what follows from it.
private final class InterruptedSink: LogSink {
  private let folder: FolderSink
  private let interruption: Lock<(@Sendable () throws -> Void)?>

  init(_ folder: FolderSink, afterList interruption: @escaping @Sendable () throws -> Void) {
    self.folder = folder
    self.interruption = Lock(interruption)
  }

  func put(_ name: String, _ bytes: [UInt8]) throws -> Bool { try folder.put(name, bytes) }
  func get(_ name: String) throws -> [UInt8]? { try folder.get(name) }
  func list(_ prefix: String) throws -> [LogObject] {
    let objects = try folder.list(prefix)
    let interruption = interruption.withLock { interruption in
      defer { interruption = nil }
      return interruption
    }
    try interruption?()
    return objects
  }
  func remove(_ name: String) throws { try folder.remove(name) }
}

@Suite("The owners of a log", .promptly)
struct LogOwnerTests {
  private let folder: ScratchFolder
  private let sink: FolderSink

  init() throws {
    folder = try ScratchFolder()
    sink = try FolderSink(folder.file("log"))
  }

  private func own(_ name: String) throws -> LogOwner {
    try LogOwner(of: "cities/", in: sink, as: name)
  }

  private func epochs() throws -> [Int] { try LogOwner.epochs(sink, "cities/").sorted() }

  @Test("The latest owner removes the former ones' objects; each of these still finds out")
  func removing() throws {
    let owners = try (1...5).map { try own("owner \($0)") }
    for former in owners.dropLast() { try former.removeFormer(from: sink) }
    #expect(try epochs() == [1, 2, 3, 4, 5])
    try owners[4].removeFormer(from: sink)
    #expect(try epochs() == [5])
    for former in owners.dropLast() { #expect(try !former.isLatest(in: sink)) }
    #expect(try owners[4].isLatest(in: sink))
    #expect(try own("owner 6").epoch == 6)
    #expect(try !owners[4].isLatest(in: sink))
  }

  @Test(
    "Nothing is removed after an object that a list lacks: its owner would take itself for the latest"
  )
  func lateList() throws {
    let owners = try (1...4).map { try own("owner \($0)") }
    let late = LateSink(folder: sink, hidden: LogOwner.name("cities/", 2))
    try owners[3].removeFormer(from: late)
    #expect(try epochs() == [2, 3, 4])
    for former in owners.dropLast() { #expect(try !former.isLatest(in: sink)) }
  }

  @Test(
    "A caller whose list was made before others came, and were removed, gets a number above theirs")
  func staleList() throws {
    let (first, sink) = (try own("owner 1"), sink)
    let second = Lock<LogOwner?>(nil)
    let interrupted = InterruptedSink(sink) {
      var latest = try LogOwner(of: "cities/", in: sink, as: "owner 2")
      second.withLock { [latest] in $0 = latest }
      for number in 3...6 { latest = try LogOwner(of: "cities/", in: sink, as: "owner \(number)") }
      try latest.removeFormer(from: sink)
    }
    let late = try LogOwner(of: "cities/", in: interrupted, as: "late")
    #expect(late.epoch == 7)
    #expect(try late.isLatest(in: sink))
    // The number 2 is there again, but the object isn't the one that its owner has put.
    #expect(try epochs() == [2, 6, 7])
    #expect(try !first.isLatest(in: sink))
    #expect(try second.withLock { $0 }?.isLatest(in: sink) == false)
    try late.removeFormer(from: sink)
    #expect(try epochs() == [7])
  }

  @Test(
    "An owner that another one follows at once stays in the list, so that the one before it finds out"
  )
  func followedAtOnce() throws {
    let first = try own("owner 1")
    let sink = sink
    let again = Lock<LogOwner?>(nil)
    let interrupted = InterruptedSink(sink) {
      let next = try LogOwner(of: "cities/", in: sink, as: "next")
      again.withLock { $0 = next }
    }
    let late = try LogOwner(of: "cities/", in: interrupted, as: "late")
    #expect(late.epoch == 3)
    #expect(again.withLock { $0 }?.epoch == 2)
    #expect(try !first.isLatest(in: sink))
  }

  @Test(
    "A half of the own object says nothing, and another content says that there is a later owner")
  func content() throws {
    let owner = try own("owner 1")
    let name = LogOwner.name("cities/", 1)
    try sink.remove(name)
    #expect(try !owner.isLatest(in: sink))
    _ = try sink.put(name, Array("own".utf8))
    #expect(throws: DatabaseError.self) { try owner.isLatest(in: sink) }
    try sink.remove(name)
    _ = try sink.put(name, Array("owner 2".utf8))
    #expect(try !owner.isLatest(in: sink))
  }

  @Test("A former owner acknowledges nothing, also if the objects of those after it were removed")
  func acknowledging() throws {
    let pool = try DatabasePool(path: folder.file("cities.db"))
    try pool.inTransaction { try createCities(in: $0) }
    let former = try pool.replicate(to: sink, as: "cities", every: .seconds(3600))
    let position = try former.ship()
    try ReplicatedDatabase.restore(from: sink, to: folder.file("moved.db"))
    var later: [(DatabaseQueue, ReplicatedDatabase)] = []
    for number in 0..<3 {
      let moved = try DatabaseQueue(path: folder.file("moved.db"))
      try moved.inDatabase {
        _ = try $0.executeUpdate("UPDATE larder_identity SET path = ?", "/gone/\(number)")
      }
      let log = try moved.replicate(to: sink, as: "cities", every: .seconds(3600))
      try moved.inTransaction { db in
        _ = try db.executeUpdate("INSERT INTO city (name) VALUES (?)", "city \(number)")
      }
      try log.ship()
      try log.keepUp(asAt: HeldLog.milliseconds)
      later.append((moved, log))
    }
    #expect(try epochs() == [4])
    try pool.inTransaction { try $0.executeUpdate("INSERT INTO city (name) VALUES ('Narvik')") }
    let error = #expect(throws: DatabaseError.self) { try former.ship(within: .seconds(20)) }
    #expect(error?.code == .readOnly)
    let points = try ReplicatedDatabase.points(in: sink).map(\.position)
    #expect(points.filter { $0.generation == position.generation }.max() == position)
    try later.last?.1.ship()
    for (moved, _) in later { try moved.close() }
    try pool.close()
  }
}

/// A folder whose lists lack an object.
private struct LateSink: LogSink {
  let folder: FolderSink
  let hidden: String

  func put(_ name: String, _ bytes: [UInt8]) throws -> Bool { try folder.put(name, bytes) }
  func get(_ name: String) throws -> [UInt8]? { try folder.get(name) }
  func list(_ prefix: String) throws -> [LogObject] {
    try folder.list(prefix).filter { $0.name != hidden }
  }
  func remove(_ name: String) throws { try folder.remove(name) }
}
