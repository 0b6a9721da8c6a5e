import Larder
import Testing

@Suite("Keys of other programs' tables")
struct KeyFormTests {
  let db: Database

  init() throws { db = try Database() }

  private func create(_ id: String, _ rest: String = "", options: String = "") throws {
    try db.executeUpdate(
      SQL(raw: "CREATE TABLE person (id \(id), name TEXT NOT NULL, age INTEGER\(rest))\(options)"))
  }

  static let otherForms = [
    "INT PRIMARY KEY", "BIGINT PRIMARY KEY", "INTEGER PRIMARY KEY DESC", "INTEGER UNIQUE",
    "INTEGER(8) PRIMARY KEY", "INTEGER", "BIGINT NOT NULL PRIMARY KEY",
  ]

  @Test(
    "Inserting a nil key throws where the key isn't the row id, and stores nothing",
    arguments: otherForms)
  func missingKey(_ form: String) throws {
    try create(form)
    var ann = FoundPerson(id: nil, name: "Ann", age: 40)
    let problem = declarationProblem { try ann.insert(db) }
    // If the column can't be NULL, SQLite refuses the row.
    #expect(problem?.contains("“id” isn't the row id") ?? form.contains("NOT NULL"))
    #expect(throws: (any Error).self, "the second time too") { try ann.insert(db) }
    #expect(throws: (any Error).self) { try ann.insert(db, or: .replace) }
    #expect(throws: (any Error).self) { try ann.inserted(db) }
    #expect(throws: (any Error).self) { try ann.save(db) as Void }
    #expect(throws: (any Error).self) { try ann.upsert(db) as Void }
    #expect(throws: (any Error).self) { try FoundPerson.insert(db, contentsOf: [ann, ann]) }
    #expect(ann.id == nil)
    #expect(try db.value("SELECT count(*) FROM person", as: Int.self) == 0)
  }

  @Test(
    "A record with a key is inserted with it and found by it, also where it isn't the row id",
    arguments: otherForms)
  func givenKey(_ form: String) throws {
    try create(form)
    try db.executeUpdate("INSERT INTO person VALUES (3, 'Zoe', NULL)")
    var ann = FoundPerson(id: 70, name: "Ann", age: 40)
    try ann.insert(db)
    #expect(ann.id == 70)
    let bob = try FoundPerson(id: 71, name: "Bob", age: nil).inserted(db)
    #expect(bob.id == 71)
    try FoundPerson.insert(db, contentsOf: [FoundPerson(id: 72, name: "Eve", age: 1)])
    #expect(try FoundPerson.find(db, 70) == ann)
    #expect(try FoundPerson.order { $0.id }.fetchAll(db).map(\.id) == [3, 70, 71, 72])
  }

  @Test(
    "A row can be updated, saved, upserted and deleted by a key that isn't the row id",
    arguments: otherForms.filter { $0 != "INTEGER" })
  func changes(_ form: String) throws {
    try create(form)
    var ann = FoundPerson(id: 70, name: "Ann", age: 40)
    try ann.insert(db)
    ann.age = 41
    try ann.update(db)
    ann.name = "Anna"
    try ann.save(db)
    #expect(try FoundPerson.fetchAll(db) == [ann])
    ann.age = 42
    try ann.upsert(db)
    #expect(try FoundPerson.fetchAll(db) == [ann])
    #expect(try ann.delete(db))
    #expect(try FoundPerson.fetchAll(db).isEmpty)
  }

  @Test("Changing a record by a key without a unique index throws, and changes nothing")
  func ambiguousKey() throws {
    try create("INTEGER")
    try db.executeUpdate("INSERT INTO person VALUES (7, 'Ann', 1), (7, 'Bob', 2)")
    let ann = FoundPerson(id: 7, name: "Ann", age: 3)
    let problem = declarationProblem { try ann.update(db) }
    #expect(problem?.contains("two rows in the database") == true)
    #expect(declarationProblem { try ann.update(db, FoundPerson.columns.age) } != nil)
    #expect(declarationProblem { try ann.delete(db) } != nil)
    #expect(declarationProblem { try ann.save(db) } != nil)
    #expect(declarationProblem { try ann.upsert(db) } != nil)
    #expect(declarationProblem { try FoundPerson.all.page(db, limit: 1) } != nil)
    #expect(declarationProblem { try FoundPerson.limit(1).delete(db) } != nil)
    #expect(try db.value("SELECT sum(age) FROM person", as: Int.self) == 3)
    // A query that updates or deletes several rows is allowed.
    #expect(try FoundPerson.filter { $0.id == 7 }.update(db) { $0.age = 5 } == 2)
    #expect(try FoundPerson.filter { $0.id == 7 }.delete(db) == 2)
  }

  @Test("A unique index makes its column a key, but a partial one doesn't")
  func uniqueIndex() throws {
    try create("INTEGER")
    try db.executeUpdate("CREATE UNIQUE INDEX some ON person (id) WHERE age > 5")
    var ann = FoundPerson(id: 7, name: "Ann", age: 1)
    try ann.insert(db)
    #expect(declarationProblem { try ann.delete(db) } != nil)
    try db.executeUpdate("CREATE UNIQUE INDEX all_of_them ON person (id)")
    #expect(try ann.delete(db))
  }

