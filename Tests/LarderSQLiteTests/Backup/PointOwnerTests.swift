import Foundation
import LarderBackup
import LarderSQLite
import TestSupport
import Testing

@Suite("Files with one identity that share a backup folder", .promptly)
struct PointOwnerTests {
  private let folder: ScratchFolder
  private var copies: String { folder.file("copies") }

  init() throws { folder = try ScratchFolder() }

  private func path(_ home: String) throws -> String {
    try FileManager.default.createDirectory(
      atPath: folder.file(home), withIntermediateDirectories: true)
    return folder.file(home + "/app.db")
  }

  private func backup(_ queue: DatabaseQueue) throws -> ContinuousBackup {
    try queue.backup(every: .seconds(3600), to: copies, keeping: 2)
  }

  private func addPoints(
    _ count: Int, by backup: ContinuousBackup, to queue: DatabaseQueue
  ) throws -> [ContinuousBackup.Point] {
    try (0..<count).map { _ in
      try queue.inTransaction {
        try $0.executeUpdate("INSERT INTO city (name) VALUES (hex(randomblob(8)))")
      }
      return try backup.backup()
    }
  }

  /// Makes a database with points, and closes it.
  private func makePoints(_ path: String) throws -> [ContinuousBackup.Point] {
    let queue = try DatabaseQueue(path: path)
    try queue.inTransaction { try createCities(in: $0) }
    let backup = try backup(queue)
    let points = try addPoints(2, by: backup, to: queue)
    backup.cancel()
    try queue.close()
    return points
  }

  @Test("A moved database and a copy restored in its former place keep points of their own")
  func movedAndRestored() throws {
    let (former, moved) = (try path("a"), try path("c"))
    let point = try #require(try makePoints(former).last)
    #expect(rename(former, moved) == 0)
    try ContinuousBackup.restore(point, to: former)
    let (one, other) = (try DatabaseQueue(path: former), try DatabaseQueue(path: moved))
    let (ones, others) = (try backup(one), try backup(other))
    let points = try addPoints(3, by: ones, to: one)
    let otherPoints = try addPoints(3, by: others, to: other)
    #expect(points[0].owner == point.owner && otherPoints[0].owner != point.owner)
    #expect(try ones.points == points.suffix(2))
    #expect(try others.points == otherPoints.suffix(2))
    others.cancel()
    // The new identity stays.
    let again = try backup(other)
    #expect(try again.backup().owner == otherPoints[0].owner)
    ones.cancel()
    again.cancel()
  }

  @Test("Copies of a template that is gone keep points of their own")
  func copiesOfTemplate() throws {
    let template = try path("template")
    _ = try makePoints(template)
    let paths = try ["k1", "k2"].map(path)
    for path in paths { try FileManager.default.copyItem(atPath: template, toPath: path) }
    #expect(unlink(template) == 0)
    let made = try paths.map { path in
      let queue = try DatabaseQueue(path: path)
      let backup = try backup(queue)
      let points = try addPoints(3, by: backup, to: queue)
      backup.cancel()
      try queue.close()
      return Array(points.suffix(2))
    }
    #expect(made[0][0].owner != made[1][0].owner)
    #expect(try ContinuousBackup.points(in: copies) == made[0] + made[1])
  }

  @Test("A backup throws rather than add to the points of another file with its identity")
  func succeeded() throws {
    let path = try path("a")
    let point = try #require(try makePoints(path).last)
    let queue = try DatabaseQueue(path: path)
    let backup = try backup(queue)
    _ = try addPoints(1, by: backup, to: queue)
    // As another machine records it that shares the folder.
    let record = copies + "/.larder-owner-" + (try #require(point.owner))
    try Data("1:1\n/elsewhere/app.db\n".utf8).write(to: URL(fileURLWithPath: record))
    let points = try ContinuousBackup.points(in: copies)
    let error = #expect(throws: DatabaseError.self) {
      _ = try addPoints(1, by: backup, to: queue)
    }
    #expect(error?.code == .cannotOpen)
    #expect(try ContinuousBackup.points(in: copies) == points)
    backup.cancel()
  }
}
