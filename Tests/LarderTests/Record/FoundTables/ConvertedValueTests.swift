import Foundation
import Larder
import Testing

@Suite("Values that columns of other programs' tables would convert")
struct ConvertedValueTests {
  let db: Database

  init() throws { db = try Database() }

  private func create(_ type: String) throws {
    try db.executeUpdate(SQL(raw: "CREATE TABLE thing (id INTEGER PRIMARY KEY, value \(type))"))
  }

  private struct Phone: Record, Equatable {
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

  private struct Price: Record, Equatable {
    var id: Int64?
    var value: Decimal
    static let columns = Self.Columns()
    struct Columns: Sendable {
      let id = Column("id", \Price.id, .primaryKey)
      let value = Column("value", \Price.value)
    }
    static let table = Table("thing", Price.init, columns.id, columns.value)
  }

  /// A type that is written as JSON either as a number or as an object.
  private enum Level: Codable, Equatable {
    case number(Int)
    case named(String)

    init(from decoder: any Decoder) throws {
      let number = try? decoder.singleValueContainer().decode(Int.self)
      self =
        if let number { .number(number) } else {
          .named(try [String: String](from: decoder)["name"] ?? "")
        }
    }

    func encode(to encoder: any Encoder) throws {
      switch self {
      case .number(let number): try number.encode(to: encoder)
      case .named(let name): try ["name": name].encode(to: encoder)
      }
    }
  }

  private struct Leveled: Record, Equatable {
    var id: Int64?
    var value: Level
    static let columns = Self.Columns()
    struct Columns: Sendable {
      let id = Column("id", \Leveled.id, .primaryKey)
      let value = Column("value", \Leveled.value, as: .json)
    }
    static let table = Table("thing", Leveled.init, columns.id, columns.value)
  }

  @Test(
    "Assigned values and expressions throw if a numeric column would change their texts, else are kept",
    arguments: ["NUMERIC", "REAL"])
  func assignedTexts(_ type: String) throws {
    try create(type)
    var phone = Phone(id: 1, value: "")
    try phone.insert(db)
    #expect(
      declarationProblem { try phone.upsert(db) { row, _ in row.value = "009" } as Void } != nil)
    #expect(
      declarationProblem {
        try Phone.upsert(db, contentsOf: [phone]) { row, _ in row.value = "009" }
      } != nil)
    let refused: [() throws -> Void] = [
      { try Phone.all.update(db) { $0.value = $0.value + "007" } },
      { _ = try Phone.all.updated(db) { $0.value = $0.value + "007" } },
      { _ = try phone.upsert(db) { row, new in row.value = new.value + "007" } as Phone },
      {
        try Phone.insert(
          db, Phone.columns.value, from: Phone.all.select { $0.value + "007" })
      },
    ]
    for change in refused {
      let error = failure(DatabaseError.self, change)
      #expect(error?.extendedCode == .constraintDatatype)
      #expect(error?.message.contains("declare it TEXT") == true)
    }
    #expect(try Phone.fetchAll(db) == [phone])
    phone.value = "a"
    try phone.upsert(db) { row, new in row.value = new.value }
    try Phone.all.update(db) { $0.value = $0.value + "007" }
    try Phone.insert(db, Phone.columns.value, from: Phone.all.select { $0.value + "8" })
    #expect(try Phone.fetchAll(db).map(\.value) == ["a007", "a0078"])
  }

  @Test("A computed Decimal over a numeric column is kept, or throws if it has too many digits")
  func computedDecimals() throws {
    try create("DECIMAL(30, 2)")
    var price = Price(id: 1, value: 2)
    try price.insert(db)
    let fine = try #require(Decimal(string: "0.0000000000000001"))
    #expect(failure(DatabaseError.self) { try Price.all.update(db) { $0.value += fine } } != nil)
    #expect(
      failure(DatabaseError.self) {
        try price.upsert(db) { row, new in row.value = new.value + fine } as Void
      } != nil)
    #expect(try Price.fetchAll(db) == [price])
    try Price.all.update(db) { $0.value += Decimal(1) / 4 }
    try price.upsert(db) { row, new in row.value += new.value }
    #expect(try Price.fetchAll(db).map(\.value) == [Decimal(17) / 4])
  }

  @Test(
    "A value whose JSON is a number is refused by a json column, and others of its type are kept",
    arguments: ["json", "NUMERIC"])
  func numbersInJSON(_ type: String) throws {
    try create(type)
    var level = Leveled(id: 1, value: .named("7"))
    try level.insert(db)
    level.value = .number(7)
    #expect(declarationProblem { try level.update(db) as Void } != nil)
    #expect(declarationProblem { try level.save(db) as Void } != nil)
    #expect(declarationProblem { try level.upsert(db) as Void } != nil)
    #expect(declarationProblem { try Leveled.insert(db, contentsOf: [level]) } != nil)
    #expect(
      declarationProblem { try Leveled.all.update(db) { $0.value = .value(.number(7)) } } != nil)
    #expect(try Leveled.fetchAll(db).map(\.value) == [.named("7")])
  }
}
