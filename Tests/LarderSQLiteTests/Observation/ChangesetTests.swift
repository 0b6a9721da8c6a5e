import TestSupport
import Testing

@testable import LarderChangeset
@testable import LarderSQLite

@Suite("Changesets")
struct ChangesetTests {
  private func edited(_ db: Database, isPatchset: Bool = false) throws -> Changeset {
    try db.record("city", isPatchset: isPatchset) { db in
      try db.executeUpdate("UPDATE city SET population = 5 WHERE id = 1")
      try db.executeUpdate("UPDATE city SET area = 6 WHERE id = 1")
      try db.executeUpdate("INSERT INTO city VALUES (7, 'Rome', 1, 2)")
      try db.executeUpdate("DELETE FROM city WHERE id = 2")
    }
  }

  private func rows(_ db: Database) throws -> [[DatabaseValue]] {
    try db.executeQuery("SELECT * FROM city ORDER BY id").map { row in
      try (0..<4).map { try row.get(at: $0) }
    }
  }

  @Test(
    "A recorded changeset makes another database the same, and its inverse undoes it",
    .needsSessions,
    arguments: [false, true])
  func applied(isPatchset: Bool) throws {
    let db = try makeCities()
    let other = try makeCities()
    let before = try rows(db)
    let changeset = try edited(db, isPatchset: isPatchset)
    try Changeset(data: changeset.data).apply(to: other)
    #expect(try rows(other) == rows(db) && rows(db) != before)
    if isPatchset {
      #expect(throws: DatabaseError.self) { try changeset.inverted() }
    } else {
      try changeset.inverted().apply(to: other)
      #expect(try rows(other) == before)
      #expect(try changeset.combined(with: changeset.inverted()).data.isEmpty)
    }
  }

  @Test("`forEach` gives each row's operation and its recorded old and new values", .needsSessions)
  func rowsOfChangeset() throws {
    let changeset = try edited(makeCities())
    var found: [Changeset.Row] = []
    try changeset.forEach { found.append($0) }
    found.sort { "\($0.kind)" < "\($1.kind)" }
    #expect(found.map(\.kind) == [.delete, .insert, .update])
    #expect(found.allSatisfy { $0.table == "city" && $0.primaryKey == [0] })
    #expect(found[0].old == [2, "Oslo", 709037, 454.1] && found[0].new == [nil, nil, nil, nil])
    #expect(found[1].new == [7, "Rome", 1, 2.0])
    #expect(found[2].old == [1, nil, 291940, 464.7] && found[2].new == [nil, nil, 5, 6.0])
  }