  @Test("A row id is recognized in lowercase SQL, and by the name rowid")
  func rowID() throws {
    try create("integer primary key autoincrement")
    var ann = FoundPerson(id: nil, name: "Ann", age: 40)
    try ann.insert(db)
    #expect(ann.id == 1)
    struct Row: Record {
      var number: Int64?
      var name: String
      static let columns = (
        Column("rowid", \Row.number, .primaryKey), Column("name", \Row.name)
      )
      static let table = Table("person", Row.init, columns.0, columns.1)
    }
    var row = Row(number: nil, name: "Bob")
    try row.insert(db)
    #expect(row.number == 2)
    #expect(try Row.find(db, 2).name == "Bob")
  }

  @Test("A table constraint PRIMARY KEY (id) makes an INTEGER column the row id")
  func tableConstraint() throws {
    try create("INTEGER", ", PRIMARY KEY (id)")
    var ann = FoundPerson(id: nil, name: "Ann", age: 40)
    try ann.insert(db)
    #expect(ann.id == 1)
  }

  @Test("`inserted` and `updated` return large integers exactly where a REAL column comes first")
  func firstColumn() throws {
    try db.executeUpdate(
      "CREATE TABLE person (height REAL, id INTEGER PRIMARY KEY, age INTEGER, name TEXT)")
    let age = 9_007_199_254_740_993
    var ann = try FoundPerson(id: nil, name: "Ann", age: age).inserted(db)
    #expect(ann == FoundPerson(id: 1, name: "Ann", age: age))
    ann.name = "Anna"
    let updated = try ann.updated(db)
    #expect(updated == ann)
    var bob = FoundPerson(id: nil, name: "Bob", age: 5)
    try bob.upsert(db)
    #expect(bob.id == 2)
    // Deleting fails as a whole if SQLite, in some versions, doesn't return the rows exactly.
    let deleted = Result { try FoundPerson.all.deleted(db) }
    let left = try FoundPerson.fetchAll(db)
    switch deleted {
    case .success(let deleted):
      #expect(deleted == [ann, bob])
      #expect(left == [])
    case .failure(let error):
      #expect(ConversionFailure(error)?.table == "person", "\(error)")
      #expect(left == [ann, bob])
    }
  }

  @Test("`inserted` and `updated` return real values exactly from a table WITHOUT ROWID")
  func withoutRowID() throws {
    try db.executeUpdate(
      """
      CREATE TABLE city (height REAL, name TEXT, area REAL, id INTEGER, PRIMARY KEY (name)) WITHOUT ROWID
      """)
    struct City: Record, Equatable {
      var name: String
      var height: Double
      var area: Double
      static let columns = (
        Column("name", \City.name, .primaryKey), Column("height", \City.height),
        Column("area", \City.area)
      )
      static let table = Table("city", City.init, columns.0, columns.1, columns.2)
    }
    let oslo = City(name: "Oslo", height: 23, area: 454.5)
    #expect(try oslo.inserted(db) == oslo)
    let higher = City(name: "Oslo", height: 24, area: 454.5)
    #expect(try higher.updated(db) == higher)
    #expect(try City.find(db, "Oslo") == higher)
  }

  @Test("Inserting a nil key into a table WITHOUT ROWID throws")
  func numberedWithoutRowID() throws {
    try create("INTEGER PRIMARY KEY", options: " WITHOUT ROWID")
    var ann = FoundPerson(id: nil, name: "Ann", age: 40)
    #expect(throws: (any Error).self) { try ann.insert(db) }
    try db.executeUpdate("CREATE TABLE other (id INTEGER PRIMARY KEY)")
    try db.executeUpdate("INSERT INTO other VALUES (900)")
    ann.id = 5
    try ann.insert(db)
    #expect(ann.id == 5)
  }

  @Test("A part of a composite key doesn't identify a row, and the key with another column does")
  func composite() throws {
    try db.executeUpdate("CREATE TABLE stay (a INTEGER, b INTEGER, c INTEGER, PRIMARY KEY (a, b))")
    struct Part: Record {
      var a: Int
      var c: Int
      static let columns = (Column("a", \Part.a, .primaryKey), Column("c", \Part.c))
      static let table = Table("stay", Part.init, columns.0, columns.1)
    }
    struct More: Record {
      var a: Int
      var b: Int
      var c: Int
      static let columns = (
        Column("a", \More.a, .primaryKey), Column("b", \More.b, .primaryKey),
        Column("c", \More.c, .primaryKey)
      )
      static let table = Table("stay", More.init, columns.0, columns.1, columns.2)
    }
    try db.executeUpdate("INSERT INTO stay VALUES (1, 1, 1), (1, 2, 1)")
    #expect(declarationProblem { try Part(a: 1, c: 5).update(db) } != nil)
    #expect(try More(a: 1, b: 2, c: 1).delete(db))
    #expect(try db.value("SELECT count(*) FROM stay", as: Int.self) == 1)
  }

