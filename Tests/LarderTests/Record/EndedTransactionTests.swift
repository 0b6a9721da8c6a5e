import Larder
import TestSupport
import Testing

/// Tests of writes in scopes whose transaction SQLite has rolled back by itself.
@Suite("Scopes whose transaction SQLite has rolled back")
struct EndedTransactionTests {
  /// A statement that makes SQLite roll the transaction back.
  enum Rollback: CaseIterable {
    case record, statement, trigger, deadline, fullDatabase

    fileprivate func run(_ db: Database) throws {
      switch self {
      case .record:
        var oslo = City(id: 1, name: "Oslo", population: 1)
        _ = try oslo.insert(db, or: .rollback)
      case .statement: try db.executeUpdate("INSERT OR ROLLBACK INTO city VALUES (1, 'Oslo', 1)")
      case .trigger: try db.executeUpdate("INSERT INTO city VALUES (9, 'Atlantis', 1)")
      case .deadline:
        db.statementDeadline = .milliseconds(20)
        defer { db.statementDeadline = nil }
        try db.executeUpdate(
          """
          WITH RECURSIVE n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n)
          INSERT INTO city SELECT i, 'City ' || i, 0 FROM n
          """)
      case .fullDatabase:
        _ = try db.value("PRAGMA max_page_count = 10", as: Int.self)
        // If a trigger could fire, only the statement would be undone.
        try db.executeUpdate("INSERT INTO plain VALUES (zeroblob(200000))")
      }
    }
  }

  private static let writes: [@Sendable (Database) throws -> Void] = [
    {
      var molde = molde
      try molde.insert($0)
    },
    {
      var molde = molde
      _ = try molde.insert($0, or: .ignore)
    },
    { _ = try molde.inserted($0) },
    {
      var molde = molde
      try molde.save($0)
    },
    {
      var molde = molde
      try molde.upsert($0, onConflict: City.columns.name)
    },
    { try City.insert($0, contentsOf: [molde]) },
    {
      var oslo = City(id: 1, name: "Oslo", population: 1)
      try oslo.update($0)
    },
    { _ = try City.norwegian[0].delete($0) },
    { _ = try City.all.update($0) { $0.population += 1 } },
    { _ = try City.all.updated($0) { $0.population += 1 } },
    { _ = try City.all.delete($0) },
    { try $0.inSavepoint { _ = try $0.executeUpdate("DELETE FROM city") } },
    { try $0.executeUpdate("DELETE FROM city") },
  ]

  private static let molde = City(id: nil, name: "Molde", population: 32_816)

  private static func createCities(_ db: Database) throws {
    try db.executeStatements(City.creation)
    try City.insert(db, contentsOf: City.norwegian)
    try db.executeStatements(
      """
      CREATE TRIGGER legend BEFORE INSERT ON city WHEN new.name = 'Atlantis'
      BEGIN SELECT RAISE(ROLLBACK, 'a legend'); END;
      CREATE TABLE plain (x)
      """)
  }

  /// Loses the scope's transaction, and then does a write, which has to throw.
  private static func lose(
    by rollback: Rollback, in db: Database, then write: (Database) throws -> Void
  ) throws {
    var hamar = City(id: nil, name: "Hamar", population: 28_535)
    try hamar.insert(db)
    #expect(throws: DatabaseError.self) { try rollback.run(db) }
    let error = failure(DatabaseError.self) { try write(db) }
    #expect(error?.code == .abort)
    #expect(error?.message.hasSuffix("has ended the scope's transaction") == true)
  }

  @Test(
    "A queue's or pool's scope writes no more once SQLite has rolled its transaction back",
    arguments: Rollback.allCases)
  func access(rollback: Rollback) throws {
    for write in Self.writes {
      let folder = try ScratchFolder(inMemory: true)
      for access: any DatabaseAccess in [
        try DatabaseQueue(), try DatabaseQueue(path: folder.file("queue.db")),
        try DatabasePool(path: folder.file("pool.db")),
      ] {
        try access.inDatabase { try Self.createCities($0) }
        let error = failure(DatabaseError.self) {
          try access.inTransaction { try Self.lose(by: rollback, in: $0, then: write) }
        }
        #expect(error?.code == .abort)
        #expect(try access.read { try City.fetchAll($0) } == City.norwegian)
        try access.close()
      }
    }
  }

  @Test(
    "A database's scope writes no more once SQLite has rolled its transaction back",
    arguments: Rollback.allCases)
  func database(rollback: Rollback) throws {
    for write in Self.writes {
      let folder = try ScratchFolder(inMemory: true)
      for db in [try Database(), try Database(path: folder.file("cities.db"))] {
        try Self.createCities(db)
        let error = failure(DatabaseError.self) {
          try db.inTransaction { try Self.lose(by: rollback, in: $0, then: write) }
        }
        #expect(error?.code == .abort)
        #expect(!db.isInTransaction)
        #expect(try City.fetchAll(db) == City.norwegian)
        try db.close()
      }
    }
  }
}
