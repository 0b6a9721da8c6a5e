import Larder
import Testing

@Suite("Columns of other programs' tables")
struct FoundColumnTests {
  let db: Database

  init() throws { db = try Database() }

  @Test("Operations that need a missing column throw, and the others work")
  func missing() throws {
    try db.executeUpdate("CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
    try db.executeUpdate("INSERT INTO person VALUES (1, 'Ann')")
    let problem = declarationProblem { try FoundPerson.fetchAll(db) }
    #expect(problem?.contains("no column “age”") == true)
    var bob = FoundPerson(id: nil, name: "Bob", age: 1)
    #expect(declarationProblem { try bob.insert(db) } == problem)
    #expect(declarationProblem { try bob.inserted(db) } == problem)
    #expect(declarationProblem { try FoundPerson.insert(db, contentsOf: [bob]) } == problem)
    #expect(declarationProblem { try FoundPerson.fetchOne(db, 1) } == problem)
    let ann = FoundPerson(id: 1, name: "Anna", age: nil)
    #expect(declarationProblem { try ann.update(db) } == problem)
    #expect(declarationProblem { try ann.upsert(db) } == problem)
    try ann.update(db, FoundPerson.columns.name)
    #expect(try FoundPerson.all.select { $0.name }.fetchAll(db) == ["Anna"])
    #expect(try FoundPerson.filter { $0.name == "Anna" }.update(db) { $0.name = "Ann" } == 1)
    #expect(try ann.delete(db))
  }

  @Test("A missing column is refused even if double-quoted strings are allowed")
  func quotedStrings() throws {
    var configuration = Configuration()
    configuration.allowsDoubleQuotedStrings = true
    let db = try Database(configuration: configuration)
    try db.executeStatements(
      """
      CREATE TABLE person (id INTEGER PRIMARY KEY, age INTEGER);
      INSERT INTO person VALUES (1, 5);
      """)
    #expect(declarationProblem { try FoundPerson.fetchAll(db) } != nil)
    #expect(declarationProblem { try FoundPerson.fetchOne(db, 1) } != nil)
  }

  @Test("Inserting throws if the table has a NOT NULL column that the record doesn't write")
  func unwritten() throws {
    try db.executeStatements(
      """
      CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER,
        country TEXT NOT NULL, note TEXT, level TEXT NOT NULL DEFAULT 'x', code INTEGER NOT NULL);
      INSERT INTO person VALUES (1, 'Ann', 5, 'NO', NULL, 'y', 2);
      """)
    var bob = FoundPerson(id: nil, name: "Bob", age: 1)
    let problem = declarationProblem { try bob.insert(db) }
    #expect(problem?.contains("“country”, “code”") == true)
    #expect(declarationProblem { try bob.insert(db, or: .ignore) } == problem)
    #expect(declarationProblem { try FoundPerson.insert(db, contentsOf: [bob]) } == problem)
    #expect(declarationProblem { try bob.upsert(db) } == problem)
    #expect(declarationProblem { try bob.save(db) as Void } == problem)
    // Rows can still be read, updated and deleted.
    var ann = try FoundPerson.find(db, 1)
    ann.age = 6
    try ann.update(db)
    try ann.save(db)
    #expect(try FoundPerson.filter { $0.age == 6 }.fetchAll(db) == [ann])
    #expect(try ann.delete(db))
  }

  @Test("Writing a column that is generated in only one of database and declaration throws")
  func generated() throws {
    try db.executeStatements(
      """
      CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INTEGER AS (length(name)) STORED);
      INSERT INTO person (id, name) VALUES (1, 'Ann');
      """)
    var ann = try FoundPerson.find(db, 1)
    #expect(ann.age == 3)
    ann.name = "Anna"
    #expect(declarationProblem { try ann.update(db) }?.contains(".readOnly") == true)
    #expect(declarationProblem { try ann.inserted(db) } != nil)
    try ann.update(db, FoundPerson.columns.name)
    #expect(try FoundPerson.find(db, 1).age == 4)

    struct Sum: Record {
      var id: Int64?
      var one: Int
      var two: Int
      static let columns = (
        Column("id", \Sum.id, .primaryKey), Column("one", \Sum.one),
        Column("two", \Sum.two, .generated("one * 2"))
      )
      static let table = Table("sum", Sum.init, columns.0, columns.1, columns.2)
    }
    try db.executeUpdate("CREATE TABLE sum (id INTEGER PRIMARY KEY, one INTEGER, two INTEGER)")
    var sum = Sum(id: nil, one: 1, two: 2)
    #expect(declarationProblem { try sum.insert(db) }?.contains("declared as generated") == true)
  }

  @Test("A record over a view that isn't declared as one can be read, and writing it throws")
  func view() throws {
    try db.executeStatements(
      """
      CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER);
      INSERT INTO people VALUES (1, 'Ann', 5);
      CREATE VIEW person AS SELECT id, name, age FROM people;
      CREATE TRIGGER made INSTEAD OF INSERT ON person BEGIN
        INSERT INTO people (name, age) VALUES (new.name, new.age);
      END;
      CREATE TRIGGER changed INSTEAD OF UPDATE ON person BEGIN
        UPDATE people SET age = new.age WHERE id = new.id;
      END;
      CREATE TRIGGER gone INSTEAD OF DELETE ON person BEGIN DELETE FROM people WHERE id = old.id; END;
      """)
    var ann = try FoundPerson.find(db, 1)
    #expect(try FoundPerson.filter { $0.age == 5 }.fetchAll(db) == [ann])
    ann.age = 6
    #expect(declarationProblem { try ann.update(db) }?.contains("it is a view") == true)
    #expect(declarationProblem { try ann.insert(db) } != nil)
    #expect(declarationProblem { try ann.delete(db) } != nil)
    #expect(declarationProblem { try FoundPerson.insert(db, contentsOf: [ann]) } != nil)
    #expect(declarationProblem { try FoundPerson.all.delete(db) } != nil)
    #expect(declarationProblem { try FoundPerson.all.update(db) { $0.age = 7 } } != nil)
    #expect(try db.value("SELECT sum(age) FROM people", as: Int.self) == 5)
  }

  @Test("A view's columns have the types of the columns behind them")
  func typesOfViews() throws {
    try db.executeStatements(
      """
      CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age TEXT);
      CREATE VIEW person AS SELECT id, name, age FROM people;
      """)
    #expect(declarationProblem { try FoundPerson.filter { $0.age == 5 }.fetchAll(db) } != nil)
    try db.executeStatements(
      """
      DROP VIEW person;
      CREATE VIEW person AS SELECT id, name, length(age) AS age FROM people;
      INSERT INTO people VALUES (1, 'Ann', 'five');
      """)
    #expect(try FoundPerson.filter { $0.age == 4 }.fetchAll(db).count == 1)
  }

  @Test("Column names match in any ASCII case, and exactly otherwise")
  func names() throws {
    struct Road: Record {
      var id: Int64?
      var name: String
      static let columns = (
        Column("id", \Road.id, .primaryKey), Column("straße", \Road.name)
      )
      static let table = Table("road", Road.init, columns.0, columns.1)
    }
    try db.executeUpdate(#"CREATE TABLE "ROAD" ("ID" INTEGER PRIMARY KEY, "STRAßE" TEXT)"#)
    var road = Road(id: nil, name: "Karl Johans gate")
    try road.insert(db)
    #expect(try Road.find(db, 1).name == road.name)
  }

  @Test("Column types are read from a database in UTF-16")
  func utf16() throws {
    try db.executeStatements(
      """
      PRAGMA encoding = 'UTF-16';
      CREATE TABLE person (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, age TEXT);
      """)
    #expect(try db.columns(of: "person").map(\.type) == ["INTEGER", "VARCHAR(20)", "TEXT"])
    let differences = try FoundPerson.table.differences(db).filter { $0.kind == .type }
    #expect(differences.map(\.column) == ["age"])
    #expect(declarationProblem { try FoundPerson.fetchAll(db) } != nil)
  }
}
