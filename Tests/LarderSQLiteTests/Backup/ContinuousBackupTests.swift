@testable import LarderBackup
import Foundation
import TestSupport
import Testing

@testable import LarderSQLite

@Suite("Continuous backups", .promptly)
struct ContinuousBackupTests {
  enum Access: CaseIterable, Sendable { case queue, pool, journal }

  let folder: ScratchFolder
  var copies: String { folder.file("copies") }

  init() throws { folder = try ScratchFolder() }

  func open(_ kind: Access = .pool, _ name: String = "cities.db") throws -> any DatabaseAccess {
    var configuration = Configuration.patient
    if kind == .journal { configuration.journalMode = .delete }
    let path = folder.file(name)
    let access: any DatabaseAccess =
      kind == .pool
      ? try DatabasePool(path: path, configuration: configuration)
      : try DatabaseQueue(path: path, configuration: configuration)
    try access.inTransaction { try createCities(in: $0) }
    return access
  }

  /// The names of the cities in a point, which is opened read-only.
  func names(_ point: ContinuousBackup.Point) throws -> [String] {
    var configuration = Configuration()
    configuration.readOnly = true
    let db = try Database(path: point.path, configuration: configuration)
    #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
    return try db.fetch(String.self, "SELECT name FROM city ORDER BY id")
  }

  func add(_ name: String, to access: any DatabaseAccess) throws {
    try access.inTransaction { try $0.executeUpdate("INSERT INTO city (name) VALUES (\(name))") }
  }

