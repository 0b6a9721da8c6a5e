import Foundation
import Larder
import TestSupport

/// What the records have besides their keys.
struct ForeignBody: Equatable, Sendable {
  var name: String
  var age: Int?
  var height: Double?
  var isOpen: Bool
  var price: Decimal
  var note: [UInt8]?

  init(_ random: inout SeededGenerator) {
    name = random.pick(["Ann", "ann", "Bob", "007", "7", "1e3", " 5", "5 ", "", "Zoë", "null"])
    age = random.pick([nil, 0, 5, 9, 10, 40, -1, 9_007_199_254_740_993, .max])
    height = random.pick([nil, 0, 1.5, 2, 0.1 + 0.2, -3.25, 1e300])
    isOpen = random.chance(50)
    price = random.pick([0, 7, 12, 0.5, 12.75, 100, -3].map { Decimal($0) } + [Self.longPrice])
    note = random.pick([nil, [], [0x37], [0x41, 0x6E, 0x6E]])
  }

  private static let longPrice = Decimal(string: "12345678901234567890.25") ?? 0

  init(
    _ name: String, _ age: Int?, _ height: Double?, _ isOpen: Bool, _ price: Decimal,
    _ note: [UInt8]?
  ) {
    (self.name, self.age, self.height) = (name, age, height)
    (self.isOpen, self.price, self.note) = (isOpen, price, note)
  }
}

/// A record over a table that somebody else has made.
protocol ForeignRecord: Record, Equatable where Columns == ForeignColumns<Self> {
  associatedtype Key: DatabaseValueConvertible & Sendable
  /// The names of the key's columns.
  static var keyNames: [String] { get }
  var id: Key { get set }
  var body: ForeignBody { get set }
  init(id: Key, body: ForeignBody)
  /// A key at random; nil where SQLite is to choose one.
  static func key(_ random: inout SeededGenerator) -> Key
  /// A key as SQLite has it; nil for one that isn't as it was written.
  static func key(_ value: DatabaseValue) -> Key?
}

extension ForeignRecord {
  /// The names of the columns, in the order of ``cells``.
  static var columnNames: [String] {
    let c = columns
    return [
      c.id.name, c.name.name, c.age.name, c.height.name, c.isOpen.name, c.price.name, c.note.name,
    ]
  }

  var keyValue: DatabaseValue { (try? id.databaseValue) ?? .null }

  /// The values by themselves, as they are stored in a table of Larder's.
  var values: [DatabaseValue] {
    [
      keyValue, .text(body.name), body.age.map { .integer(Int64($0)) } ?? .null,
      body.height.map { .real($0) } ?? .null, .integer(body.isOpen ? 1 : 0),
      .text("\(body.price)"), body.note.map { .blob($0) } ?? .null,
    ]
  }

  /// What the values mean, whatever form of theirs is stored.
  var cells: [String] {
    [
      "\(keyValue)", "\(Array(body.name.utf8))", "\(body.age as Any)",
      "\(body.height as Any)", "\(body.isOpen)", "\(body.price)", "\(body.note as Any)",
    ]
  }

  /// The meaning of a value that is stored in a column; nil where it is another than any that was written.
  static func cell(_ column: Int, _ value: DatabaseValue) -> String? {
    switch (column, value) {
    case (0, _): return key(value) == nil ? nil : "\(value)"
    case (1, .text(let text)): return "\(Array(text.utf8))"
    case (2, .integer(let number)): return "\(Optional(Int(number)) as Any)"
    case (2, .null): return "\(Int?.none as Any)"
    case (3, .real(let number)): return "\(Optional(number) as Any)"
    case (3, .integer(let number)):
      return Double(exactly: number).map { "\(Optional($0) as Any)" }
    case (3, .null): return "\(Double?.none as Any)"
    case (4, .integer(0)): return "false"
    case (4, .integer(1)): return "true"
    case (5, .text(let text)): return Decimal(string: text).map { "\($0)" }
    case (5, .integer(let number)): return "\(Decimal(number))"
    case (5, .real(let number)): return Decimal(string: "\(number)").map { "\($0)" }
    case (6, .blob(let bytes)): return "\(Optional(bytes) as Any)"
    case (6, .null): return "\([UInt8]?.none as Any)"
    default: return nil
    }
  }

  /// The record of a whole row; nil where a value is another than any that was written.
  init?(_ row: [DatabaseValue]) {
    guard row.indices.allSatisfy({ Self.cell($0, row[$0]) != nil }), let key = Self.key(row[0]),
      case .text(let name) = row[1]
    else { return nil }
    func double(_ value: DatabaseValue) -> Double? {
      switch value {
      case .real(let number): number
      case .integer(let number): Double(number)
      default: nil
      }
    }
    var age: Int?
    if case .integer(let number) = row[2] { age = Int(number) }
    var note: [UInt8]?
    if case .blob(let bytes) = row[6] { note = bytes }
    let price = Self.cell(5, row[5]).flatMap { Decimal(string: $0) } ?? 0
    self.init(
      id: key,
      body: ForeignBody(name, age, double(row[3]), row[4] == .integer(1), price, note))
  }
}

