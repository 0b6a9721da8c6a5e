import Foundation
import Larder
import Testing

/// Tests that records are found only by values of a type that their keys can equal.
@Suite("Types of keys")
struct KeyTypeTests {
  private let db: Database

  init() throws { db = try City.norway() }

  private func refusal<T>(_ body: () throws -> T) -> String? {
    failure(DatabaseError.self, body).map { $0.code == .misuse ? $0.message : "\($0)" }
  }

  @Test("Finding a numeric key by a text, or a text key by a number, throws")
  func otherTypes() throws {
    let text =
      "the key “id” of “city” is of type Optional<Int64>, which can't be compared with String"
    #expect(refusal { try City.find(db, "1") } == text)
    #expect(refusal { try City.fetchOne(db, "x") } == text)
    #expect(refusal { try City.fetchAll(db, keys: ["1"]) } == text)
    #expect(refusal { try City.find(db, [UInt8]()) } != nil)
    #expect(refusal { try Country.find(db, 1) } != nil)
    #expect(refusal { try Everything.find(db, "E621E1F8-C36C-495A-93FC-0C247A3E6E5F") } != nil)
    // A refused type of key is refused again.
    #expect(refusal { try City.find(db, "1") } == text)
  }

  @Test("A numeric key can be found by any number type, an Optional or a DatabaseValue")
  func numbers() throws {
    #expect(try City.find(db, Int8(1)) == City.norwegian[0])
    #expect(try City.find(db, Optional(1)) == City.norwegian[0])
    #expect(try City.find(db, DatabaseValue.integer(1)) == City.norwegian[0])
    #expect(try City.fetchOne(db, Int64?.none) == nil)
    #expect(try City.fetchAll(db, keys: [1, 2] as [UInt16]).count == 2)
    #expect(
      refusal { try City.find(db, 1, 2) } == "the key of “city” has 1 values, but 2 were given")
  }

  @Test("Each value for a composite key must have its column's type")
  func composite() throws {
    struct Post: Record {
      var country: String
      var number: Int
      static let columns = (
        Column("country", \Post.country, .primaryKey), Column("number", \Post.number, .primaryKey)
      )
      static let table = Table("post", Post.init, columns.0, columns.1)
    }
    try Post.table.create(db)
    var post = Post(country: "no", number: 150)
    try post.insert(db)
    #expect(try Post.find(db, "no", 150).number == 150)
    #expect(
      refusal { try Post.find(db, 150, "no") }
        == "the key “country” of “post” is of type String, which can't be compared with Int")
    #expect(refusal { try Post.find(db, "no", "150") } != nil)
    #expect(try Post.find(db, "no", Int64(150)).country == "no")
  }

  @Test("A key with a coding is found by a value of the property's type")
  func coded() throws {
    struct Day: Record {
      var day: Date
      var name: String
      static let columns = (
        Column("day", \Day.day, .primaryKey, as: .format(.sqlDate)), Column("name", \Day.name)
      )
      static let table = Table("day", Day.init, columns.0, columns.1)
    }
    try Day.table.create(db)
    let date = Date(timeIntervalSince1970: 86_400)
    var day = Day(day: date, name: "second")
    try day.insert(db)
    #expect(try Day.find(db, date).name == "second")
    #expect(try Day.find(db, Optional(date)).name == "second")
    #expect(refusal { try Day.find(db, [UInt8]()) } != nil)
  }
}

/// Tests of a `let` key that the database chooses, and that the record can't take.
@Suite("Keys that are constants")
struct ConstantKeyTests {
  private struct Mail: Record, Equatable {
    let id: Int64?
    var subject: String

    struct Columns: Sendable {
      let id = Column("id", \Mail.id, .primaryKey)
      let subject = Column("subject", \Mail.subject, .unique)
    }
    static let columns = Columns()
    static let table = Table("mail", Mail.init, columns.id, columns.subject)
  }

  private let db: Database
  private let text = """
    the declaration of the table “mail” is wrong: its key “id” is a constant, so it can't be \
    set to the key that the database chooses: use inserted(_:), which returns the record with its key, \
    or make it a variable
    """

  init() throws {
    db = try Database.empty()
    try Mail.table.create(db)
  }

  @Test("Inserting a nil key that is a constant throws, and writes nothing")
  func insertion() throws {
    var mail = Mail(id: nil, subject: "a")
    #expect(recordFailure { try mail.insert(db) } == text)
    #expect(recordFailure { try mail.insert(db, or: .ignore) } == text)
    #expect(recordFailure { try mail.save(db) as Void } == text)
    #expect(recordFailure { try mail.upsert(db) as Void } == text)
    #expect(try Mail.all.fetchCount(db) == 0)
  }

  @Test("A record with a constant key that isn't nil can be inserted, saved and upserted")
  func withKey() throws {
    var mail = Mail(id: 7, subject: "a")
    try mail.insert(db)
    try mail.save(db) as Void
    try mail.upsert(db) as Void
    #expect(try Mail.fetchAll(db) == [mail])
  }

  @Test("`inserted` returns records with constant keys that the database chose")
  func inserted() throws {
    #expect(try Mail(id: nil, subject: "a").inserted(db).id == 1)
    let more = try Mail.inserted(
      db, contentsOf: [Mail(id: nil, subject: "b"), Mail(id: 9, subject: "c")])
    #expect(more.map(\.id) == [2, 9])
    try Mail.insert(db, contentsOf: [Mail(id: nil, subject: "d")])
    #expect(try Mail.all.fetchCount(db) == 4)
  }
}
