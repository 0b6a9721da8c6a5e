import Foundation
import Larder
import Testing

/// A record with a key and one value. Each test declares its column.
private protocol OneValue: Record {
  associatedtype Value: Equatable
  var value: Value { get }
  init(id: Int64?, value: Value)
}

@Suite("Column types of other programs' tables")
struct AffinityTests {
  let db: Database

  init() throws { db = try Database() }

  private func create(_ type: String, options: String = "") throws {
    try db.executeUpdate(
      SQL(raw: "CREATE TABLE thing (id INTEGER PRIMARY KEY, value \(type))\(options)"))
  }

  private struct Whole: OneValue, Equatable {
    var id: Int64?
    var value: Int?
    static let columns = Self.Columns()
    struct Columns: Sendable {
      let id = Column("id", \Whole.id, .primaryKey)
      let value = Column("value", \Whole.value)
    }
    static let table = Table("thing", Whole.init, columns.id, columns.value)
  }

  private struct Words: OneValue, Equatable {
    var id: Int64?
    var value: String
    static let columns = Self.Columns()
    struct Columns: Sendable {
      let id = Column("id", \Words.id, .primaryKey)
      let value = Column("value", \Words.value)
    }
    static let table = Table("thing", Words.init, columns.id, columns.value)
  }

  private struct Number: OneValue, Equatable {
    var id: Int64?
    var value: Double
    static let columns = (
      Column("id", \Number.id, .primaryKey), Column("value", \Number.value)
    )
    static let table = Table("thing", Number.init, columns.0, columns.1)
  }

  private struct Truth: OneValue, Equatable {
    var id: Int64?
    var value: Bool
    static let columns = (Column("id", \Truth.id, .primaryKey), Column("value", \Truth.value))
    static let table = Table("thing", Truth.init, columns.0, columns.1)
  }

  private struct Price: OneValue, Equatable {
    var id: Int64?
    var value: Decimal
    static let columns = Self.Columns()
    struct Columns: Sendable {
      let id = Column("id", \Price.id, .primaryKey)
      let value = Column("value", \Price.value)
    }
    static let table = Table("thing", Price.init, columns.id, columns.value)
  }

  private struct Phone: OneValue, Equatable {
    var id: Int64?
    var value: String
    static let columns = Self.Columns()
    struct Columns: Sendable {
      let id = Column("id", \Phone.id, .primaryKey)
      let value = Column("value", \Phone.value, .sqlType("NUMERIC"))
    }
    static let table = Table(
      "thing", Phone.init, columns.id, columns.value, options: .notStrict)
  }

  private struct Moment: OneValue, Equatable {
    var id: Int64?
    var value: Date
    static let columns = (
      Column("id", \Moment.id, .primaryKey),
      Column("value", \Moment.value, as: .format(.sqlDateTime))
    )
    static let table = Table("thing", Moment.init, columns.0, columns.1)
  }

  private struct Plain: OneValue, Equatable {
    var id: Int64?
    var value: Date
    static let columns = (Column("id", \Plain.id, .primaryKey), Column("value", \Plain.value))
    static let table = Table("thing", Plain.init, columns.0, columns.1)
  }

  private struct Settings: OneValue, Equatable {
    var id: Int64?
    var value: [String]
    static let columns = (
      Column("id", \Settings.id, .primaryKey), Column("value", \Settings.value, as: .json)
    )
    static let table = Table("thing", Settings.init, columns.0, columns.1)
  }

  private struct Token: OneValue, Equatable {
    var id: Int64?
    var value: UUID
    static let columns = (
      Column("id", \Token.id, .primaryKey), Column("value", \Token.value, as: .text)
    )
    static let table = Table("thing", Token.init, columns.0, columns.1)
  }

  private struct Bytes: OneValue, Equatable {
    var id: Int64?
    var value: [UInt8]
    static let columns = (Column("id", \Bytes.id, .primaryKey), Column("value", \Bytes.value))
    static let table = Table("thing", Bytes.init, columns.0, columns.1)
  }

  private struct Anything: OneValue, Equatable {
    var id: Int64?
    var value: DatabaseValue
    static let columns = (
      Column("id", \Anything.id, .primaryKey), Column("value", \Anything.value)
    )
    static let table = Table("thing", Anything.init, columns.0, columns.1)
  }

