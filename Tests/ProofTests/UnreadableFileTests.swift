import CFaultInjection
import LarderSQLite
import TestSupport
import Testing

@Suite("Files with read errors", .serialized)
struct UnreadableFileTests {
  @Test("Opening an untrusted file with a failing read throws an I/O error, not a corruption error")
  func untrusted() throws {
    #expect(fault_vfs_install(0) == 0)
    let folder = try ScratchFolder()
    let path = folder.file("cities.db")
    let db = try Database(path: path)
    try db.executeStatements("CREATE TABLE city (name TEXT); INSERT INTO city VALUES ('Narvik')")
    try db.executeUpdate("PRAGMA journal_mode = delete")
    try db.close()
    var configuration = Configuration(profile: .untrustedFile)
    configuration.vfs = "faulty"
    defer { fault_disarm() }
    var point = 0
    repeat {
      point += 1
      fault_arm(UInt32(FAULT_READ), point, 1, 0)
      do {
        try Database(path: path, configuration: configuration).close()
        #expect(fault_fired() == 0)
      } catch let error as DatabaseError {
        #expect(error.code == .ioError, "\(error)")
      }
    } while fault_fired() > 0
    #expect(point > 2)
  }
}
