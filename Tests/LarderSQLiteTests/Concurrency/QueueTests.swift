import Dispatch
import TestSupport
import Testing

@testable import LarderSQLite

@Suite("Database queues")
struct QueueTests {
  private struct Doubt: Error {}

  private let queue: DatabaseQueue

  init() throws {
    queue = try DatabaseQueue()
    try queue.inDatabase { try createCities(in: $0) }
  }

  @Test("A queue's scopes return their closure's value and throw its error")
  func results() throws {
    #expect(try queue.inDatabase { try $0.cityCount() } == 4)
    #expect(try queue.read { try $0.texts("SELECT name FROM city WHERE id = 2") } == ["Oslo"])
    #expect(try queue.inTransaction { try $0.executeUpdate("DELETE FROM city WHERE id = 1") } == 1)
    #expect(try queue.inSavepoint { try $0.executeUpdate("DELETE FROM city WHERE id = 2") } == 1)
    #expect(throws: Doubt.self) { try queue.inDatabase { _ in throw Doubt() } }
    #expect(throws: Doubt.self) { try queue.inTransaction { _ in throw Doubt() } }
    #expect(throws: Doubt.self) { try queue.inSavepoint { _ in throw Doubt() } }
    #expect(throws: Doubt.self) { try queue.read { _ in throw Doubt() } }
    #expect(try queue.read { try $0.cityCount() } == 2)
  }

