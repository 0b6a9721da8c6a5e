import Larder
import Testing

@Suite("Keys that can be NULL in other programs' tables")
struct NullKeyTests {
  let db: Database

  init() throws { db = try Database() }

  private func create(_ id: String, options: String = "") throws {
    try db.executeUpdate(
      SQL(raw: "CREATE TABLE person (id \(id), name TEXT NOT NULL, age INTEGER)\(options)"))
  }

  private struct Code: Record, Equatable {
    var id: String?
    var name: String
    struct Columns: Sendable {
      let id = Column("id", \Code.id, .primaryKey)
      let name = Column("name", \Code.name)
    }
    static let columns = Columns()
    static let table = Table("person", Code.init, columns.id, columns.name)
  }

  private struct Place: Record, Equatable {
    var row: Int
    var id: String?
    static let columns = (
      Column("age", \Place.row, .primaryKey), Column("id", \Place.id, .primaryKey)
    )
    static let table = Table("person", Place.init, columns.0, columns.1)
  }

  @Test(
    "A key that can be NULL has to be given, and has no pages; other uses work",
    arguments: ["TEXT PRIMARY KEY", "TEXT UNIQUE", "TEXT PRIMARY KEY DEFAULT 'x'"])
  func nullKey(_ form: String) throws {
    try create(form)
    var code = Code(id: nil, name: "Ann")
    #expect(declarationProblem { try code.insert(db) }?.contains("“id” can be NULL") == true)
    #expect(declarationProblem { try code.insert(db, or: .ignore) } != nil)
    #expect(declarationProblem { try code.inserted(db) } != nil)
    #expect(declarationProblem { try code.save(db) as Void } != nil)
    #expect(declarationProblem { try code.upsert(db) as Void } != nil)
    #expect(declarationProblem { try Code.insert(db, contentsOf: [code]) } != nil)
    #expect(declarationProblem { try Code.upsert(db, contentsOf: [code]) } != nil)
    #expect(try Code.fetchAll(db).isEmpty)
    code.id = "a"
    try code.save(db) as Void
    code.name = "Anna"
    try code.save(db) as Void
    #expect(try Code.find(db, "a") == code)
    // Several rows without a key, which other programs have written.
    try db.executeUpdate("INSERT INTO person (id, name) VALUES (NULL, 'Bob'), (NULL, 'Eve')")
    for query in [Code.all, Code.order { $0.name }] {
      #expect(
        declarationProblem { try query.page(db, limit: 1) }?.contains("declare it NOT NULL") == true
      )
    }
    #expect(try Code.order { $0.name }.fetchAll(db).map(\.name) == ["Anna", "Bob", "Eve"])
    #expect(try code.delete(db))
  }

  @Test("A part of a composite key that can be NULL has to be given, and has no pages")
  func nullPart() throws {
    try db.executeUpdate("CREATE TABLE person (id TEXT, age INTEGER, PRIMARY KEY (age, id))")
    var place = Place(row: 1, id: nil)
    #expect(declarationProblem { try place.insert(db) }?.contains("“id” can be NULL") == true)
    #expect(declarationProblem { try place.save(db) as Void } != nil)
    place.id = "a"
    try place.insert(db)
    #expect(declarationProblem { try Place.all.page(db, limit: 1) } != nil)
    #expect(try Place.fetchAll(db) == [place])
  }

  @Test("A key that can't be NULL in the database has pages, and SQLite refuses a nil one")
  func neverNullKey() throws {
    for (form, options) in [
      ("TEXT PRIMARY KEY", " WITHOUT ROWID"), ("TEXT NOT NULL PRIMARY KEY", ""),
      ("TEXT PRIMARY KEY", " STRICT"),
    ] {
      try create(form, options: options)
      var code = Code(id: nil, name: "Ann")
      #expect(failure(DatabaseError.self) { try code.insert(db) }?.code == .constraint)
      code.id = "a"
      try code.insert(db)
      #expect(try Code.all.page(db, limit: 1).rows == [code])
      try db.executeUpdate("DROP TABLE person")
    }
  }
}
