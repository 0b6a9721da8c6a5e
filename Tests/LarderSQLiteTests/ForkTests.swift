import Foundation
import LarderSQLite
import Testing

@Suite("After a fork", .serialized)
struct ForkTests {
  let folder: ScratchFolder
  let db: Database

  init() throws {
    folder = try ScratchFolder()
    db = try Database(path: folder.file("cities.db"))
    try db.executeStatements(
      "CREATE TABLE city (name); INSERT INTO city VALUES ('Oslo'), ('Bergen')")
  }

  private static func refuses(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch let error as DatabaseError {
      return error.code == .misuse && error.message.contains("fork")
    } catch {
      return false
    }
  }

  @Test("The parent's connection throws in the child, whatever is called")
  func connection() throws {
    let rows = try db.executeQuery("SELECT name FROM city")
    #expect(try rows.next())
    let statement = try db.prepare("SELECT name FROM city")
    let calls: [() throws -> Void] = [
      { try db.executeUpdate("DELETE FROM city") },
      { _ = try db.executeQuery("SELECT name FROM city") },
      { try db.executeStatements("DELETE FROM city") },
      { _ = try db.value("SELECT 1", as: Int.self) },
      { _ = try db.prepare("SELECT 1") },
      { try db.validate("SELECT 1") },
      { try db.begin() }, { try db.commit() }, { try db.inTransaction { _ in } },
      { try db.inSavepoint { _ in } }, { try db.savepoint("harvest") },
      { try db.close() }, { try db.checkpoint() }, { _ = try db.effectiveSettings },
      { try db.createFunction("f", argumentCount: 0) { _ in 1 } },
      { _ = try rows.next() }, { _ = try statement.step() }, { try statement.execute() },
    ]
    // In this process none of them does: the closure that is checked can fail.
    #expect(!Self.refuses { _ = try db.value("SELECT 1", as: Int.self) })
    let refused = try ChildProcess.run { Int32(calls.count { Self.refuses($0) }) }
    #expect(refused == .exited(Int32(calls.count)))
    #expect(try rows.next())
    #expect(try rows[0] == "Bergen")
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 2)
  }

  @Test("Properties have neutral values in the child")
  func properties() throws {
    try db.begin()
    try db.executeUpdate("INSERT INTO city VALUES ('Bodø')")
    let wrong = try ChildProcess.run {
      var wrong: Int32 = 0
      if db.isInTransaction { wrong += 1 }
      if db.changes != 0 || db.totalChanges != 0 || db.lastInsertRowID != 0 { wrong += 2 }
      if db.isReadOnly || db.isGoodConnection { wrong += 4 }
      if db.limit(.variables) != 0 { wrong += 8 }
      return wrong
    }
    #expect(wrong == .exited(0))
    try db.commit()
  }

  @Test("Letting go of the connection in the child harms neither the parent's locks nor its log")
  func release() throws {
    try db.executeUpdate("INSERT INTO city VALUES ('Bodø')")
    try db.begin()
    var own: Database? = try Database(path: folder.file("cities.db"))
    let end = try ChildProcess.run {
      own = nil
      return 7
    }
    #expect(end == .exited(7))
    own?.busyTimeout = .zero
    #expect(throws: DatabaseError.self) { try own?.executeUpdate("DELETE FROM city") }
    try db.commit()
    #expect(folder.exists("cities.db-wal"))
    #expect(try own?.value("SELECT count(*) FROM city", as: Int.self) == 3)
    #expect(try own?.value("PRAGMA integrity_check", as: String.self) == "ok")
  }

  @Test("The child opens a connection of its own and writes")
  func ownConnection() throws {
    let path = folder.file("cities.db")
    let code = try ChildProcess.run {
      guard let own = try? Database(path: path),
        (try? own.executeUpdate("INSERT INTO city VALUES ('Tromsø')")) == 1
      else { return 1 }
      return (try? own.close()) == nil ? 2 : 0
    }
    #expect(code == .exited(0))
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 3)
  }

  @Test("Nothing is ever printed, whatever goes wrong")
  func silence() throws {
    let output = folder.file("output")
    let code = try ChildProcess.run {
      let file = open(output, O_CREAT | O_WRONLY, 0o600)
      guard file >= 0, dup2(file, 1) == 1, dup2(file, 2) == 2 else { return 1 }
      guard let own = try? Database() else { return 2 }
      _ = try? own.executeUpdate("CREATE TABLE city (name UNIQUE)")
      for _ in 0..<2 { _ = try? own.executeUpdate("INSERT INTO city VALUES ('Oslo')") }
      _ = try? own.executeUpdate("nonsense")
      _ = try? own.executeUpdate("SELECT ?", Double.nan)
      _ = try? own.value("SELECT 'Oslo'", as: Int.self)
      _ = try? Database(path: "/proc/cities.db")
      try? own.close()
      _ = try? own.executeUpdate("DELETE FROM city")
      fflush(nil)
      return 0
    }
    #expect(code == .exited(0))
    #expect(try Data(contentsOf: URL(fileURLWithPath: output)).isEmpty)
  }
}
