import Foundation
import Larder
import PostgresSupport
import Testing

@Suite("Creating tables")
struct SchemaCreationTests {
  let db: Database

  init() throws { db = try Database.empty() }

  @Test(
    "Records can be inserted and found in a table that their declaration created",
    .onlySQLite(.catalog))
  func records() throws {
    try City.table.create(db)
    var oslo = City(id: nil, name: "Oslo", population: 709_037)
    try oslo.insert(db)
    #expect(try City.find(db, 1) == oslo)
    #expect(try db.indexes(of: "city").map(\.name) == ["city_population_index"])
  }

  @Test(
    "A created table stores every type, whether STRICT, not STRICT or WITHOUT ROWID",
    .onlySQLite(.anyTyped))
  func types() throws {
    for options in [[], .notStrict, .withoutRowID] as [TableOptions] {
      let db = try Database.empty()
      let table = everything(options)
      try table.create(db)
      let id = UUID()
      let record = Everything(
        id: id, integer: 1, real: 2.5, text: "Oslo", blob: [1],
        date: Date(timeIntervalSince1970: 5),
        any: "12", level: .capital, tags: ["old", "large"],
        millisecond: Date(timeIntervalSince1970: 7))
      try record.save(db)
      let read = try Everything.find(db, id)
      #expect(read.any == "12")
      #expect(read.tags == ["old", "large"])
      #expect(read.millisecond == record.millisecond)
    }
  }

  @Test(
    "A nil Optional is stored as NULL in a JSON column, and NULL is read as nil",
    .onlySQLite(.anyTyped))
  func optionalJSON() throws {
    try Everything.table.create(db)
    try db.executeUpdate("INSERT INTO everything (id, tags) VALUES (\(UUID()), NULL)")
    let read = try #require(try Everything.fetchAll(db).first)
    #expect(read.tags == nil)
    try read.save(db)
    #expect(try db.value("SELECT typeof(tags) FROM everything") == "null")
  }

  @Test(
    "A created table has the declared defaults",
    .onlySQLite(.anyTyped))
  func defaults() throws {
    try Everything.table.create(db)
    try db.executeUpdate("INSERT INTO everything (id) VALUES (\(UUID()))")
    let read = try #require(try Everything.fetchAll(db).first)
    #expect(read.integer == -5)
    #expect(read.real == nil)
    #expect(read.text == "L'Aquila")
    #expect(read.blob == [1, 255])
    #expect(read.date == Date(timeIntervalSince1970: 0))
    #expect(read.any == 2.5)
    #expect(read.level == .city)
    #expect(read.tags == ["old"])
    #expect(read.millisecond == Date(timeIntervalSince1970: 1))
  }

  @Test(
    "A text default may contain NUL",
    .onlySQLite(.nul))
  func defaultWithNUL() throws {
    try town(Column("name", \.name, .default("Os\0lo"))).create(db)
    try db.executeUpdate("INSERT INTO town DEFAULT VALUES")
    #expect(try db.value("SELECT name FROM town") == "Os\0lo")
  }

  @Test("Creating a table with a default that can't be stored throws")
  func badDefault() throws {
    let table = Table(
      "road", Road.init, Road.columns.from, Road.columns.to, Road.columns.country,
      Column("length", \.length, .default(.nan)))
    #expect(throws: ConversionError.self) { try table.create(db) }
    #expect(try db.schema().isEmpty)
  }

  @Test("A column's default may be an SQL expression")
  func defaultExpression() throws {
    try town(Column("name", \.name, .readOnly, .default(sql: "upper(\("oslo"))"))).create(db)
    try db.executeUpdate("INSERT INTO town DEFAULT VALUES")
    #expect(try db.value("SELECT name FROM town") == "OSLO")
  }

