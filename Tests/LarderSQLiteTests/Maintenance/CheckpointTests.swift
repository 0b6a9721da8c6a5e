import FoundationEssentials
import LarderSQLite
import TestSupport
import Testing

@Suite("Checkpoints")
struct CheckpointTests {
  private func logSize(_ path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int)
  }

  @Test(
    "Without a write-ahead log both counts are -1",
    arguments: [
      CheckpointMode.passive, .full, .restart, .truncate,
    ])
  func noLog(mode: CheckpointMode) throws {
    try withTemporaryFolder { folder in
      var configuration = Configuration()
      configuration.journalMode = .delete
      let db = try Database(path: folder + "/cities.db", configuration: configuration)
      try createCities(in: db)
      let counts = try db.checkpoint(mode)
      #expect(counts.logFrames == -1)
      #expect(counts.checkpointed == -1)
    }
  }

  @Test("All frames of the log move into the file when nobody reads")
  func allFrames() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.db"
      let db = try Database(path: path)
      try createCities(in: db)
      let counts = try db.checkpoint()
      #expect(counts.logFrames > 0)
      #expect(counts.checkpointed == counts.logFrames)
      #expect(try logSize(path) > 0)
    }
  }

  @Test("A truncating checkpoint cuts the log to nothing")
  func truncate() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.db"
      let db = try Database(path: path)
      try createCities(in: db)
      #expect(try logSize(path) > 0)
      let counts = try db.checkpoint(.truncate)
      #expect(counts.logFrames == 0)
      #expect(counts.checkpointed == 0)
      #expect(try logSize(path) == 0)
      #expect(try db.cityCount() == 4)
    }
  }

  @Test("A reader's snapshot holds frames back: passive moves what it can, the others wait")
  func reader() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.db"
      let writer = try Database(path: path)
      try createCities(in: writer)
      try writer.checkpoint(.truncate)
      let reader = try Database(path: path)
      try writer.executeUpdate("DELETE FROM city WHERE id = 1")
      try reader.begin(.deferred)
      #expect(try reader.cityCount() == 3)
      try writer.executeUpdate("DELETE FROM city WHERE id = 2")

      let counts = try writer.checkpoint(.passive)
      #expect(counts.checkpointed < counts.logFrames)
      writer.busyTimeout = .zero
      let error = #expect(throws: DatabaseError.self) { try writer.checkpoint(.full) }
      #expect(error?.isBusy == true)

      try reader.commit()
      let all = try writer.checkpoint(.full)
      #expect(all.checkpointed == all.logFrames)
    }
  }

  @Test("Inside of a transaction that has written a checkpoint throws")
  func transaction() throws {
    try withTemporaryFolder { folder in
      let db = try Database(path: folder + "/cities.db")
      try createCities(in: db)
      try db.begin()
      try db.executeUpdate("DELETE FROM city")
      let error = #expect(throws: DatabaseError.self) { try db.checkpoint() }
      #expect(error?.code == .locked)
      try db.rollback()
      try db.checkpoint()
    }
  }

  @Test("A closed database throws")
  func closed() throws {
    let db = try Database()
    try db.close()
    let error = #expect(throws: DatabaseError.self) { try db.checkpoint() }
    #expect(error?.code == .misuse)
  }
}