struct ForeignColumns<R: ForeignRecord>: Sendable {
  let id: Column<R, R.Key>
  let name: Column<R, String>
  let age: Column<R, Int?>
  let height: Column<R, Double?>
  let isOpen: Column<R, Bool>
  let price: Column<R, Decimal>
  let note: Column<R, [UInt8]?>
}

/// Keys that SQLite chooses.
struct ChosenKey: ForeignRecord {
  var id: Int64?
  var body: ForeignBody

  static let keyNames = ["id"]
  static let columns = ForeignColumns<Self>(
    id: Column("id", \Self.id, .primaryKey), name: Column("name", \Self.body.name),
    age: Column("age", \Self.body.age), height: Column("height", \Self.body.height),
    isOpen: Column("is_open", \Self.body.isOpen), price: Column("price", \Self.body.price),
    note: Column("note", \Self.body.note))
  static let table = Table(
    "person", { ChosenKey(id: $0, body: ForeignBody($1, $2, $3, $4, $5, $6)) }, columns.id,
    columns.name, columns.age, columns.height, columns.isOpen, columns.price, columns.note)

  static func key(_ random: inout SeededGenerator) -> Int64? {
    random.chance(50) ? nil : random.pick([1, 2, 7, 70, -5, 0])
  }

  static func key(_ value: DatabaseValue) -> Int64?? {
    if case .integer(let number) = value { .some(number) } else { nil }
  }
}

/// Keys that the program chooses.
struct GivenKey: ForeignRecord {
  var id: Int64
  var body: ForeignBody

  static let keyNames = ["Nr"]
  static let columns = ForeignColumns<Self>(
    id: Column("Nr", \Self.id, .primaryKey), name: Column("order", \Self.body.name),
    age: Column("größe", \Self.body.age), height: Column("a b", \Self.body.height),
    isOpen: Column("is\"open", \Self.body.isOpen), price: Column("PRICE", \Self.body.price),
    note: Column("rowid2", \Self.body.note))
  static let table = Table(
    "my.table", { GivenKey(id: $0, body: ForeignBody($1, $2, $3, $4, $5, $6)) }, columns.id,
    columns.name, columns.age, columns.height, columns.isOpen, columns.price, columns.note)

  static func key(_ random: inout SeededGenerator) -> Int64 {
    random.pick([1, 2, 7, 70, -5, 0, .max])
  }

  static func key(_ value: DatabaseValue) -> Int64? {
    if case .integer(let number) = value { number } else { nil }
  }
}

/// Keys that are texts.
struct TextKey: ForeignRecord {
  var id: String
  var body: ForeignBody

  static let keyNames = ["code"]
  static let columns = ForeignColumns<Self>(
    id: Column("code", \Self.id, .primaryKey), name: Column("name", \Self.body.name),
    age: Column("age", \Self.body.age), height: Column("height", \Self.body.height),
    isOpen: Column("is_open", \Self.body.isOpen), price: Column("price", \Self.body.price),
    note: Column("note", \Self.body.note))
  static let table = Table(
    "thing", { TextKey(id: $0, body: ForeignBody($1, $2, $3, $4, $5, $6)) }, columns.id,
    columns.name, columns.age, columns.height, columns.isOpen, columns.price, columns.note)

  static func key(_ random: inout SeededGenerator) -> String {
    random.pick(["a", "A", "7", "007", "7.0", "b ", "b", "", "Ä", "ä"])
  }

  static func key(_ value: DatabaseValue) -> String? {
    if case .text(let text) = value { text } else { nil }
  }
}

/// Keys of two columns, of which the second is the name.
struct PairKey: ForeignRecord {
  var id: Int64
  var body: ForeignBody

  static let keyNames = ["id", "name"]
  static let columns = ForeignColumns<Self>(
    id: Column("id", \Self.id, .primaryKey), name: Column("name", \Self.body.name, .primaryKey),
    age: Column("age", \Self.body.age), height: Column("height", \Self.body.height),
    isOpen: Column("is_open", \Self.body.isOpen), price: Column("price", \Self.body.price),
    note: Column("note", \Self.body.note))
  static let table = Table(
    "pair", { PairKey(id: $0, body: ForeignBody($1, $2, $3, $4, $5, $6)) }, columns.id,
    columns.name, columns.age, columns.height, columns.isOpen, columns.price, columns.note)

  static func key(_ random: inout SeededGenerator) -> Int64 { random.pick([1, 2, 7]) }

  static func key(_ value: DatabaseValue) -> Int64? {
    if case .integer(let number) = value { number } else { nil }
  }
}
