import LarderSQLite
import TestSupport
import Testing

@Suite("`userVersion` and `applicationID`")
struct FileHeaderTests {
  @Test(
    "`userVersion` is 0 in a new database, and stores any 32-bit number",
    arguments: [
      12, 0, -1, Int32.max, Int32.min,
    ])
  func userVersion(version: Int32) throws {
    let db = try Database()
    #expect(try db.userVersion == 0)
    try db.setUserVersion(version)
    #expect(try db.userVersion == version)
  }

  @Test(
    "`applicationID` is 0 in a new database, and stores any 32-bit number",
    arguments: [
      // The second spells "Lard".
      1_234_567, 0x4C61_7264, Int32.max, Int32.min,
    ])
  func applicationID(id: Int32) throws {
    let db = try Database()
    #expect(try db.applicationID == 0)
    try db.setApplicationID(id)
    #expect(try db.applicationID == id)
    #expect(try db.userVersion == 0)
  }

  @Test("`userVersion` and `applicationID` are kept in the file")
  func file() throws {
    try withTemporaryFolder { folder in
      let first = try Database(path: folder + "/cities.db")
      try first.setUserVersion(7)
      try first.setApplicationID(0x4C61_7264)
      try first.close()
      let second = try Database(path: folder + "/cities.db")
      #expect(try second.userVersion == 7)
      #expect(try second.applicationID == 0x4C61_7264)
    }
  }

  @Test("`userVersion` and `applicationID` are rolled back with their transaction")
  func rollback() throws {
    let db = try Database()
    try db.setUserVersion(1)
    try db.inTransaction { db in
      try db.setUserVersion(2)
      try db.setApplicationID(3)
      db.setRollbackOnly()
    }
    #expect(try db.userVersion == 1)
    #expect(try db.applicationID == 0)
  }

  @Test("`userVersion` and `applicationID` throw on a closed database")
  func closed() throws {
    let db = try Database()
    try db.close()
    #expect(throws: DatabaseError.self) { try db.userVersion }
    #expect(throws: DatabaseError.self) { try db.setUserVersion(1) }
    #expect(throws: DatabaseError.self) { try db.applicationID }
    #expect(throws: DatabaseError.self) { try db.setApplicationID(1) }
  }
}
