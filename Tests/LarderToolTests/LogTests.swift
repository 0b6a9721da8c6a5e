import Foundation
import Larder
import LarderReplication
import TestSupport
import Testing

@testable import LarderTool

@Suite("larder log, verify-log and restore --at")
struct LogTests {
  private let tool: Tool
  private let positions: [ReplicatedDatabase.Position]

  /// A log of a database with three cities, each in a segment of its own, and a migration before the last one.
  init() throws {
    tool = try Tool()
    let pool = try DatabasePool(path: tool.file("cities.db"))
    try pool.inTransaction { db in
      try db.executeStatements(
        "CREATE TABLE city (name TEXT); CREATE TABLE larder_migration (name TEXT)")
    }
    let log = try pool.replicate(to: FolderSink(tool.file("log")))
    var positions = [try log.ship()]
    for name in ["Hamar", "Narvik", "Bodø"] {
      try pool.inTransaction { db in
        try db.executeUpdate("INSERT INTO city VALUES (\(name))")
        if name == "Bodø" { try db.executeUpdate("INSERT INTO larder_migration VALUES ('bodø')") }
      }
      positions.append(try log.ship())
    }
    self.positions = positions
    try pool.close()
  }

  private func count(_ name: String) throws -> Int? {
    try tool.rows(name, "SELECT count(*) AS n FROM city").first?["n"] as? Int
  }

  @Test("larder log shows the moments of each database, and the last position before a migration")
  func log() throws {
    let result = try tool.run("log", "log")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.lines.first == "cities.db")
    #expect(result.output.contains("migration bodø (last before it: \(positions[2]))"))
    let json = try tool.run("log", "log", "--json", "--name", "cities.db")
    #expect(
      json.output.contains("\"\(positions[3])\"".replacing("/", with: "\\/"))
        || json.output.contains("\(positions[3])"))
    #expect(try tool.run("log", "nowhere").status == 3)
    try FileManager.default.createDirectory(
      atPath: tool.file("empty"), withIntermediateDirectories: true)
    #expect(try tool.run("log", "empty").status == 1)
  }

  @Test("larder verify-log succeeds for a whole log only, and names what is damaged or missing")
  func verifying() throws {
    let result = try tool.run("verify-log", "log")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("\(positions[3])"))
    #expect(try tool.run("verify-log", "log", "--at", "\(positions[1])").status == 0)
    #expect(try tool.run("verify-log", "log", "--at", "yesterday").status == 2)
    let files = try FileManager.default.subpathsOfDirectory(atPath: tool.file("log"))
    let segments = files.filter { $0.contains("/log-") }.sorted().map { tool.file("log/" + $0) }
    var bytes = try Data(contentsOf: URL(filePath: segments[1]))
    let whole = bytes
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: URL(filePath: segments[1]))
    let damaged = try tool.run("verify-log", "log")
    #expect(damaged.status == 3 && damaged.errors.contains("damaged"), "\(damaged.errors)")
    try FileManager.default.removeItem(atPath: segments[1])
    let missing = try tool.run("verify-log", "log")
    #expect(missing.status == 1 && missing.errors.contains("gap"), "\(missing.errors)")
    #expect(try tool.run("log", "log").output.contains("gap in "))
    try whole.write(to: URL(filePath: segments[1]))
    #expect(try tool.run("verify-log", "log").status == 0)
  }

  @Test(
    "Without the newest whole copy's end, verify-log, log and restore name what is missing and what is before it"
  )
  func lost() throws {
    try FileManager.default.removeItem(atPath: tool.file("cities.db-shipped"))
    let pool = try DatabasePool(path: tool.file("cities.db"))
    let log = try pool.replicate(to: FolderSink(tool.file("log")))
    try log.ship()
    try log.ship()
    try pool.close()
    let files = try FileManager.default.subpathsOfDirectory(atPath: tool.file("log"))
    let end = try #require(files.filter { $0.contains("/base-") }.max())
    try FileManager.default.removeItem(atPath: tool.file("log/" + end))
    let verified = try tool.run("verify-log", "log")
    #expect(
      verified.status == 1 && verified.errors.contains("\(positions[3])"), "\(verified.errors)")
    #expect(try tool.run("restore", "lost.db", "log").status == 1)
    #expect(try tool.run("log", "log").output.contains("its whole copy is missing"))
    #expect(try tool.run("restore", "before.db", "log", "--at", "\(positions[3])").status == 0)
    #expect(try count("before.db") == 3)
  }

  @Test("larder restore takes a moment of a log: a position, a time, or the one before a migration")
  func restoring() throws {
    for (index, position) in positions.enumerated() {
      let result = try tool.run("restore", "copy-\(index).db", "log", "--at", "\(position)")
      #expect(result.status == 0, "\(result.errors)")
      #expect(try count("copy-\(index).db") == index)
    }
    #expect(try tool.run("restore", "late.db", "log", "--at", "2999-01-01T00:00:00Z").status == 0)
    #expect(try count("late.db") == 3)
    let early = try tool.run("restore", "early.db", "log", "--at", "2001-01-01T00:00:00Z")
    #expect(early.status == 1 && early.errors.contains("begins later"), "\(early.errors)")
    #expect(try tool.run("restore", "before.db", "log", "--before", "bodø").status == 0)
    #expect(try count("before.db") == 2)
    #expect(try tool.run("restore", "never.db", "log", "--before", "nothing").status == 1)
    #expect(try !tool.files().contains("never.db"))
  }
}
