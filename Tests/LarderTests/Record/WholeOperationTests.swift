import Foundation
import Larder
import PostgresSupport
import Testing

/// Tests of record operations that write, and then find that they can't be completed.
@Suite("Operations that fail after writing")
struct WholeOperationTests {
  /// A plot of land. Its table has no row id, and a real column before the key.
  private struct Plot: Record, Equatable {
    var area: Double
    var name: String
    var revision: Int

    struct Columns: Sendable {
      let area = Column("area", \Plot.area)
      let name = Column("name", \Plot.name, .primaryKey)
      let revision = Column("revision", \Plot.revision, .version)
    }
    static let columns = Columns()
    static let table = Table(
      "plot", Plot.init, columns.area, columns.name, columns.revision, options: .withoutRowID)
  }

  @Test("Writing to a table WITHOUT ROWID returns the values with their own types")
  func withoutRowID() throws {
    let db = try Database.empty()
    try Plot.table.create(db)
    var plot = try Plot(area: 1.5, name: "a", revision: 0).inserted(db)
    #expect(plot == Plot(area: 1.5, name: "a", revision: 0))
    plot = try plot.updated(db)
    #expect(plot.revision == 1)
    plot.area = 2.5
    try plot.upsert(db)
    #expect(plot == Plot(area: 2.5, name: "a", revision: 2))
    #expect(try Plot.fetchAll(db) == [plot])
  }

  /// A note with a narrow key and a narrow version.
  private struct Note: Record, Equatable {
    var id: Int8?
    var revision: UInt8

    struct Columns: Sendable {
      let id = Column("id", \Note.id, .primaryKey)
      let revision = Column("revision", \Note.revision, .version)
    }
    static let columns = Columns()
    static let table = Table("note", Note.init, columns.id, columns.revision)
  }

  @Test("A key or version that doesn't fit its property throws, and nothing is stored")
  func narrow() throws {
    let db = try Database.empty()
    try Note.table.create(db)
    try Note.insert(db, contentsOf: [Note(id: 127, revision: 255)])
    var note = Note(id: nil, revision: 0)
    #expect(throws: RecordError.self) { try note.insert(db) }
    #expect(throws: RecordError.self) { try note.upsert(db) }
    var last = try Note.find(db, 127)
    #expect(throws: RecordError.self) { try last.update(db) }
    #expect(try Note.fetchAll(db) == [Note(id: 127, revision: 255)])
    #expect(!db.isInTransaction)
  }

  /// A record whose hooks count their calls and record them in a table.
  private struct Audited: RecordHooks, Equatable {
    var id: Int64
    var touches: Int

    struct Columns: Sendable {
      let id = Column("id", \Audited.id, .primaryKey)
      let touches = Column("touches", \Audited.touches)
    }
    static let columns = Columns()
    static let table = Table("audited", Audited.init, columns.id, columns.touches)

    mutating func willInsert(_ db: Database) throws { try touch("insert", db) }
    mutating func willUpdate(_ db: Database) throws { try touch("update", db) }
    func willDelete(_ db: Database) throws { try note("delete", db) }

    private mutating func touch(_ what: String, _ db: Database) throws {
      touches += 1
      try note(what, db)
    }

    private func note(_ what: String, _ db: Database) throws {
      try db.executeUpdate("INSERT INTO audit (what) VALUES (?)", what)
      if touches > 10 { throw DatabaseError(code: .abort, message: "touched too often") }
    }
  }

  private func audit(_ db: Database) throws -> [String] {
    try db.executeQuery("SELECT what FROM audit ORDER BY id").map { try $0.get(at: 0) }
  }

  @Test("What a hook has written is undone if its operation fails, and the record stays unchanged")
  func hooks() throws {
    let db = try Database.empty()
    try Audited.table.create(db)
    try db.define("CREATE TABLE audit (id INTEGER PRIMARY KEY, what TEXT NOT NULL)")
    var city = Audited(id: 1, touches: 0)
    #expect(throws: RecordError.self) { try city.update(db) }
    #expect(city.touches == 0)
    var worn = Audited(id: 1, touches: 11)
    #expect(throws: DatabaseError.self) { try worn.insert(db) }
    #expect(throws: DatabaseError.self) { try worn.upsert(db) }
    #expect(throws: DatabaseError.self) { try worn.delete(db) }
    #expect(try audit(db) == [])
    #expect(try Audited.fetchAll(db) == [])
  }

