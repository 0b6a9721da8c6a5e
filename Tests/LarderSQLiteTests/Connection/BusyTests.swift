import Dispatch
import LarderSQLite
import TestSupport
import Testing

@Suite("Locks of other connections")
struct BusyTests {
  /// Two connections to one file of four cities, with a rollback journal, which locks the whole
  /// file.
  private func withTwoConnections(
    busyTimeout: Duration = .zero, _ body: (Database, Database) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      var configuration = Configuration()
      configuration.journalMode = .delete
      configuration.busyTimeout = busyTimeout
      let first = try Database(path: folder + "/cities.db", configuration: configuration)
      try createCities(in: first)
      let second = try Database(path: folder + "/cities.db", configuration: configuration)
      try body(first, second)
      try first.close()
      try second.close()
    }
  }

  @Test(
    "With a rollback journal, a write throws `.busy` while another connection reads, and works afterwards"
  )
  func readerBlocksWriter() throws {
    try withTwoConnections { reader, writer in
      let rows = try reader.executeQuery("SELECT name FROM city")
      #expect(try rows.next())
      let error = #expect(throws: DatabaseError.self) {
        try writer.executeUpdate("INSERT INTO city (name) VALUES ('Tromsø')")
      }
      #expect(error?.code == .busy)
      #expect(error?.isBusy == true)
      #expect(!writer.isInTransaction)
      rows.close()
      #expect(try writer.executeUpdate("INSERT INTO city (name) VALUES ('Tromsø')") == 1)
      #expect(try reader.cityCount() == 5)
    }
  }

  @Test("The first `next()` on a locked file throws `.busy` instead of ending the rows")
  func firstStep() throws {
    try withTwoConnections { writer, reader in
      let rows = try reader.executeQuery("SELECT name FROM city")
      try writer.begin(.exclusive)
      let error = #expect(throws: DatabaseError.self) { try rows.next() }
      #expect(error?.code == .busy)
      #expect(error?.code.rawValue == 5)
      try writer.commit()
      #expect(try reader.cityCount() == 4)
    }
  }

  @Test("A call waits for a lock for the busy timeout, then throws")
  func waits() throws {
    try withTwoConnections(busyTimeout: .milliseconds(80)) { first, second in
      try first.begin()
      let start = ContinuousClock.now
      #expect(throws: DatabaseError.self) { try second.begin() }
      #expect(ContinuousClock.now - start >= .milliseconds(80))
      try first.rollback()
      try second.begin()
    }
  }

  @Test("With a busy timeout of zero, a call that needs a locked file throws at once")
  func zero() throws {
    try withTwoConnections(busyTimeout: .seconds(60)) { first, second in
      try first.begin()
      second.busyTimeout = .zero
      let start = ContinuousClock.now
      #expect(throws: DatabaseError.self) { try second.begin() }
      #expect(ContinuousClock.now - start < .seconds(30))
    }
  }

  @Test("A call waits for a lock that is released before the busy timeout, and then succeeds")
  func letGo() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.db"
      let db = try Database(path: path)
      try createCities(in: db)
      db.busyTimeout = .seconds(60)
      let isLocked = DispatchSemaphore(value: 0)
      let isWanted = DispatchSemaphore(value: 0)
      let hasEnded = DispatchSemaphore(value: 0)
      DispatchQueue.global().async {
        defer { hasEnded.signal() }
        do {
          let other = try Database(path: path)
          try other.begin()
          try other.executeUpdate("DELETE FROM city WHERE id = 1")
          isLocked.signal()
          isWanted.wait()
          try other.commit()
        } catch {
          Issue.record(error)
          isLocked.signal()
        }
      }
      isLocked.wait()
      isWanted.signal()
      #expect(try db.inTransaction { try $0.cityCount() } == 3)
      hasEnded.wait()
    }
  }

  @Test("`busyTimeout` can be read and changed, also on a closed database")
  func property() throws {
    var configuration = Configuration()
    #expect(configuration.busyTimeout > .zero)
    configuration.busyTimeout = .seconds(2)
    let db = try Database(configuration: configuration)
    #expect(db.busyTimeout == .seconds(2))
    db.busyTimeout = .milliseconds(1500)
    #expect(db.busyTimeout == .milliseconds(1500))
    db.busyTimeout = .zero
    #expect(db.busyTimeout == .zero)
    try db.close()
    db.busyTimeout = .seconds(5)
    #expect(db.busyTimeout == .seconds(5))
  }

  @Test("With a write-ahead log, a reader keeps its snapshot while another connection writes")
  func snapshot() throws {
    try withTemporaryFolder { folder in
      let writer = try Database(path: folder + "/cities.db")
      try createCities(in: writer)
      let reader = try Database(path: folder + "/cities.db")
      try reader.begin(.deferred)
      #expect(try reader.cityCount() == 4)
      #expect(try writer.executeUpdate("DELETE FROM city WHERE id = 1") == 1)
      #expect(try reader.cityCount() == 4)
      try reader.commit()
      #expect(try reader.cityCount() == 3)
    }
  }

  @Test("An interrupt ends a statement's wait for a lock")
  func interrupt() throws {
    try withTwoConnections(busyTimeout: .seconds(60)) { first, second in
      try first.begin()
      let handle = second.interruptHandle
      let hasEnded = DispatchSemaphore(value: 0)
      let hasStopped = DispatchSemaphore(value: 0)
      // The interrupt is repeated, since one before the wait begins doesn't end it. The pauses let the
      // wait begin.
      DispatchQueue.global().async {
        while hasEnded.wait(timeout: .now() + .milliseconds(2)) == .timedOut { handle.interrupt() }
        hasStopped.signal()
      }
      let start = ContinuousClock.now
      let error = #expect(throws: DatabaseError.self) { try second.begin() }
      hasEnded.signal()
      hasStopped.wait()
      #expect(error?.code == .interrupt)
      #expect(ContinuousClock.now - start < .seconds(30))
      try first.rollback()
      try second.begin()
    }
  }

  @Test(
    "Opening waits for the busy timeout when another connection prevents a change of the journal mode"
  )
  func journalMode() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.db"
      let first = try Database(path: path)
      try createCities(in: first)
      var configuration = Configuration()
      configuration.journalMode = .delete
      configuration.busyTimeout = .milliseconds(30)
      let start = ContinuousClock.now
      let error = #expect(throws: DatabaseError.self) {
        try Database(path: path, configuration: configuration)
      }
      #expect(error?.isBusy == true)
      #expect(ContinuousClock.now - start >= .milliseconds(30))
      try first.close()
      let second = try Database(path: path, configuration: configuration)
      #expect(try second.value("PRAGMA journal_mode", as: String.self) == "delete")
    }
  }
}
