import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport
import Testing

@Suite(
  "Keys that a server chooses beside keys that programs choose",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct KeyNumberTests {
  private struct Town: Record {
    var id: Int64?
    var name = "Oslo"

    struct Columns: Sendable {
      let id = Column("id", \Town.id, .primaryKey)
      let name = Column("name", \Town.name)
    }
    static let columns = Columns()
    static let table = Table("town", Town.init, columns.id, columns.name)
  }

  private struct Stop: Error {}

  private let pool: PostgresPool
  private let address: String

  init() throws {
    address = try PostgresServer.shared.database()
    pool = try PostgresPool(address)
    try pool.inTransaction { try Town.table.create($0) }
  }

  private func undone(_ body: (Database) throws -> Void) throws {
    #expect(throws: Stop.self) {
      try pool.inTransaction { db in
        try body(db)
        throw Stop()
      }
    }
  }

  private func next() throws -> Int64? { try pool.inTransaction { try Town().inserted($0).id } }

  @Test("Rolling back the insertion of a key doesn't change the next chosen key")
  func undoneKey() throws {
    #expect(try next() == 1)
    try undone { db in _ = try Town(id: .max).inserted(db) }
    try undone { db in try Town.insert(db, contentsOf: (1000...1100).map { Town(id: $0) }) }
    try undone { db in _ = try Town(id: 500).upsert(db) as Town }
    try pool.inTransaction { db in
      #expect(throws: Stop.self) {
        try db.inSavepoint { db in
          _ = try Town(id: 700).inserted(db)
          throw Stop()
        }
      }
    }
    #expect(try next() == 2)
  }

  @Test("The next chosen key follows the greatest committed key")
  func committedKey() throws {
    try pool.inTransaction { db in _ = try Town(id: 7).inserted(db) }
    #expect(try next() == 8)
    try pool.inDatabase { db in _ = try Town(id: 20).inserted(db) }
    #expect(try next() == 21)
    try pool.inTransaction { db in
      try Town.insert(db, contentsOf: (100...2500).map { Town(id: $0) })
    }
    #expect(try next() == 2501)
    try pool.inTransaction { db in _ = try Town(id: 3000).upsert(db) as Town }
    #expect(try next() == 3001)
    try pool.inTransaction { db in _ = try Town(id: -5).inserted(db) }
    #expect(try next() == 3002)
  }

  @Test("Inserting the greatest possible key leaves room for chosen keys")
  func greatestKey() throws {
    try pool.inTransaction { db in
      _ = try Town(id: .max).inserted(db)
      _ = try Town(id: 4).inserted(db)
    }
    #expect(try next() == 5)
    try pool.inDatabase { db in try Town.insert(db, contentsOf: [Town(id: .max - 1), Town()]) }
    #expect(try next() == 7)
  }

  @Test("Chosen keys follow given ones in a table with columns named last, most and number")
  func names() throws {
    struct Numbers: Record {
      var id: Int64?
      var last = "x"
      var most = "y"
      var number = "z"

      struct Columns: Sendable {
        let id = Column("id", \Numbers.id, .primaryKey)
        let last = Column("last", \Numbers.last)
        let most = Column("most", \Numbers.most)
        let number = Column("number", \Numbers.number)
      }
      static let columns = Columns()
      static let table = Table(
        "numbers", Numbers.init, columns.id, columns.last, columns.most, columns.number)
    }
    try pool.inTransaction { db in
      try Numbers.table.create(db)
      _ = try Numbers(id: 1).inserted(db)
      #expect(try Numbers().inserted(db).id == 2)
      _ = try Numbers(id: 9).inserted(db)
    }
    #expect(try pool.inTransaction { try Numbers().inserted($0).id } == 10)
  }

  @Test("Inserting the greatest key of a 32-bit sequence leaves room for chosen keys")
  func greatestShortKey() throws {
    try pool.inDatabase { try $0.executeUpdate("ALTER SEQUENCE town_id_seq MAXVALUE 2147483647") }
    try pool.inTransaction { db in _ = try Town(id: 2_147_483_647).inserted(db) }
    #expect(try next() == 1)
    try pool.inTransaction { db in _ = try Town(id: 1_500_000_000).inserted(db) }
    #expect(try next() == 1_500_000_001)
  }

  @Test(
    "A chosen key avoids the keys given to earlier rows of the same transaction"
  )
  func sameTransaction() throws {
    try pool.inTransaction { db in
      try Town.insert(db, contentsOf: [1, 2, 3].map { Town(id: $0) })
      #expect(try Town().inserted(db).id == 4)
      _ = try Town(id: 5).inserted(db)
      _ = try Town(id: 6).upsert(db) as Town
      var town = Town()
      try town.insert(db)
      #expect(town.id == 7)
      try Town.insert(db, contentsOf: [Town(id: 8), Town(), Town(id: 10), Town()])
    }
    let ids = try pool.read { try Town.all.order { $0.id }.fetchAll($0).compactMap(\.id) }
    #expect(ids == Array(1...11))
    #expect(try next() == 12)
  }

  @Test("Eight threads that insert with and without keys get no key twice")
  func atOnce() throws {
    let pool = pool
    let last = Lock<Int64>(0)
    let threads = (0..<8).map { _ in
      Worker {
        for _ in 0..<10 {
          let key = last.withLock { last in
            last += 1_000_000
            return last
          }
          try pool.inTransaction { db in _ = try Town(id: key).inserted(db) }
          _ = try pool.inTransaction { try Town().inserted($0).id }
        }
      }
    }
    for thread in threads { try thread.end() }
    #expect(try pool.read { try Town.all.fetchCount($0) } == 160)
  }

  @Test("A role that may insert, but not use the sequence, can insert rows with keys")
  func withoutPrivilege() throws {
    try pool.inDatabase { db in
      try db.executeStatements(
        """
        DROP ROLE IF EXISTS clerk; CREATE ROLE clerk LOGIN; GRANT USAGE ON SCHEMA public TO clerk;
        GRANT SELECT, INSERT ON town TO clerk
        """)
    }
    let clerk = try PostgresPool(address.replacing("user=larder", with: "user=clerk"))
    try clerk.inTransaction { db in _ = try Town(id: 9).inserted(db) }
    try clerk.inDatabase { db in _ = try Town(id: 10).inserted(db) }
    #expect(try pool.read { try Town.all.fetchCount($0) } == 2)
    try clerk.close()
    try pool.inDatabase { try $0.executeStatements("DROP OWNED BY clerk; DROP ROLE clerk") }
  }
}
