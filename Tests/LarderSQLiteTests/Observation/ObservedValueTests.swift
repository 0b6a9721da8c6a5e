import LarderSQLite
import Testing
import TestSupport

@Suite("Observed values", .promptly)
struct ObservedValueTests {
  @Test(
    "A write in a transaction updates an observed value that depends on it",
    arguments: SeenWrite.all)
  func seen(write: SeenWrite) async throws {
    for company in Company.threads where company.sharesSyncs || company.storage == .pool {
      let folder = try ScratchFolder()
      let access = try company.open(in: folder) { $0.trustsSchema = true }
      try await access.inDatabase { try $0.executeStatements(SQL(raw: write.schema)) }
      let values = ObservedReads(access) { try $0.rows(write.read) }
      let first = try await values.next()
      try await access.inTransaction { try $0.executeStatements(SQL(raw: write.write)) }
      let second = try await values.next()
      #expect(first != second)
      let expected = try await access.read { try $0.rows(write.read) }
      #expect(second == expected)
      try await access.close()
    }
  }

  @Test(
    "A write outside of a transaction updates an observed value that depends on it",
    arguments: SeenWrite.all)
  func seenWithoutTransaction(write: SeenWrite) async throws {
    var configuration = Configuration()
    configuration.trustsSchema = true
    let access = try DatabaseQueue(configuration: configuration)
    try await access.inDatabase {
      try createCities(in: $0)
      try $0.executeStatements(SQL(raw: write.schema))
      // The statement is compiled before the observation begins.
      try $0.inTransaction {
        try $0.executeStatements(SQL(raw: write.write))
        $0.setRollbackOnly()
      }
    }
    let values = ObservedReads(access) { try $0.rows(write.read) }
    let first = try await values.next()
    try await access.inDatabase { try $0.executeStatements(SQL(raw: write.write)) }
    let second = try await values.next()
    #expect(first != second)
    #expect(values.count == 2 || write.write.contains(";"))
  }

  @Test(
    "A table in temp or an attached database is observed when the query omits the schema's name",
    arguments: [
      "SELECT count(*) FROM", "SELECT EXISTS (SELECT 1 FROM", "SELECT count(*) FROM city,",
    ])
  func otherDatabases(read: String) async throws {
    let folder = try ScratchFolder()
    let access = try DatabaseQueue(path: folder.file("a.db"))
    let other = folder.file("b.db")
    try await access.inDatabase { db in
      try createCities(in: db)
      try db.executeUpdate("ATTACH \(other) AS other")
      try db.executeStatements("CREATE TEMP TABLE t (a); CREATE TABLE other.o (a)")
    }
    for table in ["t", "o"] {
      let query = "\(read) \(table)" + (read.contains("(SELECT") ? ")" : "")
      let values = ObservedReads(access) { try $0.rows(query) }
      let first = try await values.next()
      try await access.inTransaction {
        try $0.executeUpdate(SQL(raw: "INSERT INTO \(table) VALUES (1)"))
      }
      #expect(try await values.next() != first)
    }
  }

  @Test("A value whose table was dropped ends with an error that names it")
  func dropped() async throws {
    let folder = try ScratchFolder()
    let access = try DatabasePool(path: folder.file("a.db"))
    try await access.inTransaction { try createCities(in: $0) }
    let values = ObservedReads(access) { try $0.texts("SELECT name FROM city") }
    _ = try await values.next()
    try await access.inTransaction { try $0.executeUpdate("DROP TABLE city") }
    let error = await #expect(throws: DatabaseError.self) { try await values.next() }
    #expect(error?.message == "no such table: city")
  }

