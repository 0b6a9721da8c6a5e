import Foundation
import LarderSQLite
import TestSupport
import Testing

@Suite(
  "Changing the key of a database in use",
  .enabled(if: Encrypted.isThere, "the library that is linked doesn't encrypt"))
struct KeyRotationTests {
  private func key(_ byte: UInt8) throws -> EncryptionKey {
    try EncryptionKey(raw: [UInt8](repeating: byte, count: 32))
  }

  private static func insert(_ pool: DatabasePool, _ name: String) throws {
    try pool.inTransaction { _ = try $0.executeUpdate("INSERT INTO city VALUES (?)", name) }
  }

  private static func names(_ pool: DatabasePool) throws -> [String] {
    try pool.read { try $0.texts("SELECT name FROM city ORDER BY name") }
  }

  private func open(_ path: String, _ byte: UInt8) throws -> DatabasePool {
    let pool = try DatabasePool(path: path, configuration: Encrypted.configuration(byte))
    try pool.inTransaction {
      try $0.executeStatements("CREATE TABLE IF NOT EXISTS city (name TEXT)")
    }
    return pool
  }

  @Test("The key of a file can't be changed while a pool has it open, and the pool goes on")
  func refused() throws {
    let folder = try ScratchFolder()
    defer { folder.remove() }
    let pool = try open(folder.file("cities.db"), 7)
    try Self.insert(pool, "Bergen")
    let other = try DatabaseQueue(
      path: folder.file("cities.db"), configuration: Encrypted.configuration(7))
    let error = #expect(throws: DatabaseError.self) {
      try other.inDatabase { try $0.rekey(key(8)) }
    }
    #expect(error?.code == .busy)
    try Self.insert(pool, "Oslo")
    #expect(try Self.names(pool) == ["Bergen", "Oslo"])
    try other.close()
    try pool.close()
  }

  @Test("A copy with another key takes a pool's place without a lost write, while reads go on")
  func copied() throws {
    let folder = try ScratchFolder()
    defer { folder.remove() }
    let old = try open(folder.file("cities.db"), 7)
    try Self.insert(old, "Bergen")
    let (waiting, thrown) = (DispatchSemaphore(value: 0), Lock<DatabaseError?>(nil))
    let new = try old.inDatabase { db in
      // A writer that waits for this scope would write into the file that is left.
      Thread.detachNewThread {
        do { try Self.insert(old, "Oslo") } catch {
          thrown.withLock { $0 = error as? DatabaseError }
        }
        waiting.signal()
      }
      while old.statistics.waiting == 0 { usleep(500) }
      try db.backup(to: folder.file("cities-2.db"), key: key(8))
      #expect(try Self.names(old) == ["Bergen"])
      #expect(
        rename(folder.file("cities.db"), folder.file("cities-retired.db")) == 0)
      return try open(folder.file("cities-2.db"), 8)
    }
    waiting.wait()
    #expect(thrown.withLock { $0?.extendedCode } == .readOnlyMoved)
    try Self.insert(new, "Oslo")
    #expect(try Self.names(new) == ["Bergen", "Oslo"])
    try old.close()
    try new.checkpoint(.truncate)
    #expect(try new.inDatabase { try $0.cipherIntegrityCheck() } == [])
    try new.close()
  }
}