  @Test(
    "A queue's transaction commits when its closure returns and is rolled back when it throws",
    arguments: [TransactionKind.deferred, .immediate, .exclusive])
  func transactions(kind: TransactionKind) throws {
    try queue.inTransaction(kind) { db in
      #expect(db.isInTransaction)
      try db.executeUpdate("DELETE FROM city WHERE id = 1")
    }
    #expect(throws: Doubt.self) {
      try queue.inTransaction(kind) { db in
        try db.executeUpdate("DELETE FROM city")
        throw Doubt()
      }
    }
    try queue.inDatabase { (db) throws in
      #expect(!db.isInTransaction)
      #expect(try db.cityCount() == 3)
    }
  }

  @Test(
    "A queue's savepoint keeps its closure's changes when it returns and undoes them when it throws"
  )
  func savepoints() throws {
    try queue.inSavepoint { try $0.executeUpdate("DELETE FROM city WHERE id = 1") }
    #expect(throws: Doubt.self) {
      try queue.inSavepoint { db in
        try db.executeUpdate("DELETE FROM city")
        throw Doubt()
      }
    }
    try queue.inTransaction { db in
      try db.executeUpdate("DELETE FROM city WHERE id = 2")
      #expect(throws: Doubt.self) {
        try db.inSavepoint { db in
          try db.executeUpdate("DELETE FROM city")
          throw Doubt()
        }
      }
    }
    #expect(
      try queue.read { try $0.texts("SELECT name FROM city ORDER BY id") } == ["Lagos", "北京市"])
  }

  @Test(
    "`setRollbackOnly()` undoes a queue's transaction or savepoint, which still returns its value")
  func rollbackOnly() throws {
    let count = try queue.inTransaction { db in
      defer { db.setRollbackOnly() }
      return try db.executeUpdate("DELETE FROM city")
    }
    #expect(count == 4)
    let other = try queue.inSavepoint { db in
      defer { db.setRollbackOnly() }
      return try db.executeUpdate("DELETE FROM city")
    }
    #expect(other == 4)
    #expect(try queue.read { try $0.cityCount() } == 4)
    // The next scope isn't affected.
    try queue.inTransaction { try $0.executeUpdate("DELETE FROM city WHERE id = 1") }
    #expect(try queue.read { try $0.cityCount() } == 3)
  }

  @Test(
    "A queue's transaction that can't begin because of a lock doesn't run its closure",
    arguments: [TransactionKind.immediate, .exclusive], [true, false])
  func beginFails(kind: TransactionKind, groupCommit: Bool) throws {
    let folder = try ScratchFolder()
    var configuration = Configuration()
    configuration.busyTimeout = .zero
    configuration.groupCommit = groupCommit
    let queue = try DatabaseQueue(path: folder.file("cities.db"), configuration: configuration)
    try queue.inDatabase { try createCities(in: $0) }
    let other = try Database(path: folder.file("cities.db"))
    try other.begin()
    let error = #expect(throws: DatabaseError.self) {
      try queue.inTransaction(kind) { _ in _ = Issue.record("the closure ran") }
    }
    #expect(error?.code == .busy)
    try other.rollback()
    #expect(try queue.inTransaction { try $0.cityCount() } == 4)
  }

  @Test(
    "A queue's transaction whose COMMIT violates a foreign key is rolled back and throws",
    arguments: [TransactionKind.deferred, .immediate], [true, false])
  func commitFails(kind: TransactionKind, groupCommit: Bool) throws {
    var configuration = Configuration()
    configuration.groupCommit = groupCommit
    let queue = try DatabaseQueue(configuration: configuration)
    try queue.inDatabase { db in
      try createCities(in: db)
      try db.executeStatements(
        """
        CREATE TABLE street (
          name TEXT, city INTEGER REFERENCES city DEFERRABLE INITIALLY DEFERRED)
        """)
    }
    let error = #expect(throws: DatabaseError.self) {
      try queue.inTransaction(kind) { db in
        try db.executeUpdate("DELETE FROM city WHERE id = 2")
        try db.executeUpdate("INSERT INTO street VALUES ('Karl Johans gate', 2)")
      }
    }
    #expect(error?.extendedCode == .constraintForeignKey)
    try queue.inDatabase { (db) throws in
      #expect(!db.isInTransaction)
      #expect(try db.cityCount() == 4)
      #expect(try db.value("SELECT count(*) FROM street", as: Int.self) == 0)
    }
  }

  @Test("A queue's read scope refuses every statement that writes and stays usable")
  func readRefusesWriting() throws {
    let writing: [SQL] = [
      "DELETE FROM city", "INSERT INTO city (name) VALUES ('Tromsø')",
      "UPDATE city SET area = 0 RETURNING id", "CREATE TABLE river (name)", "DROP TABLE city",
      "PRAGMA user_version = 7", "VACUUM",
    ]
    try queue.read { (db) throws in
      for sql in writing {
        let error = #expect(throws: DatabaseError.self, "\(sql.text)") {
          let rows = try db.executeQuery(sql)
          while try rows.next() {}
        }
        #expect(error?.code == .readOnly)
        #expect(error?.sql == sql.text)
      }
      #expect(throws: DatabaseError.self) { try db.executeUpdate("DELETE FROM city") }
      #expect(throws: DatabaseError.self) { try db.executeStatements("DELETE FROM city") }
      #expect(throws: DatabaseError.self) { try db.prepare("DELETE FROM city").execute() }
      #expect(try db.cityCount() == 4)
    }
    // The restriction ends with the scope.
    #expect(try queue.inDatabase { try $0.executeUpdate("DELETE FROM city") } == 4)
  }

  @Test("A queue's read scope is one transaction that its closure can't end")
  func readIsOneTransaction() throws {
    try queue.read { db in
      #expect(db.isInTransaction)
      #expect(throws: DatabaseError.self) { try db.commit() }
      #expect(throws: DatabaseError.self) { try db.executeUpdate("COMMIT") }
      #expect(throws: DatabaseError.self) { try db.inTransaction { try $0.executeUpdate("BEGIN") } }
      #expect(db.isInTransaction)
    }
    #expect(try queue.inDatabase { $0.isInTransaction } == false)
  }

  @Test("A queue compiles its BEGIN, COMMIT and savepoint statements only once")
  func controlsAreKept() throws {
    func scopes() throws {
      try queue.read { _ in }
      try queue.inDatabase { _ in }
      try queue.inTransaction { _ in }
      try queue.inSavepoint { _ in }
      try? queue.inTransaction { _ in throw Doubt() }
    }
    func controls() throws -> [ObjectIdentifier?] {
      try queue.inDatabase { db in
        TransactionControl.allCases.map { db.transactionStatements[$0].map(ObjectIdentifier.init) }
      }
    }
    try scopes()
    let compiled = try controls()
    #expect(compiled.count { $0 != nil } >= 6)
    for _ in 0..<10 { try scopes() }
    #expect(try controls() == compiled)
  }

  @Test("An in-memory queue keeps its tables between scopes and doesn't share them")
  func inMemory() throws {
    #expect(queue.path == nil)
    #expect(try queue.read { try $0.cityCount() } == 4)
    let other = try DatabaseQueue()
    #expect(try other.read { try $0.tableExists("city") } == false)
    let temporary = try DatabaseQueue(path: "")
    try temporary.inTransaction { try createCities(in: $0) }
    #expect(try temporary.read { try $0.cityCount() } == 4)
  }

  @Test("A read-only queue reads its file and refuses to write")
  func readOnly() throws {
    let folder = try ScratchFolder()
    let path = folder.file("cities.db")
    try DatabaseQueue(path: path).inTransaction { try createCities(in: $0) }
    var configuration = Configuration()
    configuration.readOnly = true
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    #expect(try queue.read { try $0.cityCount() } == 4)
    let error = #expect(throws: DatabaseError.self) {
      try queue.inDatabase { try $0.executeUpdate("DELETE FROM city") }
    }
    #expect(error?.code == .readOnly)
    #expect(throws: DatabaseError.self) {
      try queue.inTransaction { try $0.executeUpdate("DELETE FROM city") }
    }
    #expect(try queue.read { try $0.cityCount() } == 4)
  }

  @Test("Creating a queue of a file in a missing folder throws `.cannotOpen`")
  func openingFails() throws {
    let folder = try ScratchFolder()
    let error = #expect(throws: DatabaseError.self) {
      try DatabaseQueue(path: folder.file("nowhere/cities.db"))
    }
    #expect(error?.code == .cannotOpen)
  }

  @Test("`checkpoint()` moves a queue's log into the file")
  func checkpoint() throws {
    let folder = try ScratchFolder()
    let queue = try DatabaseQueue(path: folder.file("cities.db"))
    try queue.inTransaction { try createCities(in: $0) }
    let result = try queue.checkpoint(.truncate)
    #expect(result.logFrames == 0)
    try queue.inTransaction { try $0.executeUpdate("DELETE FROM city WHERE id = 1") }
    let passive = try queue.checkpoint()
    #expect(passive.logFrames > 0)
    #expect(passive.checkpointed == passive.logFrames)
  }
}
