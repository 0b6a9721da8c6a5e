import LarderSQLite
import TestSupport
import Testing

@Suite("The numbers in a file's header")
struct FileHeaderTests {
  @Test(
    "The user version is 0 at first, and keeps every 32-bit number",
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
    "The application id is 0 at first, and keeps every 32-bit number",
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

  @Test("Both stay in the file")
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

  @Test("Both are undone with their transaction")
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

  @Test("On a closed database both throw")
  func closed() throws {
    let db = try Database()
    try db.close()
    #expect(throws: DatabaseError.self) { try db.userVersion }
    #expect(throws: DatabaseError.self) { try db.setUserVersion(1) }
    #expect(throws: DatabaseError.self) { try db.applicationID }
    #expect(throws: DatabaseError.self) { try db.setApplicationID(1) }
  }
}