  private struct Tag: Record {
    var name: String
    var count: Int
    static let columns = (Column("name", \Tag.name, .primaryKey), Column("count", \Tag.count))
    static let table = Table("tag", Tag.init, columns.0, columns.1)
  }

  @Test("An upsert throws if another index with NOCASE could match the row of another key")
  func upsertByCollation() throws {
    try db.executeStatements(
      """
      CREATE TABLE tag (name TEXT PRIMARY KEY, count INTEGER, UNIQUE (name COLLATE NOCASE));
      INSERT INTO tag VALUES ('a', 1);
      """)
    let problem = declarationProblem { try Tag(name: "A", count: 5).upsert(db) }
    #expect(problem?.contains("NOCASE") == true)
    #expect(try Tag.find(db, "a").count == 1)
    var bee = Tag(name: "b", count: 2)
    try bee.insert(db)
    bee.count = 3
    try bee.save(db)
    try Tag(name: "A", count: 5).upsert(db, onConflict: Tag.columns.0, updating: Tag.columns.1)
    #expect(try db.value("SELECT group_concat(name || count) FROM tag", as: String.self) == "a5,b3")
    try db.executeStatements(
      """
      DROP TABLE tag;
      CREATE TABLE tag (name TEXT COLLATE NOCASE PRIMARY KEY, count INTEGER);
      INSERT INTO tag VALUES ('a', 1);
      """)
    try Tag(name: "A", count: 5).upsert(db)
    #expect(try Tag.find(db, "a").count == 5)
  }

  @Test("A unique index that is finer than the column's collation doesn't make a key")
  func collations() throws {
    try db.executeStatements(
      """
      CREATE TABLE tag (name TEXT COLLATE NOCASE, count INTEGER);
      CREATE UNIQUE INDEX exact ON tag (name COLLATE BINARY);
      INSERT INTO tag VALUES ('a', 1), ('A', 2);
      """)
    #expect(declarationProblem { try Tag(name: "a", count: 5).update(db) } != nil)
    try db.executeStatements(
      """
      DROP TABLE tag;
      CREATE TABLE tag (name TEXT, count INTEGER);
      CREATE UNIQUE INDEX inexact ON tag (name COLLATE NOCASE);
      INSERT INTO tag VALUES ('a', 1);
      """)
    try Tag(name: "a", count: 5).update(db)
    #expect(try Tag.find(db, "a").count == 5)
  }

  @Test("An observed record is updated where its key isn't the row id")
  func observed() async throws {
    let queue = try DatabaseQueue()
    try await queue.inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE person (id INT PRIMARY KEY, name TEXT NOT NULL, age INTEGER);
        INSERT INTO person VALUES (7, 'Ann', 1);
        """)
    }
    var values = queue.values(of: { try FoundPerson.fetchOne($0, 7)?.age }).makeAsyncIterator()
    #expect(try await values.next() == 1)
    try await queue.inTransaction { try $0.executeUpdate("UPDATE person SET age = 2") }
    #expect(try await values.next() == 2)
  }

  @Test("A key's unique index is found beside a temporary index with the same name")
  func indexOfOtherDatabase() throws {
    try create("INTEGER")
    try db.executeStatements(
      """
      CREATE UNIQUE INDEX person_key ON person (id);
      CREATE TEMP TABLE note (text TEXT, person INTEGER);
      CREATE UNIQUE INDEX temp.person_key ON note (person);
      """)
    var ann = FoundPerson(id: 70, name: "Ann", age: 40)
    try ann.insert(db)
    ann.age = 41
    try ann.update(db)
    #expect(try FoundPerson.find(db, 70) == ann)
    try db.executeUpdate("DROP INDEX main.person_key")
    ann.age = 42
    #expect(declarationProblem { try ann.update(db) } != nil, "only note's index is left")
  }

  @Test("`inserted` throws if it can't read back the new row by its key")
  func insertedBesideItsKey() throws {
    try db.executeStatements(
      """
      CREATE TABLE person (height REAL, id INTEGER, name TEXT, age INTEGER);
      INSERT INTO person VALUES (1.7, 70, 'Zoe', 1);
      """)
    let ann = FoundPerson(id: 70, name: "Ann", age: 40)
    #expect(declarationProblem { try ann.inserted(db) } != nil)
    #expect(try FoundPerson.all.fetchAll(db).map(\.name) == ["Zoe"])
  }

  @Test("A record over a virtual table can be inserted, updated and found")
  func virtualTable() throws {
    struct Box: Record, Equatable {
      var id: Int64?
      var left: Double
      var right: Double
      static let columns = (
        Column("id", \Box.id, .primaryKey), Column("left", \Box.left), Column("right", \Box.right)
      )
      static let table = Table("box", Box.init, columns.0, columns.1, columns.2)
    }
    try db.executeUpdate("CREATE VIRTUAL TABLE box USING rtree (id, left, right)")
    var box = Box(id: nil, left: 1, right: 2)
    try box.insert(db)
    #expect(box.id == 1)
    box.right = 3
    try box.update(db)
    #expect(try Box.find(db, 1) == box)
  }
}
