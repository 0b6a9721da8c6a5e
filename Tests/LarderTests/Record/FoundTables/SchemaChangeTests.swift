import Larder
import TestSupport
import Testing

@Suite("Tables that change while records use them")
struct SchemaChangeTests {
  private static let fitting: SQL = """
    CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER)
    """
  private static let other: SQL = """
    CREATE TABLE person (id INT PRIMARY KEY, name TEXT NOT NULL, age INTEGER)
    """

  private static func change(_ db: Database, to definition: SQL) throws {
    try db.executeUpdate("DROP TABLE person")
    try db.executeUpdate(definition)
  }

  private static func insert(_ db: Database) throws {
    var ann = FoundPerson(id: nil, name: "Ann", age: 1)
    try ann.insert(db)
  }

  private static func read(_ db: Database) throws { _ = try FoundPerson.fetchAll(db) }

  private static func count(_ db: Database) throws -> Int? {
    try db.value("SELECT count(*) FROM person", as: Int.self)
  }

  @Test("A table that is recreated in a transaction is checked again")
  func ownChange() throws {
    let db = try Database()
    try db.executeUpdate(Self.fitting)
    try db.inTransaction { db in
      try Self.insert(db)
      try Self.change(db, to: Self.other)
      #expect(declarationProblem { try Self.insert(db) } != nil)
      #expect(try Self.count(db) == 0)
      try Self.change(db, to: Self.fitting)
      try Self.insert(db)
    }
    #expect(try Self.count(db) == 1)
  }

  @Test("A raw statement with the same SQL as a declaration's doesn't pass the check for it")
  func sameText() throws {
    let db = try Database()
    try db.executeUpdate(Self.fitting)
    try Self.insert(db)
    try Self.read(db)
    try Self.change(
      db, to: "CREATE TABLE person (id TEXT PRIMARY KEY, name TEXT NOT NULL, age INTEGER)")
    let text: SQL = "SELECT \"id\", \"name\", \"age\" FROM \"person\""
    let count = try db.executeQuery(text).map { _ in 1 }.count
    #expect(count == 0)
    #expect(declarationProblem { try Self.read(db) } != nil)
  }