  @Test(
    "A created table is STRICT unless declared otherwise",
    .onlySQLite(.definitions))
  func strict() throws {
    try City.table.create(db)
    #expect(violation("INSERT INTO city VALUES (1, 'Oslo', 'many')", db) == .datatype)
    try everything(.notStrict).create(db)
    try db.executeUpdate("INSERT INTO everything (id, integer) VALUES (1, 'many')")
    #expect(try db.value("SELECT typeof(integer) FROM everything") == "text")
  }

  @Test(
    "A column of any type keeps text that looks like a number, also without STRICT",
    .onlySQLite(.anyTyped))
  func any() throws {
    for options in [[], .notStrict] as [TableOptions] {
      let db = try Database.empty()
      try everything(options).create(db)
      try db.executeUpdate(
        #"INSERT INTO everything (id, "any") VALUES (\#([1] as [UInt8]), '012')"#)
      #expect(try db.value(#"SELECT "any" FROM everything"#) == "012")
    }
  }

  @Test("Non-optional properties and keys are created NOT NULL")
  func notNull() throws {
    try City.table.create(db)
    #expect(violation("INSERT INTO city VALUES (1, NULL, 0)", db) == .notNull)
    try Motto.table.create(db)
    #expect(violation("INSERT INTO motto VALUES (NULL, 'Fluctuat nec mergitur')", db) == .notNull)
    try road().create(db)
    #expect(violation("INSERT INTO road VALUES (1, NULL, 'NO', 5)", db) == .notNull)
    #expect(violation("INSERT INTO road VALUES (1, 2, NULL, 5)", db) == nil)
  }

  @Test(
    "An integer key is the row id, and AUTOINCREMENT doesn't reuse it",
    .onlySQLite(.definitions))
  func rowID() throws {
    try Road.table.create(db)
    try Bridge.table.create(db)
    try Road(from: 1, to: 2, country: nil, length: 5).save(db)
    var bridge = Bridge(id: nil, from: 1, to: 2, older: nil)
    try bridge.insert(db)
    #expect(try db.value("SELECT rowid FROM bridge") == bridge.id)
    try bridge.delete(db)
    try bridge.insert(db)
    bridge.id = nil
    try bridge.insert(db)
    #expect(bridge.id == 2)
  }

  @Test("A table created WITHOUT ROWID has no row ids")
  func withoutRowID() throws {
    try road(options: .withoutRowID).create(db)
    #expect(throws: DatabaseError.self) { try db.value("SELECT rowid FROM road", as: Int.self) }
    try Road(from: 1, to: 2, country: "NO", length: 5).save(db)
    #expect(try Road.find(db, 1, 2).length == 5)
    let town = town(Column("name", \.name), options: .withoutRowID)
    try town.create(db)
    #expect(violation("INSERT INTO town VALUES (NULL, 'Oslo')", db) == .notNull)
  }

  @Test("A foreign key to a key with another number of columns throws before anything is created")
  func badReference() throws {
    let table = town(Column("name", \.name, .references(Road.self)))
    #expect {
      try table.create(db)
    } throws: {
      "\($0)" == """
        the declaration of the table “town” is wrong: “name” can't refer to “road”, whose primary \
        key has 2 columns
        """
    }
    #expect(try db.schema().isEmpty)
  }