  @Test("`save` calls either the hook for inserting or the one for updating")
  func save() throws {
    let db = try Database.empty()
    try Audited.table.create(db)
    try db.define("CREATE TABLE audit (id INTEGER PRIMARY KEY, what TEXT NOT NULL)")
    var city = Audited(id: 5, touches: 0)
    try city.save(db)
    #expect(city.touches == 1)
    try city.save(db)
    #expect(city.touches == 2)
    #expect(try audit(db) == ["insert", "update"])
  }

  @Test(
    "A batch that a trigger rolls back throws a DatabaseError that blames no record",
    .onlySQLite(.triggers)
  )
  func batch() throws {
    let db = try Database.empty()
    try City.table.create(db)
    try db.executeUpdate(
      """
      CREATE TRIGGER no BEFORE INSERT ON city WHEN NEW.population = 99
      BEGIN SELECT RAISE(ROLLBACK, 'no'); END
      """)
    let cities = (90..<120).map { City(id: nil, name: "\($0)", population: $0) }
    #expect(throws: DatabaseError.self) { try City.insert(db, contentsOf: cities) }
    #expect(try City.fetchAll(db).isEmpty)
  }

  @Test("Table names are compared byte by byte: composed and decomposed “é” differ")
  func canonicallyEqualNames() throws {
    struct Composed: Record {
      var id: Int
      struct Columns: Sendable { let id = Column("id", \Composed.id, .primaryKey) }
      static let columns = Columns()
      static let table = Table("caf\u{E9}", Composed.init, columns.id)
    }
    struct Decomposed: Record {
      var id: Int
      struct Columns: Sendable { let id = Column("id", \Decomposed.id, .primaryKey) }
      static let columns = Columns()
      static let table = Table("cafe\u{301}", Decomposed.init, columns.id)
    }
    struct Third: Record {
      var id: Int
      struct Columns: Sendable { let id = Column("id", \Third.id, .primaryKey) }
      static let columns = Columns()
      static let table = Table("third of its kind", Third.init, columns.id)
    }
    let db = try Database.empty()
    try Composed.table.create(db)
    try Decomposed.table.create(db)
    try Third.table.create(db)
    var records = (Composed(id: 1), Decomposed(id: 2), Third(id: 3))
    try records.0.insert(db)
    try records.1.insert(db)
    try records.2.insert(db)
    #expect(try Composed.fetchAll(db).map(\.id) == [1])
    #expect(try Decomposed.fetchAll(db).map(\.id) == [2])
    #expect(try Third.fetchAll(db).map(\.id) == [3])
  }

  @Test("`upsert` by another unique column sets a UUID key to the existing row's key")
  func otherKey() throws {
    struct Person: Record, Equatable {
      var id: UUID
      var email: String
      var age: Int

      struct Columns: Sendable {
        let id = Column("id", \Person.id, .primaryKey)
        let email = Column("email", \Person.email, .unique)
        let age = Column("age", \Person.age)
      }
      static let columns = Columns()
      static let table = Table("person", Person.init, columns.id, columns.email, columns.age)
    }
    let db = try Database.empty()
    try Person.table.create(db)
    let first = Person(id: UUID(), email: "a@example.org", age: 1)
    try first.upsert(db, onConflict: Person.columns.email)
    var second = Person(id: UUID(), email: "a@example.org", age: 2)
    try second.upsert(db, onConflict: Person.columns.email)
    #expect(second.id == first.id)
    second.age = 3
    try second.update(db)
    #expect(try Person.fetchAll(db) == [second])
  }

  @Test("A record can have a property of a type without size")
  func noSize() throws {
    enum Kind: String, DatabaseValueConvertible { case only }
    struct Thing: Record, Equatable {
      var id: Int64?
      var kind: Kind
      var name: String

      struct Columns: Sendable {
        let id = Column("id", \Thing.id, .primaryKey)
        let kind = Column("kind", \Thing.kind)
        let name = Column("name", \Thing.name)
      }
      static let columns = Columns()
      static let table = Table(
        "thing", Thing.init, columns.id, columns.kind, columns.name)
    }
    let db = try Database.empty()
    try Thing.table.create(db)
    var thing = Thing(id: nil, kind: .only, name: "a")
    try thing.insert(db)
    #expect(try Thing.fetchAll(db) == [thing])
  }
}
