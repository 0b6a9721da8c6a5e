import Foundation
import TestSupport
import Testing

@testable import LarderReplication
@testable import LarderSQLite

@Suite("A log's upkeep", .promptly)
struct LogUpkeepTests {
  private let folder: ScratchFolder
  private let sink: FolderSink
  private let pool: DatabasePool
  private let log: ReplicatedDatabase

  private static let day = 86_400_000

  init() throws {
    folder = try ScratchFolder()
    sink = try FolderSink(folder.file("log"))
    pool = try DatabasePool(path: folder.file("cities.db"))
    try pool.inTransaction { try createCities(in: $0) }
    var plan = ReplicationPlan.small(
      interval: .seconds(60), objectSize: 8 << 20, smallestChain: 64 << 10)
    plan.keeping = .seconds(30 * 86_400)
    log = try pool.replicate(to: sink, as: nil, plan)
    try log.ship()
  }

  @discardableResult
  private func add(_ names: [String]) throws -> [ReplicatedDatabase.Position] {
    try names.map { name in
      try pool.inTransaction { try $0.executeUpdate("INSERT INTO city (name) VALUES (\(name))") }
      return try log.ship()
    }
  }

  private func names(at moment: ReplicatedDatabase.Moment = .latest) throws -> [String] {
    let path = folder.file("restored-\(UUID().uuidString).db")
    try ReplicatedDatabase.restore(from: sink, to: path, at: moment)
    let db = try Database(path: path)
    return try db.fetch(String.self, "SELECT name FROM city WHERE id > 4 ORDER BY id")
  }

  private func segments(_ level: LogLevel? = nil) throws -> [LogCatalog.Segment] {
    let catalog = try LogCatalog(sink, "cities.db/")
    return catalog.generations.flatMap(\.segments).filter { $0.level == level }
  }

  private func positions() throws -> [ReplicatedDatabase.Position] {
    try ReplicatedDatabase.points(in: sink).map(\.position)
  }

  @Test("Segments of a minute that is over are merged, and every moment remains for a day")
  func merging() throws {
    let positions = try add(["Tromsø", "Hamar", "Narvik", "Bodø"])
    try log.keepUp(asAt: HeldLog.milliseconds)
    #expect(try segments(.hours).isEmpty)
    try log.keepUp(asAt: HeldLog.milliseconds + 3_600_000)
    let single = try segments()
    #expect(single.count == 4)
    let merged = try #require(try segments(.minutes).last ?? segments(.hours).last)
    #expect(merged.object.bytes < single.reduce(0) { $0 + $1.object.bytes })
    #expect(try self.positions().suffix(4) == positions)
    #expect(try names(at: .position(positions[1])) == ["Tromsø", "Hamar"])
    #expect(try names() == ["Tromsø", "Hamar", "Narvik", "Bodø"])
    try add(["Alta"])
    #expect(try names().last == "Alta")
  }

  @Test("After a day minutes remain, after a week hours; the log goes on, also in the next process")
  func thinning() throws {
    let before = try add((0..<8).map { "city \($0)" })
    try log.keepUp(asAt: HeldLog.milliseconds + 2 * Self.day)
    #expect(try segments().count < 8)
    #expect(try positions().count < before.count)
    try log.keepUp(asAt: HeldLog.milliseconds + 9 * Self.day)
    #expect(try segments().count + segments(.minutes).count <= 2)
    let last = try #require(before.last)
    #expect(try names(at: .position(last)).count == 8)
    try add(["Alta"])
    try pool.close()
    let again = try DatabasePool(path: folder.file("cities.db"))
    let next = try again.replicate(to: sink)
    try again.inTransaction { try $0.executeUpdate("INSERT INTO city (name) VALUES ('Moss')") }
    try next.ship()
    #expect(next.statistics.generations == 0)
    #expect(try names().suffix(2) == ["Alta", "Moss"])
  }

  @Test("What is older than the time to keep goes once a later whole copy is as old")
  func removing() throws {
    let early = try add(["Tromsø"])
    // A chain that is longer than the database begins another whole copy.
    for number in 0..<40 where log.statistics.bases < 2 { try add(["city \(number)"]) }
    try waitUntil { self.log.statistics.bases == 2 }
    let end = try add(["Hamar"])
    try log.keepUp(asAt: HeldLog.milliseconds + 29 * Self.day)
    #expect(try sink.list("").filter { $0.name.contains("/base-") }.count == 2)
    try log.keepUp(asAt: HeldLog.milliseconds + 31 * Self.day)
    let objects = try sink.list("").map(\.name)
    #expect(objects.filter { $0.contains("/base-") }.count == 1)
    #expect(objects.filter { $0.contains("/part-") }.count == 1)
    #expect(try !positions().contains(early[0]))
    #expect(try names(at: .position(end[0])).last == "Hamar")
  }

  @Test("Nothing is removed while a list lacks an object, or what replaces it can't be read")
  func doubtful() throws {
    try add((0..<6).map { "city \($0)" })
    try log.keepUp(asAt: HeldLog.milliseconds + 3_600_000)
    let merged = try #require(try segments(.hours).first ?? segments(.minutes).first)
    let bytes = try #require(try sink.get(merged.object.name))
    try sink.remove(merged.object.name)
    _ = try sink.put(merged.object.name, Array(bytes.prefix(bytes.count / 2)))
    #expect(throws: DatabaseError.self) {
      try log.keepUp(asAt: HeldLog.milliseconds + 9 * Self.day)
    }
    #expect(try segments().count == 6)
    try sink.remove(merged.object.name)
    let last = try #require(try segments().last)
    let content = try #require(try sink.get(last.object.name))
    try sink.remove(last.object.name)
    try log.keepUp(asAt: HeldLog.milliseconds + 40 * Self.day)
    #expect(try segments().count == 5)
    _ = try sink.put(last.object.name, content)
    #expect(try names().count == 6)
  }

  @Test(
    "Of the ends that owners have found, and of the objects that made them owners, the latest remain"
  )
  func owners() throws {
    try add(["Tromsø"])
    try pool.close()
    for number in 0..<4 {
      let again = try DatabasePool(path: folder.file("cities.db"))
      let next = try again.replicate(to: sink)
      try again.inTransaction {
        try $0.executeUpdate("INSERT INTO city (name) VALUES (?)", "city \(number)")
      }
      try next.ship()
      try next.keepUp(asAt: HeldLog.milliseconds)
      try again.close()
    }
    let names = try sink.list("cities.db/").map(\.name)
    #expect(names.filter { $0.contains("/owner/") } == ["cities.db/owner/00000005"])
    #expect(names.filter { $0.contains("/end-") }.map { $0.suffix(8) } == ["00000005"])
    #expect(try self.names() == ["Tromsø"] + (0..<4).map { "city \($0)" })
  }

  @Test("A former owner removes nothing any more")
  func formerOwner() throws {
    try add((0..<3).map { "city \($0)" })
    _ = try sink.lease("cities.db/", for: "another")
    try log.keepUp(asAt: HeldLog.milliseconds + 40 * Self.day)
    #expect(try segments().count == 3)
    #expect(try segments(.minutes).isEmpty)
  }
}