  @Test("Two indexes with the same name throw before anything is created")
  func sameIndex() throws {
    let name = Column("name", \Town.name, .indexed)
    let table = town(name, indexes: [.index(name, where: "id > 5")])
    #expect {
      try table.create(db)
    } throws: {
      "\($0)".contains("two indexes are named “town_name_index”")
    }
    #expect(try db.schema().isEmpty)
  }

  @Test("A wrong declaration throws in create, drop, differences and schema")
  func wrongDeclaration() {
    let table = town(Column("ID", \.name))
    #expect(throws: RecordError.self) { try table.create(db) }
    #expect(throws: RecordError.self) { try table.drop(db) }
    #expect(throws: RecordError.self) { try table.differences(db) }
    #expect(throws: RecordError.self) { try table.schema().statements }
  }

  @Test("Creating a table whose index name is taken throws, and leaves no table behind")
  func atomic() throws {
    try db.executeStatements(
      "CREATE TABLE other (a TEXT); CREATE INDEX city_population_index ON other (a)")
    for ifNotExists in [false, true] {
      #expect(throws: DatabaseError.self) { try City.table.create(db, ifNotExists: ifNotExists) }
      #expect(try !db.tableExists("city"))
    }
    #expect(!db.isInTransaction)
  }

  @Test("create(ifNotExists:) creates missing indexes of an existing table")
  func missingIndex() throws {
    try City.table.create(db)
    try db.executeUpdate("DROP INDEX city_population_index")
    #expect(try City.table.differences(db).map(\.kind) == [.index])
    try City.table.create(db, ifNotExists: true)
    #expect(try City.table.differences(db) == [])
  }

  @Test("Dropping a missing table throws without ifExists")
  func drop() throws {
    #expect(throws: DatabaseError.self) { try City.table.drop(db) }
    try City.table.drop(db, ifExists: true)
    try City.table.create(db)
    try City.table.drop(db, ifExists: true)
    #expect(try db.schema().isEmpty)
  }

  @Test("Creating a table is rolled back with the transaction around it")
  func transaction() throws {
    try db.inTransaction { db in
      try City.table.create(db)
      db.setRollbackOnly()
    }
    #expect(try db.schema().isEmpty)
  }

  @Test(
    "Creating SQLite's automatic index by itself throws",
    .onlySQLite(.catalog))
  func automaticIndex() throws {
    try db.executeUpdate("CREATE TABLE place (name TEXT UNIQUE)")
    let index = try #require(try db.schema().first { $0.sql == nil })
    let error = failure(DatabaseError.self) { try index.create(db) }
    #expect(error?.code == .misuse)
    #expect(
      error?.message
        == "SQLite creates “sqlite_autoindex_place_1” itself, together with its table")
  }

  @Test(
    "A type without a column type is stored in a column of any type",
    .onlySQLite(.anyTyped))
  func anyType() throws {
    struct Mark: DatabaseValueConvertible, Equatable {
      var databaseValue: DatabaseValue
      init(databaseValue: DatabaseValue) { self.databaseValue = databaseValue }
    }
    struct Exam: Record, Equatable {
      var mark: Mark
      static let columns = [Column("mark", \Exam.mark)]
      static let table = Table("exam", Exam.init, columns[0], options: .noPrimaryKey)
    }
    #expect(Mark.columnType == .any)
    try Exam.table.create(db)
    let exams = [DatabaseValue.integer(5), .text("5"), .real(5)].map {
      Exam(mark: Mark(databaseValue: $0))
    }
    try Exam.insert(db, contentsOf: exams)
    #expect(try Exam.fetchAll(db) == exams)
  }

  private struct Owner: Record {
    var id: Int64?
    var name: String

    struct Columns: Sendable {
      let id = Column("id", \Owner.id, .primaryKey)
      let name = Column("name", \Owner.name)
    }
    static let columns = Columns()
    static let table = Table("owner", Owner.init, columns.id, columns.name)
  }

  private struct Pet: Record {
    var name: String
    var owner: String

    struct Columns: Sendable {
      let name = Column("name", \Pet.name, .primaryKey)
      let owner = Column("owner", \Pet.owner, .references(Owner.self))
    }
    static let columns = Columns()
    static let table = Table("pet", Pet.init, columns.name, columns.owner)
  }

  @Test("A column that refers to a key whose values it can't have is refused by name")
  func wrongReferences() throws {
    try Owner.table.create(db)
    let integer = db.engine == nil ? "INTEGER" : "BIGINT"
    let problem = """
      “owner” is TEXT, so it can't refer to “id” of “owner”, which is \(integer)
      """
    let message = "the declaration of the table “pet” is wrong: \(problem)"
    #expect(recordFailure { try Pet.table.create(db) } == message)
    #expect(recordFailure { try Pet.table.differences(db) } == message)
  }
}