  @Test(
    "Unrelated tables or columns, rolled-back writes and untouched rows make no value read again",
    arguments: Company.threads)
  func unseen(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    try await access.inTransaction { try $0.executeStatements("CREATE TABLE other (a, b)") }
    let values = ObservedReads(access) { try $0.texts("SELECT name FROM city ORDER BY id") }
    _ = try await values.next()
    try await access.inTransaction { db in try db.executeUpdate("INSERT INTO other VALUES (1, 2)") }
    try await access.inTransaction { db in try db.executeUpdate("UPDATE city SET population = 1") }
    try? await access.inTransaction { db in
      try db.executeUpdate("UPDATE city SET name = 'x' WHERE id = 1")
      throw CancellationError()
    }
    try await access.inTransaction { db in
      try db.executeUpdate("DELETE FROM city")
      db.setRollbackOnly()
    }
    await #expect(throws: DatabaseError.self) {
      try await access.inDatabase {
        try $0.executeUpdate("INSERT INTO city (name) VALUES ('a'), ('Oslo')")
      }
    }
    try await access.inDatabase { db in try db.executeUpdate("DELETE FROM city WHERE id = 1000") }
    try await access.inTransaction { db in
      try db.executeUpdate("UPDATE city SET name = 'Roma' WHERE id = 1")
    }
    #expect(try await values.next() == ["Roma", "Oslo", "Lagos", "北京市"])
    #expect(values.count == 2)
  }

  @Test(
    "An observed value that equals the previous one isn't delivered", arguments: Company.threads)
  func equal(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let values = ObservedReads(access) {
      try $0.value("SELECT max(population) FROM city", as: Int.self)
    }
    #expect(try await values.next() == 21_893_095)
    let next = Task { [values = Handed(values)] in try await values.content.next() }
    try await access.inDatabase { db in
      try db.executeUpdate("UPDATE city SET population = 7 WHERE id = 1")
    }
    while values.count < 2 { await Task.yield() }
    try await access.inDatabase { db in try db.executeUpdate("UPDATE city SET population = 8") }
    #expect(try await next.value == 8)
  }

  @Test("A slow consumer of observed values gets only the newest", arguments: Company.threads)
  func newest(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let values = ObservedReads(access) { try $0.cityCount() }
    #expect(try await values.next() == 4)
    for number in 0..<100 {
      try await access.inTransaction { db in
        try db.executeUpdate("INSERT INTO city (name) VALUES (?)", "city \(number)")
      }
    }
    #expect(try await values.next() == 104)
    #expect(values.count == 2)
  }

  @Test(
    "An observation whose closure writes throws SQLITE_READONLY, then ends",
    arguments: Company.threads)
  func writing(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let values = ObservedReads(access) { try $0.executeUpdate("DELETE FROM city") }
    let error = await #expect(throws: DatabaseError.self) { try await values.next() }
    #expect(error?.code == .readOnly)
    #expect(try await values.next() == nil)
    #expect(try await access.read { try $0.cityCount() } == 4)
  }

  @Test(
    "An observation whose closure reads nothing from its database gives one value, then ends",
    arguments: Company.threads)
  func nothing(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let other = try DatabaseQueue()
    let values = ObservedReads(access) { _ in
      try other.read { try $0.value("SELECT 1", as: Int.self) }
    }
    #expect(try await values.next() == 1)
    #expect(try await values.next() == nil)
  }

  @Test(
    "Cancelling the task ends the sequence of observed values while it waits",
    arguments: Company.threads)
  func cancelled(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let (stream, began) = AsyncStream<Void>.makeStream()
    let task = Task {
      var count = 0
      for try await _ in access.values(of: { try $0.cityCount() }) {
        count += 1
        began.yield()
      }
      return count
    }
    for await _ in stream { break }
    task.cancel()
    #expect(try await task.value == 1)
  }

  @Test(
    "Closing the database ends a sequence of observed values, and a later one throws",
    arguments: Company.threads)
  func closed(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let values = ObservedReads(access) { try $0.cityCount() }
    #expect(try await values.next() == 4)
    try await access.close()
    #expect(try await values.next() == nil)
    let late = ObservedReads(access) { try $0.cityCount() }
    let error = await #expect(throws: DatabaseError.self) { try await late.next() }
    #expect(error?.code == .misuse)
  }

  @Test(
    "An observation's callback is called until the observation is released",
    arguments: Company.threads)
  func callback(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let (stream, sink) = AsyncStream<Int?>.makeStream()
    var observation: Observation? = access.values(of: { try $0.cityCount() }) { error in
      Issue.record(error)
    } onValue: {
      sink.yield($0)
    }
    var counts = stream.makeAsyncIterator()
    #expect(await counts.next() == 4)
    try await access.inDatabase { db in try db.executeUpdate("DELETE FROM city WHERE id = 1") }
    #expect(await counts.next() == 3)
    _ = observation
    observation = nil
    try await access.inDatabase { db in try db.executeUpdate("DELETE FROM city") }
    #expect(try await ObservedReads(access, { try $0.cityCount() }).next() == 0)
    sink.finish()
    #expect(await counts.next() == nil)
  }

  @Test(
    "A value is observed correctly after earlier observations have ended",
    arguments: Company.threads)
  func gone(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    for _ in 0..<3 {
      do {
        let values = ObservedReads(access) { try $0.cityCount() }
        _ = try await values.next()
      }
      try await access.inDatabase { db in try db.executeUpdate("DELETE FROM city WHERE id = 1") }
    }
    let values = ObservedReads(access) { try $0.cityCount() }
    #expect(try await values.next() == 3)
    try await access.inDatabase { db in try db.executeUpdate("DELETE FROM city WHERE id = 2") }
    #expect(try await values.next() == 2)
  }

  @Test("Restoring a backup updates an observed value")
  func restored() async throws {
    let other = try makeCities()
    let access = try DatabaseQueue()
    try await access.inDatabase { try createCities(in: $0) }
    let values = ObservedReads(access) { try $0.cityCount() }
    #expect(try await values.next() == 4)
    let box = Handed(other)
    try await access.inDatabase { db in
      try box.content.executeUpdate("DELETE FROM city WHERE id < 3")
      try db.restore(from: box.content)
    }
    #expect(try await values.next() == 2)
  }

  @Test("A custom authorizer stays in force while values are observed")
  func authorizer() async throws {
    let access = try DatabaseQueue()
    try await access.inDatabase { try createCities(in: $0) }
    let values = ObservedReads(access) { db in
      db.authorizer = .tables(["city"])
      return try db.cityCount()
    }
    #expect(try await values.next() == 4)
    try await access.inDatabase { db in
      db.authorizer = .readOnly
      #expect(throws: DatabaseError.self) { try db.executeUpdate("DELETE FROM city") }
      db.authorizer = nil
      try db.executeUpdate("DELETE FROM city WHERE id = 1")
    }
    #expect(try await values.next() == 3)
  }
}

