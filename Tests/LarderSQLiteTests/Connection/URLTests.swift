import Foundation
import LarderSQLite
import TestSupport
import Testing

@Suite("Opening at a file URL")
struct URLTests {
  @Test("Databases, queues and pools can be opened by a file URL and refuse other URLs")
  func opening() throws {
    let folder = try ScratchFolder()
    let url = URL(fileURLWithPath: folder.file("cities of 北京.db"))
    try Database(url: url).executeUpdate("CREATE TABLE city (name TEXT)")
    let queue = try DatabaseQueue(url: url)
    #expect(try queue.read { try $0.tableExists("city") })
    #expect(queue.path == url.path)
    let pool = try DatabasePool(url: url)
    #expect(try pool.read { try $0.tableExists("city") })
    #expect(pool.path == url.path)
    let elsewhere = try #require(URL(string: "https://example.org/cities.db"))
    for open in [
      { _ = try Database(url: elsewhere) }, { _ = try DatabaseQueue(url: elsewhere) },
      { _ = try DatabasePool(url: elsewhere) },
    ] as [() throws -> Void] {
      let error = #expect(throws: DatabaseError.self) { try open() }
      #expect(error?.code == .cannotOpen)
    }
  }

  @Test("`disableMemoryStatistics()` throws while a database is open")
  func memoryStatistics() throws {
    let db = try Database()
    #expect(throws: DatabaseError.self) { try SQLiteLibrary.disableMemoryStatistics() }
    #expect(SQLiteLibrary.memoryUsed > 0)
    try db.close()
  }
}
