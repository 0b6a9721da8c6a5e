import FoundationEssentials
import TestSupport
import Testing

@testable import LarderSQLite

@Suite("Checkpoints")
struct CheckpointTests {
  private func logSize(_ path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int)
  }

  @Test(
    "A checkpoint without a write-ahead log returns -1 for both counts",
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

  @Test("A checkpoint moves all frames of the log when there are no readers")
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

  @Test("A truncating checkpoint leaves the log with 0 bytes")
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

  @Test("With a reader's older snapshot a passive checkpoint moves some frames, a full one is busy")
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

  @Test("A checkpoint within a transaction that has written throws SQLITE_LOCKED")
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

  @Test("A checkpoint of a closed database throws")
  func closed() throws {
    let db = try Database()
    try db.close()
    let error = #expect(throws: DatabaseError.self) { try db.checkpoint() }
    #expect(error?.code == .misuse)
  }

  @Test("A LogRestartGuard keeps the log from restarting while another connection writes")
  func guarded() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.db"
      let (db, other) = (try Database(path: path), try Database(path: path))
      try createCities(in: db)
      let handle = try #require(db.connection.handle)
      func begunAnew() throws -> Bool {
        let before = try db.checkpoint().logFrames
        // The value must change: SQLite doesn't write unchanged rows.
        try other.executeUpdate("UPDATE city SET area = area + 1")
        return try other.checkpoint().logFrames < before
      }
      #expect(try begunAnew())
      let restart = try LogRestartGuard(beside: db.connection, handle, "main")
      try other.executeUpdate("UPDATE city SET area = 2")
      #expect(restart.begin() == 0)
      // The read mark is above 0: frames were left to be moved.
      #expect(try !begunAnew())
      #expect(try !begunAnew())
      restart.end()
      _ = try db.checkpoint()
      #expect(try begunAnew())
      // Read mark 0: the log may restart, but then no checkpoint moves any frames.
      _ = try db.checkpoint(.full)
      #expect(restart.begin() == 0)
      try other.executeUpdate("UPDATE city SET area = 3")
      let (frames, moved) = try other.checkpoint()
      #expect(frames > 0 && moved == 0)
      restart.end()
      #expect(try other.checkpoint().checkpointed == frames)
    }
  }

  @Test(
    "PRAGMA wal_checkpoint returns the row busy, log, checkpointed as SQLite does",
    arguments: ["", "(PASSIVE)", "(FULL)", "= restart", "(truncate)", "(nonsense)"])
  func pragma(argument: String) throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.db"
      let (db, shell) = (try Database(path: path), try Database(path: path))
      try createCities(in: db)
      for schema in ["", "main."] {
        try shell.executeUpdate("UPDATE city SET area = 1")
        let rows = try db.executeQuery(SQL(raw: "PRAGMA \(schema)wal_checkpoint\(argument)"))
        #expect(rows.columnNames == ["busy", "log", "checkpointed"])
        #expect(try rows.next())
        #expect(try rows.get("busy", as: Int.self) == 0)
        let isCut = argument == "(truncate)"
        #expect(try rows.get("log", as: Int.self) > 0 || isCut)
        #expect(
          try rows.get("log", as: Int.self) == rows.get("checkpointed", as: Int.self))
        #expect(try !rows.next())
      }
      // A reader holds a snapshot.
      let reader = try shell.executeQuery("SELECT name FROM city")
      #expect(try reader.next())
      db.busyTimeout = .zero
      try db.executeUpdate("UPDATE city SET area = 2")
      let isPassive = ["", "(PASSIVE)", "(nonsense)"].contains(argument)
      let busy = try db.value(SQL(raw: "PRAGMA wal_checkpoint\(argument)"), as: Int.self)
      #expect(busy == (isPassive ? 0 : 1))
    }
  }

  @Test("A checkpoint covers attached databases, and one can be given alone by its name")
  func attached() throws {
    try withTemporaryFolder { folder in
      let db = try Database(path: folder + "/cities.db")
      try createCities(in: db)
      try db.executeUpdate("ATTACH ? AS rivers", folder + "/rivers.db")
      _ = try db.value("PRAGMA rivers.journal_mode = wal", as: String.self)
      try db.executeUpdate("CREATE TABLE rivers.river (name)")
      let moved = try db.value("PRAGMA rivers.wal_checkpoint(TRUNCATE)", as: Int.self)
      #expect(moved == 0)
      #expect(try logSize(folder + "/rivers.db") == 0)
      #expect(try logSize(folder + "/cities.db") > 0)
      try db.executeUpdate("INSERT INTO rivers.river VALUES ('Niger')")
      try db.checkpoint(.truncate)
      #expect(try logSize(folder + "/rivers.db") == 0)
      #expect(try logSize(folder + "/cities.db") == 0)
    }
  }

  @Test("A connection with exclusive locking makes its own explicit and automatic checkpoints")
  func exclusive() throws {
    try withTemporaryFolder { folder in
      let db = try Database(path: folder + "/cities.db")
      _ = try db.value("PRAGMA locking_mode = exclusive", as: String.self)
      try createCities(in: db)
      let (frames, moved) = try db.checkpoint()
      #expect(frames > 0 && moved == frames)
      try db.executeUpdate("PRAGMA wal_autocheckpoint = 1")
      try db.executeUpdate("UPDATE city SET area = 1")
      #expect(try db.checkpoint().logFrames == 1)
    }
  }

  @Test("PRAGMA wal_autocheckpoint turns a connection's automatic checkpoints on and off")
  func automatic() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.db"
      let db = try Database(path: path)
      try createCities(in: db)
      func grows() throws -> Bool {
        for _ in 0..<5 { try db.executeUpdate("UPDATE city SET area = area + 1") }
        return try db.checkpoint().logFrames >= 5
      }
      try db.checkpoint(.restart)
      #expect(try grows())
      try db.executeUpdate("PRAGMA wal_autocheckpoint = 1")
      #expect(try !grows())
      try db.executeUpdate("PRAGMA wal_autocheckpoint = 0")
      #expect(try grows())
    }
  }
}