  var files: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: copies).sorted() }
  }

  @Test("A continuous backup copies at once, and again after each interval with a commit")
  func again() async throws {
    let pool = try open()
    let backup = try pool.backup(every: .milliseconds(1), to: copies, keeping: 100)
    try await yieldUntil { try backup.points.count == 1 }
    for number in 2...4 {
      try add("city \(number)", to: pool)
      try await yieldUntil { try backup.points.count >= number }
    }
    let points = try backup.points
    #expect(try points.first.map(names)?.count == 4)
    #expect(try points.last.map(names)?.last == "city 4")
    #expect(points.map(\.date) == points.map(\.date).sorted())
    #expect(points.allSatisfy { $0.database == "cities.db" && $0.bytes > 0 })
    backup.cancel()
  }

  @Test(
    "A continuous backup makes no new copy while nothing is committed, not even by `backup`",
    arguments: Access.allCases)
  func unchanged(kind: Access) async throws {
    let access = try open(kind)
    let backup = try access.backup(every: .milliseconds(1), to: copies)
    let first = try await backup.backup()
    try await yieldUntil { backup.statistics.unchanged > 5 }
    #expect(try await backup.backup() == first)
    #expect(try await access.read { try $0.cityCount() } == 4)
    #expect(try backup.points == [first])
    // A commit of an unrelated connection counts too, like one of another process.
    try Database(path: folder.file("cities.db")).executeUpdate("DELETE FROM city WHERE id > 2")
    #expect(try await names(backup.backup()).count == 2)
    backup.cancel()
  }

  @Test("A continuous backup keeps the newest `keeping` points, and removes no other files")
  func pruned() throws {
    let (pool, other) = (try open(), try open(.queue, "rivers.db"))
    let backup = try pool.backup(every: .seconds(3600), to: copies, keeping: 3)
    let rivers = try other.backup(every: .seconds(3600), to: copies, keeping: 1)
    let river = try rivers.backup()
    try Data().write(to: URL(fileURLWithPath: copies + "/cities-notes.db"))
    var made: [ContinuousBackup.Point] = []
    for number in 0..<6 {
      try add("city \(number)", to: pool)
      made.append(try backup.backup())
    }
    #expect(try backup.points == made.suffix(3))
    #expect(try rivers.points == [river])
    #expect(try ContinuousBackup.points(in: copies).count == 4)
    #expect(FileManager.default.fileExists(atPath: copies + "/cities-notes.db"))
    backup.cancel()
    rivers.cancel()
    #expect(try files.count { !$0.hasPrefix(".larder-owner-") } == 5)
  }

  @Test("Surplus points that a killed process has left are removed even if no copy can be made")
  func prunedAtStart() async throws {
    let pool = try open()
    let first = try pool.backup(every: .seconds(3600), to: copies, keeping: 10)
    for number in 0..<5 {
      try add("city \(number)", to: pool)
      _ = try await first.backup()
    }
    let made = try first.points
    first.cancel()
    try await pool.close()
    // No copy passes SQLite's check: the page after the schema's, which holds rows, is damaged.
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("cities.db")))
    try file.seek(toOffset: 4096)
    try file.write(contentsOf: Data(repeating: 255, count: 64))
    try file.close()
    let damaged = try DatabasePool(path: folder.file("cities.db"))
    let second = try damaged.backup(every: .seconds(3600), to: copies, keeping: 2)
    try await yieldUntil { second.statistics.failures > 0 }
    #expect(try second.points == made.suffix(2))
    second.cancel()
  }

  @Test("A backup point's file name holds database, time in UTC and owner, and is parsed back")
  func names() throws {
    let names = [
      "cities.db": "cities-20261123T165030.123Z.db", "cities": "cities-20261123T165030.123Z",
      "a.b.sqlite": "a.b-20261123T165030.123Z.sqlite", ".db": ".db-20261123T165030.123Z",
      "x-20261123T165030.123Z.db": "x-20261123T165030.123Z-20261123T165030.123Z.db",
      "data.Z": "data-20261123T165030.123Z.Z", "Z": "Z-20261123T165030.123Z",
    ]
    for (database, text) in names {
      for owner in [nil, "8f0c2a9d51b7e364"] {
        let name = PointName(of: database, at: 1_795_452_630_123, owner: owner)
        let time = "20261123T165030.123Z"
        let end = text.range(of: time, options: .backwards)?.upperBound ?? text.endIndex
        let whole = text[..<end] + (owner.map { "-" + $0 } ?? "") + text[end...]
        #expect(try name.text() == whole)
        let found = PointName(String(whole))
        #expect(found?.database == database)
        #expect(found?.milliseconds == 1_795_452_630_123)
        #expect(found?.owner == owner)
      }
    }
    for text in [
      "", "Z", "-20261123T165030.123Z.db", "cities.db", "cities-20261123T165030.123.db",
      "cities-20261323T165030.123Z.db", "cities-20261123T16503é.123Z.db", ".larder-1-1",
      "cities-2026-11-23T165030.1Z.db", "cities-20261123T165030.123Z-8f0c.db",
      "cities-20261123T165030.123Z-8F0C2A9D51B7E364.db", "cities-20261123T165030.123Zdb",
    ] {
      #expect(PointName(text) == nil)
    }
  }

  @Test("A backup point is dated after the newest one when the clock was set back")
  func clockSetBack() throws {
    let pool = try open()
    let backup = try pool.backup(every: .seconds(3600), to: copies, keeping: 1)
    let owner = try backup.backup().owner
    let future = try PointName(of: "cities.db", at: 4_000_000_000_000, owner: owner).text()
    try pool.read { try $0.backup(to: copies + "/" + future) }
    try add("Tromsø", to: pool)
    let point = try backup.backup()
    #expect(try backup.points == [point])
    #expect(point.date.timeIntervalSince1970 == 4_000_000_000.001)
    backup.cancel()
  }

  @Test(
    "A backup point dated December 31, 9999 isn't removed, and later copies get the current time")
  func endOfTimes() throws {
    let pool = try open()
    let backup = try pool.backup(every: .seconds(3600), to: copies, keeping: 1)
    let owner = try backup.backup().owner
    for owner in [owner, nil, "0123456789abcdef"] {
      let last = PointName(of: "cities.db", at: 253_402_300_799_999, owner: owner)
      try pool.read { try $0.backup(to: copies + "/" + last.text()) }
    }
    try add("Tromsø", to: pool)
    let point = try backup.backup()
    #expect(try backup.points == [point])
    #expect(point.date.timeIntervalSinceNow < 60)
    #expect(try ContinuousBackup.points(in: copies).count == 4)
    // No time is left between this one and the year 9000.
    let last = PointName(of: "cities.db", at: 221_845_391_999_999, owner: owner)
    try pool.read { try $0.backup(to: copies + "/" + last.text()) }
    try add("Hamar", to: pool)
    let next = try backup.backup()
    #expect(try backup.points == [next])
    #expect(next.date.timeIntervalSinceNow < 60)
    backup.cancel()
  }

  @Test("A backup of a database whose name is too long for its copies' names throws")
  func longName() throws {
    let queue = try open(.queue, String(repeating: "n", count: 214) + ".db")
    let backup = try queue.backup(every: .seconds(3600), to: copies)
    try backup.backup().verify()
    backup.cancel()
    let other = try open(.queue, String(repeating: "n", count: 215) + ".db")
    let error = #expect(throws: DatabaseError.self) {
      _ = try other.backup(every: .seconds(3600), to: copies)
    }
    #expect(error?.code == .cannotOpen)
  }

  @Test("A database named `data.Z`, like the end of a point's time, has its points pruned")
  func nameThatEndsLikeATime() throws {
    let queue = try open(.queue, "data.Z")
    let backup = try queue.backup(every: .seconds(3600), to: copies, keeping: 2)
    for number in 0..<4 {
      try add("city \(number)", to: queue)
      _ = try backup.backup()
    }
    #expect(try backup.points.count == 2)
    #expect(try backup.points.allSatisfy { $0.database == "data.Z" })
    backup.cancel()
  }

  @Test("Databases with one name that share a backup folder prune only their own points")
  func sameName() throws {
    var kept: [ContinuousBackup.Point] = []
    for home in ["x", "y", "z"] {
      try FileManager.default.createDirectory(
        atPath: folder.file(home), withIntermediateDirectories: true)
      if home == "z" {
        // A copy made by hand, while the original is still in place.
        try FileManager.default.copyItem(
          atPath: folder.file("x/app.db"), toPath: folder.file("z/app.db"))
      }
      let queue = try DatabaseQueue(path: folder.file(home + "/app.db"))
      if home != "z" { try queue.inTransaction { try createCities(in: $0) } }
      let backup = try queue.backup(every: .seconds(3600), to: copies, keeping: 1)
      for number in 0..<3 {
        try add("\(home) \(number)", to: queue)
        kept.append(try backup.backup())
      }
      #expect(try backup.points.count == 1)
      backup.cancel()
      try queue.close()
    }
    let points = try ContinuousBackup.points(in: copies)
    #expect(points == [kept[2], kept[5], kept[8]])
    #expect(Set(points.map(\.owner)).count == 3)
  }

  @Test("A database that was moved or restored elsewhere continues its series of backup points")
  func moved() throws {
    let path = folder.file("cities.db")
    let points = try [path, folder.file("moved.db"), folder.file("restored.db")].map { path in
      if path.hasSuffix("moved.db") { #expect(rename(folder.file("cities.db"), path) == 0) }
      if path.hasSuffix("restored.db") {
        let point = try #require(try ContinuousBackup.points(in: copies).last)
        #expect(unlink(folder.file("moved.db")) == 0)
        try ContinuousBackup.restore(point, to: path)
      }
      let queue = try DatabaseQueue(path: path)
      if path.hasSuffix("cities.db") { try queue.inTransaction { try createCities(in: $0) } }
      let backup = try queue.backup(every: .seconds(3600), to: copies)
      try add(path, to: queue)
      let point = try backup.backup()
      backup.cancel()
      try queue.close()
      return point
    }
    #expect(Set(points.map(\.owner)).count == 1)
  }

  @Test(
    "A backup point is restored through the pool or into another file, but not into a file in use")
  func restored() throws {
    let pool = try open()
    let backup = try pool.backup(every: .seconds(3600), to: copies)
    let point = try backup.backup()
    try add("Kyoto", to: pool)
    let other = folder.file("other.db")
    try ContinuousBackup.restore(point, to: other)
    #expect(try Database(path: other).cityCount() == 4)
    // The pool has the destination open.
    let error = #expect(throws: DatabaseError.self) {
      var configuration = Configuration()
      configuration.busyTimeout = .milliseconds(20)
      try ContinuousBackup.restore(
        point, to: folder.file("cities.db"), configuration: configuration)
    }
    #expect(error?.code == .busy)
    #expect(try pool.read { try $0.cityCount() } == 5)
    try pool.inDatabase { try $0.restore(from: point.path) }
    #expect(try pool.read { try $0.cityCount() } == 4)
    // Restoring counts as a change, so a new copy is made.
    #expect(try backup.backup() != point)
    try pool.close()
    try ContinuousBackup.restore(point, to: folder.file("cities.db"))
    #expect(try Database(path: folder.file("cities.db")).cityCount() == 4)
  }

  @Test("A point isn't restored beside the log of a file that is gone")
  func leftLog() throws {
    let pool = try open()
    let backup = try pool.backup(every: .seconds(3600), to: copies)
    let point = try backup.backup()
    let log = folder.file("other.db-wal")
    try FileManager.default.copyItem(atPath: folder.file("cities.db-wal"), toPath: log)
    let error = #expect(throws: DatabaseError.self) {
      try ContinuousBackup.restore(point, to: folder.file("other.db"))
    }
    #expect(error?.code == .cannotOpen)
    #expect(folder.exists("other.db-wal") && !folder.exists("other.db"))
    try FileManager.default.removeItem(atPath: log)
    try ContinuousBackup.restore(point, to: folder.file("other.db"))
    #expect(try Database(path: folder.file("other.db")).cityCount() == 4)
    backup.cancel()
    try pool.close()
  }

  @Test("A damaged backup point fails `verify`, and restoring it throws and creates no file")
  func damaged() throws {
    let pool = try open()
    try pool.inTransaction { db in
      try db.executeUpdate(
        """
        WITH n(i) AS (SELECT 5 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
        INSERT INTO city (id, name) SELECT i, 'City number ' || i FROM n
        """)
    }
    let backup = try pool.backup(every: .seconds(3600), to: copies)
    let point = try backup.backup()
    try point.verify(.full)
    let file = try #require(FileHandle(forUpdatingAtPath: point.path))
    try file.seek(toOffset: 4096 * 7 + 8)
    try file.write(contentsOf: Data(repeating: 0x5a, count: 3000))
    try file.close()
    #expect(throws: DatabaseError.self) { try point.verify() }
    #expect(throws: DatabaseError.self) {
      try ContinuousBackup.restore(point, to: folder.file("other.db"))
    }
    #expect(!folder.exists("other.db"))
  }

  @Test(
    "Backup points of an encrypted database are encrypted with its key",
    .enabled(if: Encrypted.isThere))
  func encrypted() throws {
    let configuration = try Encrypted.configuration()
    let pool = try DatabasePool(path: folder.file("cities.db"), configuration: configuration)
    try pool.inTransaction { try createCities(in: $0) }
    let backup = try pool.backup(every: .seconds(3600), to: copies)
    let point = try backup.backup()
    #expect(try Encrypted.plainFiles(in: copies) == [])
    #expect(throws: DatabaseError.self) { try point.verify() }
    try point.verify(configuration: configuration)
    try ContinuousBackup.restore(
      point, to: folder.file("other.db"), configuration: configuration)
    let other = try Database(path: folder.file("other.db"), configuration: configuration)
    #expect(try other.cityCount() == 4)
    backup.cancel()
  }

  @Test(
    "A continuous backup of a database without a file, or with invalid options or folder, throws")
  func misuse() throws {
    let pool = try open()
    let calls: [() throws -> Void] = [
      { _ = try DatabaseQueue().backup(every: .seconds(1), to: copies) },
      { _ = try DatabaseQueue(path: "").backup(every: .seconds(1), to: copies) },
      { _ = try pool.backup(every: .zero, to: copies) },
      { _ = try pool.backup(every: .seconds(-1), to: copies) },
      { _ = try pool.backup(every: .seconds(1), to: copies, keeping: 0) },
    ]
    for call in calls {
      let error = #expect(throws: DatabaseError.self) { try call() }
      #expect(error?.code == .misuse)
    }
    try Data().write(to: URL(fileURLWithPath: folder.file("file")))
    for path in ["", "a\0b", folder.file("file"), folder.file("file/copies")] {
      let error = #expect(throws: DatabaseError.self) {
        _ = try pool.backup(every: .seconds(1), to: path)
      }
      #expect(error?.code == .cannotOpen)
    }
    try pool.close()
    let error = #expect(throws: DatabaseError.self) {
      _ = try pool.backup(every: .seconds(1), to: copies)
    }
    #expect(error?.code == .misuse)
  }
}