  /// The problem that a record's operations report, each on a table that hasn't been checked
  /// before.
  private func problem<R: OneValue>(_ type: R.Type, _ value: R.Value) throws -> String? {
    var record = R(id: nil, value: value)
    let problem = declarationProblem { try record.insert(db) }
    #expect(try (problem == nil) == (db.value("SELECT count(*) FROM thing", as: Int.self) == 1))
    if problem == nil {
      #expect(try R.fetchAll(db).map(\.value) == [value], "what is written is read")
    } else {
      #expect(declarationProblem { try R.fetchAll(db) } == problem)
      #expect(declarationProblem { try R.fetchOne(db, 1) } == problem)
      #expect(declarationProblem { try R.all.fetchCount(db) } == problem)
      #expect(declarationProblem { try R.all.exists(db) } == problem)
      #expect(declarationProblem { try R.all.delete(db) } == problem)
      #expect(declarationProblem { try R.all.fetchOne(db) } == problem)
    }
    return problem
  }

  @Test(
    "An integer property over a column of text or reals is refused",
    arguments: ["TEXT", "VARCHAR(20)", "CLOB", "REAL", "DOUBLE PRECISION", "FLOAT"])
  func integers(_ type: String) throws {
    try create(type)
    #expect(try problem(Whole.self, 5)?.contains("“value” is \(type) in the database") == true)
    #expect(declarationProblem { try Truth.all.fetchCount(db) } != nil)
  }

  @Test(
    "An integer property over a numeric or untyped column keeps its values",
    arguments: ["INT", "BIGINT", "NUMERIC", "DECIMAL(10)", "", "BLOB", "BOOLEAN", "DATE"])
  func keptIntegers(_ type: String) throws {
    try create(type)
    #expect(try problem(Whole.self, .max) == nil)
  }

  @Test(
    "A Bool property over a BOOL or tinyint(1) column keeps its values",
    arguments: ["BOOL", "tinyint(1)"])
  func booleans(_ type: String) throws {
    try create(type)
    #expect(try problem(Truth.self, true) == nil)
  }

  @Test("A Double property over a text column is refused", arguments: ["TEXT", "character(5)"])
  func realNumbers(_ type: String) throws {
    try create(type)
    #expect(try problem(Number.self, 1.5) != nil)
  }

  @Test(
    "A Double property over a numeric or untyped column keeps its values, also whole numbers",
    arguments: ["REAL", "NUMERIC", "INTEGER", ""]
  )
  func keptRealNumbers(_ type: String) throws {
    try create(type)
    #expect(try problem(Number.self, 3) == nil)
    try db.executeUpdate("DELETE FROM thing")
    #expect(try problem(Number.self, -0.1) == nil)
  }

  @Test(
    "A String property over a column with numeric affinity is refused",
    arguments: ["NUMERIC", "INTEGER", "STRING", "DATETIME", "REAL"])
  func texts(_ type: String) throws {
    try create(type)
    #expect(try problem(Words.self, "Oslo")?.contains(".sqlType") == true)
  }

  @Test(
    "A String property over a text, blob or untyped column keeps its values",
    arguments: ["TEXT", "NVARCHAR(160)", "char", "", "BLOB"]
  )
  func keptTexts(_ type: String) throws {
    try create(type)
    #expect(try problem(Words.self, "007") == nil)
  }

  @Test("A String property with .sqlType(NUMERIC) throws for texts that look like numbers")
  func declaredNumeric() throws {
    try create("NUMERIC")
    #expect(try problem(Phone.self, "+47 22 00") == nil)
    for text in ["007", " 7 ", "1e3", ".5", "-5.", "+47"] {
      var phone = Phone(id: nil, value: text)
      #expect(declarationProblem { try phone.insert(db) } != nil, "\(text)")
      #expect(declarationProblem { try Phone.insert(db, contentsOf: [phone]) } != nil)
      #expect(declarationProblem { try Phone.all.update(db) { $0.value = .value(text) } } != nil)
    }
    for text in ["0x10", "1e", "", "inf", "1 2", "."] {
      try Phone.all.update(db) { $0.value = .value(text) }
      #expect(try Phone.fetchAll(db).map(\.value) == [text])
    }
  }

  @Test(
    "Dates stored as text are kept by columns of text, DATETIME and REAL",
    arguments: ["DATETIME", "TEXT", "REAL"])
  func dates(_ type: String) throws {
    try create(type)
    #expect(try problem(Moment.self, Date(timeIntervalSince1970: 86_400)) == nil)
  }

