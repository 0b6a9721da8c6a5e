import Dispatch
import Foundation
import TestSupport
import Testing

@testable import LarderSQLite

@Suite("As if alone: scopes, readers, backups and pools leave nothing behind", .promptly)
struct AsIfAloneLeftoverTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  @Test("Settings that a scope changes are restored for the next scope", arguments: Company.all)
  func settings(company: Company) async throws {
    let access = try company.open(in: folder)
    let before = try await access.inDatabase { try Settings($0) }
    try await access.inDatabase { db in
      db.busyTimeout = .milliseconds(1)
      db.statementDeadline = .seconds(1)
      db.statementCacheCapacity = 3
      try db.setLimit(.variables, 10)
      try db.executeStatements(
        """
        PRAGMA foreign_keys = OFF; PRAGMA cache_size = 33; PRAGMA ignore_check_constraints = ON;
        PRAGMA recursive_triggers = ON
        """)
      db.authorizer = .dataOnly
    }
    #expect(try await access.inDatabase { try Settings($0) } == before)
    // The same with a transaction that throws.
    _ = try? await access.inTransaction { db in
      db.busyTimeout = .milliseconds(2)
      db.statementDeadline = .seconds(2)
      db.authorizer = .dataOnly
      throw TookTooLong()
    }
    #expect(try await access.inDatabase { try Settings($0) } == before)
  }

  /// The settings that a scope could leave changed.
  private struct Settings: Hashable, Sendable {
    let busyTimeout: Duration
    let deadline: Duration?
    let authorizer: Authorizer?
    let cacheCapacity: Int
    let variables: Int
    let pragmas: [Int?]

    init(_ db: Database) throws {
      busyTimeout = db.busyTimeout
      deadline = db.statementDeadline
      authorizer = db.authorizer
      cacheCapacity = db.statementCacheCapacity
      variables = db.limit(.variables)
      pragmas = try [
        "foreign_keys", "cache_size", "ignore_check_constraints", "recursive_triggers",
      ].map { try db.value(SQL(raw: "PRAGMA \($0)"), as: Int.self) }
    }
  }

  @Test(
    "The write-ahead log stays below twice its size limit while three readers never pause",
    arguments: Company.pools)
  func boundedLog(company: Company) async throws {
    let limit = 8 << 20
    let pool = try company.open(in: folder) { configuration in
      configuration.journalSizeLimit = limit
      configuration.synchronous = .normal
      configuration.maximumReaders = 3
    }
    try await pool.inDatabase {
      _ = try $0.executeUpdate("CREATE TABLE photo (id INTEGER PRIMARY KEY, bytes BLOB)")
    }
    let isDone = Recorder<Bool>()
    // Each reader begins its next read before another one's has ended.
    let readers = (0..<3).map { _ in
      Caller {
        while isDone.elements.isEmpty {
          try pool.read { db in
            _ = try db.cityCount()
            usleep(2000)
          }
        }
      }
    }
    var largest = 0
    for number in 0..<500 {
      try await company.start(pool) { db in
        try db.executeUpdate(
          "INSERT OR REPLACE INTO photo VALUES (?, zeroblob(160000))", number % 10)
      }.end()
      let size = try FileManager.default.attributesOfItem(atPath: folder.file("cities.db-wal"))[
        .size]
      largest = max(largest, (size as? NSNumber)?.intValue ?? 0)
    }
    isDone.add(true)
    for reader in readers { try await reader.end() }
    // Ten times the limit is written. Some frames are added between reaching the limit and the restart.
    #expect(largest < 2 * limit, "\(largest)")
  }

  @Test(
    "A backup in a read scope ends without restarting although another scope writes at each step",
    arguments: Company.pools)
  func backupBesideWriter(company: Company) async throws {
    let pool = try company.open(in: folder) { $0.synchronous = .normal }
    try await pool.inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE photo (bytes BLOB);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
        INSERT INTO photo SELECT zeroblob(4000) FROM n;
        """)
    }
    let copy = folder.file("copy.db")
    let remaining = Recorder<Int>()
    let backup = company.startReading(pool) { db in
      try db.backup(to: copy, pagesPerStep: 10) { left, _ in
        remaining.add(left)
        guard remaining.elements.count < 50 else { throw TookTooLong() }
        try Caller {
          _ = try pool.inTransaction { try $0.executeUpdate("UPDATE city SET area = area + 1") }
        }.join()
      }
    }
    try await backup.end()
    // A hundred pages and more, ten at each step.
    #expect(remaining.elements.count > 10 && remaining.elements.last == 0)
    #expect(remaining.elements == remaining.elements.sorted(by: >))
    #expect(try Database(path: copy).cityCount() == 4)
  }

  @Test("A pool that is released without being closed leaves no log", arguments: Company.pools)
  func letGo(company: Company) async throws {
    var pool: (any DatabaseAccess)? = try company.open(in: folder)
    weak let connections = pool?.connections
    try await pool?.inTransaction { _ = try $0.executeUpdate("DELETE FROM city WHERE id = 1") }
    #expect(try await pool?.read { try $0.cityCount() } == 3)
    pool = nil
    try await yieldUntil(within: .seconds(20)) { connections == nil }
    try await yieldUntil(within: .seconds(20)) { !folder.exists("cities.db-wal") }
    #expect(try Database(path: folder.file("cities.db")).cityCount() == 3)
  }
}