  @Test("After a rolled-back schema change, records work as before")
  func rollback() throws {
    let db = try Database()
    try db.executeUpdate(Self.fitting)
    try Self.insert(db)
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try db.inTransaction { db in
        try Self.change(db, to: Self.other)
        #expect(declarationProblem { try Self.insert(db) } != nil)
        throw Stop()
      }
    }
    try Self.insert(db)
    try db.inTransaction { db in
      #expect(throws: Stop.self) {
        try db.inSavepoint { db in
          try Self.change(db, to: Self.other)
          #expect(declarationProblem { try Self.insert(db) } != nil)
          throw Stop()
        }
      }
      try Self.insert(db)
      try db.savepoint("mine")
      try Self.change(db, to: Self.other)
      #expect(declarationProblem { try Self.insert(db) } != nil)
      try db.rollback(to: "mine")
      try Self.insert(db)
      try db.release("mine")
    }
    try db.executeUpdate("BEGIN")
    try Self.change(db, to: Self.other)
    #expect(declarationProblem { try Self.insert(db) } != nil)
    try db.executeUpdate("ROLLBACK")
    try Self.insert(db)
    #expect(try Self.count(db) == 5)
  }

  @Test("A temporary table hides another table of its name until it is dropped")
  func temporary() throws {
    let db = try Database()
    try db.executeUpdate(Self.other)
    #expect(declarationProblem { try Self.insert(db) } != nil)
    try db.executeUpdate(
      "CREATE TEMP TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER)")
    try Self.insert(db)
    try db.executeUpdate("DROP TABLE temp.person")
    #expect(declarationProblem { try Self.insert(db) } != nil)
  }

  @Test("A table in an attached database is checked, and again when it changes")
  func attached() throws {
    let folder = try ScratchFolder()
    let other = try Database(path: folder.file("other.db"))
    try other.executeUpdate(Self.other)
    let db = try Database(path: folder.file("main.db"))
    try db.executeUpdate("ATTACH \(folder.file("other.db")) AS other")
    #expect(declarationProblem { try Self.insert(db) } != nil)
    try Self.change(other, to: Self.fitting)
    try Self.insert(db)
    try Self.change(other, to: Self.other)
    #expect(declarationProblem { try Self.insert(db) } != nil)
    try db.executeUpdate("DETACH other")
    try db.executeUpdate(Self.fitting)
    try Self.insert(db)
  }

  /// How a scope begins.
  enum Scope: String, CaseIterable {
    case none, immediate, deferred, savepoint

    func run(_ db: Database, _ body: (Database) throws -> Void) throws {
      switch self {
      case .none: try body(db)
      case .immediate: try db.inTransaction(.immediate, body)
      case .deferred: try db.inTransaction(.deferred, body)
      case .savepoint: try db.inSavepoint(body)
      }
    }
  }

  @Test(
    "A schema change by another connection is noticed before an insert writes",
    arguments: Scope.allCases)
  func foreignChange(_ scope: Scope) throws {
    let folder = try ScratchFolder()
    let db = try Database(path: folder.file("people.db"))
    let other = try Database(path: folder.file("people.db"))
    try db.executeUpdate(Self.fitting)
    for _ in 0..<3 {
      try scope.run(db, Self.insert)
      try scope.run(db, Self.read)
      try Self.change(other, to: Self.other)
      #expect(declarationProblem { try scope.run(db, Self.insert) } != nil)
      #expect(try Self.count(other) == 0, "nothing was written")
      try scope.run(db, Self.read)
      try Self.change(other, to: Self.fitting)
    }
  }

  @Test(
    "A schema change by another connection is noticed when rows are read",
    arguments: Scope.allCases)
  func foreignChangeOfTypes(_ scope: Scope) throws {
    let folder = try ScratchFolder()
    let db = try Database(path: folder.file("people.db"))
    let other = try Database(path: folder.file("people.db"))
    try db.executeUpdate(Self.fitting)
    try scope.run(db, Self.read)
    let filter = FoundPerson.filter { $0.age > 9 }
    try scope.run(db) { _ = try filter.fetchAll($0) }
    try Self.change(other, to: "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age TEXT)")
    try other.executeUpdate("INSERT INTO person VALUES (1, 'Ann', NULL)")
    #expect(declarationProblem { try scope.run(db) { _ = try filter.fetchAll($0) } } != nil)
    #expect(declarationProblem { try scope.run(db, Self.read) } != nil)
    try Self.change(other, to: Self.fitting)
    try scope.run(db, Self.read)
    try scope.run(db) { _ = try filter.fetchAll($0) }
  }

  @Test("A schema change that an UPDATE has met is known to a newly compiled statement")
  func noticedElsewhere() throws {
    let folder = try ScratchFolder()
    let db = try Database(path: folder.file("people.db"))
    let other = try Database(path: folder.file("people.db"))
    try db.executeUpdate(Self.fitting)
    try Self.read(db)
    try Self.change(other, to: "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age TEXT)")
    try db.executeUpdate("UPDATE person SET name = 'x'")
    #expect(declarationProblem { try FoundPerson.fetchOne(db, 1) } != nil)
  }

  @Test(
    "A deferred transaction that begins with an insert waits for another writer")
  func waits() async throws {
    let folder = try ScratchFolder()
    var configuration = Configuration()
    configuration.busyTimeout = .seconds(60)
    let path = folder.file("people.db")
    let db = try Database(path: path, configuration: configuration)
    try db.executeUpdate(Self.fitting)
    let writer = try DatabaseQueue(path: path, configuration: configuration)
    let writing = Task {
      for _ in 0..<300 {
        try await writer.inTransaction { other in
          try other.executeUpdate("INSERT INTO person (name) VALUES ('Bob')")
        }
      }
    }
    // Checking the table first would start a read, which another writer could make stale.
    for number in 0..<100 {
      if number.isMultiple(of: 2) { db.clearStatementCache() }
      try db.inTransaction(.deferred) { try Self.insert($0) }
      try db.inTransaction(.deferred) {
        try FoundPerson.insert($0, contentsOf: [FoundPerson(id: nil, name: "Eve", age: 2)])
      }
      try db.inTransaction(.deferred) {
        _ = try FoundPerson(id: nil, name: "Zoe", age: 3).inserted($0)
      }
    }
    try await writing.value
    #expect(try Self.count(db) == 600)
  }

  @Test("A restored database is checked again")
  func restored() throws {
    let source = try Database()
    try source.executeUpdate(Self.other)
    let db = try Database()
    try db.executeUpdate(Self.fitting)
    try Self.insert(db)
    try db.restore(from: source)
    #expect(declarationProblem { try Self.insert(db) } != nil)
  }

  @Test("Two declarations of a table with identical SQL are checked separately")
  func sameStatements() throws {
    struct Wrong: Record {
      var id: Int64?
      var name: String
      var age: String?
      static let columns = (
        Column("id", \Wrong.id, .primaryKey), Column("name", \Wrong.name),
        Column("age", \Wrong.age)
      )
      static let table = Table("person", Wrong.init, columns.0, columns.1, columns.2)
    }
    let db = try Database()
    try db.executeUpdate(Self.fitting)
    for _ in 0..<2 {
      try Self.read(db)
      #expect(declarationProblem { try Wrong.fetchAll(db) } != nil)
      #expect(try FoundPerson.all.fetchAll(db).isEmpty)
      #expect(declarationProblem { try Wrong.all.fetchAll(db) } != nil)
    }
  }
}
