import Foundation
import LarderMacros
import Testing

/// A public record with a fileprivate column, and its own initializer.
@Record("account", indexes: [.index(\.owner, \.`default`)])
public struct Account: Sendable, Equatable {
  /// The key.
  @Column(.primaryKey) public private(set) var id: Int64?
  /// The owner.
  public var owner: String
  fileprivate var secret = "s"
  /// Whether it is the account that is used if none is chosen.
  @Column("fallback") public var `default`: Bool
  var balance: Int { didSet { changes += 1 } }
  @NotStored private(set) var changes = 0
  /// Whether the balance is above 1,000.
  public var isRich: Bool { balance > 1000 }

  /// Makes an account without a balance.
  public init(owner: String) {
    self.owner = owner
    balance = 0
    `default` = true
  }
}

/// A record with a private column and the compiler's memberwise initializer.
@Record
struct Token: Equatable {
  @Column(.primaryKey) var number: Int64
  private var text: String
  fileprivate(set) var uses = 3

  static func example(_ number: Int64) -> Token { Token(number: number, text: "T\(number)") }
}

/// A final class.
@Record
final class River {
  @Column(.primaryKey) let name: String
  let length: Double
  let 長さ: Int?

  init(_ name: String, length: Double) {
    self.name = name
    self.length = length
    長さ = 7
  }
}

/// A record that declares its conformance itself, with hooks, and an initializer like the memberwise one.
@Record
struct Visit: RecordHooks {
  @Column(.primaryKey) var id: Int64?
  @Column(.version) var version: Int32
  var place: String

  mutating func willInsert(_ db: Database) throws { place += "!" }
}

extension Visit {
  /// Takes the memberwise initializer's types in another order.
  init(id: Int64?, place: String, version: Int32) {
    self.init(id: id, version: version, place: "other " + place)
  }
}

/// A record beside a type with the name of one of Larder's types.
enum Page {
  struct Table {}

  @Record
  fileprivate struct Text {
    @Column(.primaryKey) var id: Int64?
    var table = 5
  }
}

@Suite("Records declared by macro, in a database")
struct RecordMacroTests {
  let db: Database

  init() throws { db = try Database() }

  @Test("Records declared by macro are inserted, found, updated, queried and deleted")
  func wholeLife() throws {
    try ByMacro.Country.table.create(db)
    try ByMacro.City.table.create(db)
    var country = ByMacro.Country(code: "no", name: "Norge")
    try country.insert(db)
    var oslo = ByMacro.City(
      id: nil, name: "Oslo", population: 709_037, founded: Date(timeIntervalSince1970: 86_400),
      country: "no", tags: ["capital"], isSelected: true)
    try oslo.insert(db)
    #expect(oslo.id == 1)
    var found = try ByMacro.City.find(db, 1)
    #expect(found.isSelected == false)
    found.isSelected = true
    #expect(found == oslo)
    found.population += 1
    try found.update(db)
    #expect(
      try ByMacro.City.filter { $0.population > 709_037 && $0.name.hasPrefix("O") }
        .select { $0.population }.fetchAll(db) == [709_038])
    try ByMacro.City.all.update(db) { $0.name = "Kristiania" }
    #expect(try ByMacro.City.fetchAll(db).map(\.name) == ["Kristiania"])
    try country.delete(db)
    #expect(try ByMacro.City.all.fetchCount(db) == 0)
  }

  @Test("A record's private properties are stored if the type has its own initializer")
  func ownInitializer() throws {
    try Account.table.create(db)
    var account = Account(owner: "Ann")
    account.secret = "hidden"
    account.balance = 5
    try account.insert(db)
    let found = try Account.find(db, account.id)
    #expect(found.secret == "hidden")
    #expect(found.balance == 5)
    #expect(found.changes == 0)
    #expect(Account.table.columnNames == ["id", "owner", "secret", "fallback", "balance"])
    #expect(try Account.filter { $0.secret == "hidden" && $0.default }.fetchCount(db) == 1)
  }

  @Test("A record with a private property keeps the compiler's memberwise initializer")
  func privateProperty() throws {
    try Token.table.create(db)
    try Token.insert(db, contentsOf: [.example(1), .example(2)])
    #expect(try Token.fetchAll(db) == [.example(1), .example(2)])
  }

  @Test("A final class can be a record")
  func finalClass() throws {
    try River.table.create(db)
    var river = River("Glomma", length: 621.5)
    try river.insert(db)
    let found = try River.find(db, "Glomma")
    #expect(found.length == 621.5)
    #expect(found.長さ == 7)
  }

  @Test("A record's hooks are called, and rows aren't decoded with a similar initializer")
  func hooks() throws {
    try Visit.table.create(db)
    var visit = Visit(id: nil, version: 1, place: "Rome")
    try visit.insert(db)
    try visit.update(db)
    let found = try Visit.find(db, visit.id)
    #expect(found.place == "Rome!")
    #expect(found.version == 2)
  }
}