  @Test("Dates stored as numbers are kept by TIMESTAMP, and refused over a column of text")
  func plainDates() throws {
    try create("TIMESTAMP")
    #expect(try problem(Plain.self, Date(timeIntervalSince1970: 86_400)) == nil)
    try db.executeUpdate("DROP TABLE thing")
    try create("TEXT")
    #expect(try problem(Plain.self, Date(timeIntervalSince1970: 86_400)) != nil)
  }

  @Test(
    "UUIDs and JSON stored as text are kept by columns of the types UUID, json and TEXT",
    arguments: ["UUID", "json", "TEXT"]
  )
  func codedTexts(_ type: String) throws {
    try create(type)
    #expect(try problem(Token.self, UUID()) == nil)
    try db.executeUpdate("DELETE FROM thing")
    #expect(try problem(Settings.self, ["a"]) == nil)
  }

  @Test(
    "Bytes are kept by columns of every type", arguments: ["TEXT", "NUMERIC", "REAL", "BLOB", ""]
  )
  func bytes(_ type: String) throws {
    try create(type)
    #expect(try problem(Bytes.self, [0, 0x31]) == nil)
  }

  @Test(
    "A DatabaseValue property is accepted over a column of any type",
    arguments: ["TEXT", "NUMERIC", ""]
  )
  func anything(_ type: String) throws {
    try create(type)
    #expect(try problem(Anything.self, "Oslo") == nil)
  }

  @Test("A Decimal over a numeric column is kept, or throws if it has too many digits")
  func decimals() throws {
    try create("DECIMAL(10, 2)")
    for text in ["12.5", "-0.01", "123456789012345", "9007199254740993", "0.123456789012345"] {
      let price = try #require(Decimal(string: text))
      try Price.all.delete(db)
      #expect(try problem(Price.self, price) == nil)
      try Price.all.update(db) { $0.value = .value(price) }
      #expect(try Price.fetchAll(db).map(\.value) == [price])
    }
    for text in ["0.1234567890123456", "92233720368547758070001", "1234567890123.4567"] {
      let price = try #require(Decimal(string: text))
      var record = Price(id: nil, value: price)
      #expect(conversionFailure { try record.insert(db) }?.kind == .notExact)
      #expect(failure(RecordError.self) { try Price.insert(db, contentsOf: [record]) } != nil)
      #expect(
        failure(RecordError.self) { try Price.all.update(db) { $0.value = .value(price) } } != nil)
    }
  }

  @Test("A query over a column of another type is refused, also in a subquery and a join")
  func conditions() throws {
    try create("TEXT")
    try db.executeUpdate("INSERT INTO thing VALUES (1, '10'), (2, '9')")
    #expect(declarationProblem { try Whole.filter { $0.value > 9 }.fetchAll(db) } != nil)
    #expect(declarationProblem { try Whole.select { $0.value }.fetchAll(db) } != nil)
    let inner = Whole.filter { $0.value > 9 }.select { $0.id }
    try db.executeUpdate("CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)")
    #expect(declarationProblem { try FoundPerson.filter { $0.id.in(inner) }.fetchAll(db) } != nil)
    #expect(
      declarationProblem {
        try FoundPerson.all.join(Whole.self) { $0.id == $1.id }.fetchAll(db)
      } != nil)
  }

  @Test("STRICT types convert as affinities do, and only a STRICT table's ANY keeps any value")
  func strict() throws {
    try create("TEXT", options: " STRICT")
    #expect(try problem(Whole.self, 5) != nil)
    try db.executeUpdate("DROP TABLE thing")
    try create("ANY", options: " STRICT")
    #expect(try problem(Words.self, "007") == nil)
    try db.executeUpdate("DROP TABLE thing")
    try create("ANY")
    #expect(try problem(Words.self, "007") != nil, "else the type is a name like others")
  }

  @Test("A table that the declaration created itself is never refused")
  func ownTables() throws {
    try Phone.table.create(db)
    #expect(try problem(Phone.self, "22 00") == nil)
    try db.executeUpdate("DROP TABLE thing")
    try Price.table.create(db)
    #expect(try problem(Price.self, Decimal(string: "0.12345678901234567890")!) == nil)
  }
}
