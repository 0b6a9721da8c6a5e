import FoundationEssentials
import LarderSQLite
import Synchronization
import Testing

/// Collations that are created when a statement needs them.
@Suite struct NeededCollationTests {
  private static func byLength(_ left: String, _ right: String) -> ComparisonResult {
    left.count < right.count
      ? .orderedAscending : left.count > right.count ? .orderedDescending : .orderedSame
  }

  @Test("The closure for missing collations is called once for the name that a statement uses")
  func made() throws {
    let names = Mutex<[String]>([])
    let db = try Database()
    try db.createCollation { name in
      names.withLock { $0.append(name) }
      return name == "By_Length" ? Self.byLength : nil
    }
    try db.executeStatements(
      "CREATE TABLE word (text TEXT COLLATE By_Length); INSERT INTO word VALUES ('ccc'), ('bb'), ('a')"
    )
    for _ in 0..<3 {
      #expect(
        try db.executeQuery("SELECT text FROM word ORDER BY text").map { try $0.get(at: 0) }
          == ["a", "bb", "ccc"])
    }
    #expect(names.withLock { $0 } == ["By_Length"])
  }

  @Test(
    "A collation for which the closure returns `nil` makes the statement throw an error with its name"
  )
  func unknown() throws {
    let db = try Database()
    try db.createCollation { _ in nil }
    let error = #expect(throws: DatabaseError.self) {
      try db.executeQuery(#"SELECT 'a' < 'b' COLLATE "o'brien \#u{1F642}""#)
    }
    #expect(error?.message == "no such collation sequence: o'brien \u{1F642}")
  }

  @Test("A new closure for missing collations replaces and releases the old one")
  func replaced() throws {
    final class Token: Sendable {}
    var token: Token? = Token()
    weak let weakToken = token
    let db = try Database()
    try db.createCollation { [token] _ in
      _ = token
      return nil
    }
    token = nil
    #expect(weakToken != nil)
    try db.createCollation { _ in Self.byLength }
    #expect(weakToken == nil)
    #expect(try db.value("SELECT 'b' < 'aa' COLLATE x", as: Bool.self) == true)
  }

  @Test("`prepareDatabase` can set a closure for missing collations on each connection of a pool")
  func pool() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "collations-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = Configuration()
    configuration.prepareDatabase = { db in try db.createCollation { _ in Self.byLength } }
    let pool = try DatabasePool(
      path: folder.appending(path: "a.db").path, configuration: configuration)
    try pool.inTransaction { db in
      try db.executeStatements(
        "CREATE TABLE word (text TEXT COLLATE len); CREATE INDEX i ON word (text); INSERT INTO word VALUES ('bb'), ('a')"
      )
    }
    #expect(
      try pool.read { try $0.value("SELECT text FROM word ORDER BY text", as: String.self) } == "a")
    try pool.close()
  }

  @Test(
    "The closure for missing collations can't use its database, and can't be set on a closed one")
  func misuse() throws {
    let db = try Database()
    let errors = Mutex<[String]>([])
    nonisolated(unsafe) let inner = db
    try db.createCollation { _ in
      do {
        try inner.executeUpdate("CREATE TABLE a (b)")
      } catch {
        errors.withLock { $0.append("\(error)") }
      }
      return Self.byLength
    }
    #expect(try db.value("SELECT 'b' < 'aa' COLLATE x", as: Bool.self) == true)
    #expect(errors.withLock { $0 }.count == 1)
    #expect(try !db.tableExists("a"))
    try db.close()
    #expect(throws: DatabaseError.self) { try db.createCollation { _ in nil } }
  }
}