/// Passes a value that isn't Sendable to another task. Only one task at a time may use it.
struct Handed<Content>: @unchecked Sendable {
  let content: Content
  init(_ content: Content) { self.content = content }
}

extension Database {
  /// All values of all rows.
  fileprivate func rows(_ sql: String) throws -> [[DatabaseValue]] {
    try executeQuery(SQL(raw: sql)).map { row in
      try (0..<row.columnCount).map { try row.get(at: $0) }
    }
  }

  @Test(
    "SQLite's error messages are the same while something observes the connection",
    arguments: [
      "SELECT name, wrong FROM city", "SELECT wrong(name) FROM city",
      "INSERT INTO city (q) VALUES (1)",
      "SELECT * FROM city ORDER BY name COLLATE wrong", "SELECT * FROM city ORDER BY 9",
      "UPDATE city SET wrong = 1", "SELECT sum(count(name)) FROM city",
      "SELECT name FROM city WHERE \"wrong\" = 1",
    ] as [SQL])
  func errorMessages(sql: SQL) async throws {
    @Sendable func failure(_ db: Database) -> String? {
      do { try db.executeStatements(sql) } catch { return "\(error)" }
      return nil
    }
    let access = try DatabaseQueue()
    let expected = try await access.inDatabase { db in
      try createCities(in: db)
      return failure(db)
    }
    let values = ObservedReads(access) { try $0.cityCount() }
    #expect(try await values.next() == 4)
    #expect(expected != nil)
    #expect(try await access.inTransaction { failure($0) } == expected)
  }
}