  @Test(
    "Conflicts are decided by a closure: omit, replace or abort, and its misuse throws",
    .needsSessions)
  func conflicts() throws {
    let changeset = try edited(makeCities())
    func other() throws -> Database {
      let other = try makeCities()
      try other.executeUpdate("UPDATE city SET population = 77 WHERE id = 1")
      try other.executeUpdate("INSERT INTO city VALUES (7, 'Roma', 0, 0)")
      try other.executeUpdate("DELETE FROM city WHERE id = 2")
      return other
    }
    let omitted = try other()
    let before = try rows(omitted)
    var kinds: Set<Changeset.Conflict.Kind> = []
    var found: [[DatabaseValue]] = []
    try changeset.apply(to: omitted) { conflict in
      kinds.insert(conflict.kind)
      if let row = conflict.found { found.append(row) }
      return .omit
    }
    #expect(kinds == [.data, .notFound, .conflict])
    #expect(Set(found) == [[1, "Bergen", 77, 464.7], [7, "Roma", 0, 0.0]])
    #expect(try rows(omitted) == before)
    let replaced = try other()
    try changeset.apply(to: replaced) { $0.kind == .notFound ? .omit : .replace }
    let expected = try makeCities()
    _ = try edited(expected)
    #expect(try rows(replaced) == rows(expected))
    let aborted = try other()
    let error = #expect(throws: DatabaseError.self) { try changeset.apply(to: aborted) }
    #expect(error?.code == .abort)
    #expect(try rows(aborted) == before)
    let misuse = #expect(throws: DatabaseError.self) {
      try changeset.apply(to: aborted) { $0.kind == .notFound ? .replace : .omit }
    }
    #expect(misuse?.code == .misuse)
    #expect(throws: CancellationError.self) {
      try changeset.apply(to: aborted) { _ in throw CancellationError() }
    }
    let using = #expect(throws: DatabaseError.self) {
      try changeset.apply(to: aborted) { _ in
        try aborted.executeUpdate("DELETE FROM city")
        return .omit
      }
    }
    #expect(using?.code == .misuse)
    #expect(try rows(aborted) == before)
  }

  @Test("A changeset that breaks a foreign key is a conflict of kind `foreignKey`", .needsSessions)
  func foreignKeys() throws {
    func open() throws -> Database {
      let db = try makeCities()
      try db.executeStatements(
        "CREATE TABLE p (id INTEGER PRIMARY KEY, city REFERENCES city); INSERT INTO p VALUES (1, 1)"
      )
      return db
    }
    let db = try open()
    try db.executeUpdate("DELETE FROM p")
    let changeset = try db.record { try $0.executeUpdate("DELETE FROM city WHERE id = 1") }
    let other = try open()
    var kinds: [Changeset.Conflict.Kind] = []
    #expect(throws: DatabaseError.self) {
      try changeset.apply(to: other) { conflict in
        kinds.append(conflict.kind)
        return .abort
      }
    }
    #expect(kinds == [.foreignKey])
    #expect(try other.cityCount() == 4)
  }

  /// Whether a call throws. Expects the error to be one for malformed bytes, or for changes that the database
  /// can't take.
  static func isRefused(_ call: () throws -> Void) -> Bool {
    do {
      try call()
      return false
    } catch let error as DatabaseError {
      #expect(
        [.corrupt, .misuse, .schema, .mismatch, .constraint].contains(error.code), "\(error)")
    } catch {
      #expect(error is ConversionError, "\(error)")
    }
    return true
  }

  @Test(
    "Truncated changesets throw, and these and randomly altered ones leave the database unchanged",
    .needsSessions)
  func broken() throws {
    let db = try makeCities()
    let before = try rows(db)
    let good = try edited(makeCities()).data
    var generator = SeededGenerator(seed: 5)
    let truncated = (1..<good.count).map { Array(good.prefix($0)) }
    let whole = try truncated.filter { bytes in
      do {
        try Changeset(data: bytes).forEach { _ in }
        return true
      } catch let error as DatabaseError where error.code == .corrupt {
        return false
      }
    }
    // One ends after the table, the others after the first and the second of three changes.
    #expect(whole.count == 3)
    var altered: [[UInt8]] = []
    for _ in 0..<500 {
      var bytes = good
      for _ in 0...Int.random(in: 0..<3, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
          in: 0...255, using: &generator)
      }
      altered.append(bytes)
    }
    /// How many of four calls with some bytes throw.
    func refusals(_ bytes: [UInt8]) -> Int {
      let changeset = Changeset(data: bytes)
      let calls: [() throws -> Void] = [
        { try changeset.forEach { _ in } }, { _ = try changeset.inverted() },
        { _ = try changeset.combined(with: Changeset(data: good)) },
        {
          try db.inSavepoint { db in
            _ = try changeset.apply(to: db) { _ in .omit }
            db.setRollbackOnly()
          }
        },
      ]
      return calls.count { Self.isRefused($0) }
    }
    for bytes in truncated {
      #expect(refusals(bytes) == (whole.contains(bytes) ? 0 : 4))
      #expect(try rows(db) == before)
    }
    // Some of these are valid changesets by chance.
    var refused = 0
    for bytes in altered {
      refused += refusals(bytes)
      #expect(try rows(db) == before)
    }
    #expect(refused > 0)
  }

  @Test(
    "Changes that are rolled back aren't recorded, and a nested recording throws", .needsSessions)
  func undone() throws {
    let db = try makeCities()
    let changeset = try db.record("city") { db in
      try? db.inSavepoint { db in
        try db.executeUpdate("DELETE FROM city")
        throw CancellationError()
      }
    }
    #expect(changeset.data.isEmpty)
    #expect(throws: CancellationError.self) { try db.record { _ in throw CancellationError() } }
    let error = #expect(throws: DatabaseError.self) {
      try db.record { db in _ = try db.record { _ in } }
    }
    #expect(error?.code == .misuse)
    #expect(throws: DatabaseError.self) { try db.record("none") { _ in } }
    // A DELETE that was compiled before the recording is recorded too.
    try db.inTransaction { db in
      try db.executeUpdate("DELETE FROM city")
      db.setRollbackOnly()
    }
    var count = 0
    try db.record { try $0.executeUpdate("DELETE FROM city") }.forEach { _ in count += 1 }
    #expect(count == 4)
  }

  @Test(
    "Observed values and feeds follow while a changeset is applied or recorded", .needsSessions,
    .promptly)
  func observed() async throws {
    let queue = try DatabaseQueue()
    try await queue.inDatabase { try createCities(in: $0) }
    let changeset = try edited(makeCities())
    let values = ObservedReads(queue) {
      try $0.value("SELECT population FROM city WHERE id = 1", as: Int.self)
    }
    let feed = Followed(queue.changes(of: ["city"]))
    #expect(try await values.next() == 291_940)
    try await feed.begin()
    try await queue.inDatabase { try changeset.apply(to: $0) }
    #expect(try await values.next() == 5)
    #expect(try await feed.next()?.changes.map(\.kind).count == 3)
    try await queue.inTransaction { db in
      try db.executeUpdate("UPDATE city SET area = 9 WHERE id = 7")
      _ = try db.record("city") { try $0.executeUpdate("UPDATE city SET population = 8") }
      try db.executeUpdate("UPDATE city SET area = 10 WHERE id = 7")
    }
    #expect(try await values.next() == 8)
    // The feed lacks the recorded part, so it reports the whole transaction as unknown.
    let unknown = try await #require(feed.next())
    #expect(unknown.isFromElsewhere && unknown.changes.isEmpty)
    try await queue.inDatabase { db in try db.executeUpdate("DELETE FROM city WHERE id = 7") }
    #expect(try await feed.next()?.changes.count == 1)
  }

  @Test(
    "A changeset that doesn't fit the schema, or is applied in a read scope, throws", .needsSessions
  )
  func unfit() throws {
    let db = try makeCities()
    let changeset = try db.record("city") { try $0.executeUpdate("DELETE FROM city WHERE id = 1") }
    let queue = try DatabaseQueue()
    try queue.inDatabase { try createCities(in: $0) }
    let inReadScope = #expect(throws: DatabaseError.self) {
      try queue.read { try changeset.apply(to: $0) }
    }
    #expect(inReadScope?.code == .readOnly)
    for declaration in ["id, name, population, area", "id INTEGER PRIMARY KEY, name"] {
      let other = try Database()
      try other.executeUpdate(SQL(raw: "CREATE TABLE city (\(declaration))"))
      let error = #expect(throws: DatabaseError.self) { try changeset.apply(to: other) }
      #expect(error?.code == .schema && error?.message.contains("city") == true)
    }
    try queue.inDatabase { db in
      try db.executeStatements(
        "CREATE TABLE p (city REFERENCES city (id)); INSERT INTO p VALUES (1)")
      let error = #expect(throws: DatabaseError.self) { try changeset.apply(to: db) { _ in .omit } }
      #expect(error?.extendedCode == .constraintForeignKey)
      #expect(try db.cityCount() == 4)
    }
  }

  @Test(
    "Recording a table with generated columns throws an error that names it, and runs nothing",
    .needsSessions
  )
  func generatedColumns() throws {
    let db = try makeCities()
    try db.executeUpdate("CREATE TABLE g (a INTEGER PRIMARY KEY, b AS (a + 1) STORED)")
    for tables in [["G"], []] {
      let error = #expect(throws: DatabaseError.self) {
        try db.record(tables: tables, isPatchset: false) {
          try $0.executeUpdate("DELETE FROM city")
        }
      }
      #expect(error?.message.contains(": g") == true)
    }
    #expect(try db.cityCount() == 4)
    let changeset = try db.record("city") { try $0.executeUpdate("DELETE FROM city") }
    #expect(!changeset.data.isEmpty)
  }

  @Test("Sessions and the preupdate hook are found exactly if SQLite was built with them")
  func found() {
    #expect(SessionExtension(OptionalFunctions { _ in nil }) == nil)
    let options = SQLiteLibrary.compileOptions
    #expect((SessionExtension.found != nil) == options.contains("ENABLE_SESSION"))
    #expect((PreupdateHook.found != nil) == options.contains("ENABLE_PREUPDATE_HOOK"))
  }

  @Test(
    "Recording a changeset without the session extension throws UnsupportedByEngine",
    .enabled(if: SessionExtension.found == nil, "SQLite was built with ENABLE_SESSION"))
  func missing() throws {
    let db = try makeCities()
    #expect(throws: UnsupportedByEngine.self) {
      try db.record("city") { try $0.executeUpdate("DELETE FROM city") }
    }
    #expect(try db.cityCount() == 4)
  }

  @Test("A table is recorded beside a virtual table whose module is missing", .needsSessions)
  func missingModule() throws {
    let folder = try ScratchFolder(inMemory: true)
    let path = folder.file("cities.db")
    let made = try Database(path: path)
    try createCities(in: made)
    try made.createTokenizer("words") { _, _ in [] }
    try made.executeUpdate("CREATE VIRTUAL TABLE note USING fts5(t, tokenize = 'words')")
    try made.close()
    let db = try Database(path: path)
    let named = try edited(db)
    #expect(!named.data.isEmpty)
    let all = try db.record { try $0.executeUpdate("DELETE FROM city WHERE id = 3") }
    #expect(!all.data.isEmpty)
  }
}
