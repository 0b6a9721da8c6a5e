import Foundation
import Larder
import TestSupport

/// A sale in a place: numbers of many types, Decimals, dates, and texts of any characters.
struct RandomSale: Record {
  var id: Int
  var place: Int?
  var label: String
  var note: String?
  var price: Decimal
  var discount: Decimal?
  var count: Int64
  var small: Int16?
  var share: Float?
  var ratio: Double?
  var begun: Date
  var ended: Date?
  var stock: String?

  struct Columns: Sendable {
    let id = Column("id", \RandomSale.id, .primaryKey)
    let place = Column("place", \RandomSale.place)
    let label = Column("label", \RandomSale.label)
    let note = Column("note", \RandomSale.note)
    let price = Column("price", \RandomSale.price)
    let discount = Column("discount", \RandomSale.discount)
    let count = Column("count", \RandomSale.count)
    let small = Column("small", \RandomSale.small)
    let share = Column("share", \RandomSale.share)
    let ratio = Column("ratio", \RandomSale.ratio)
    let begun = Column("begun", \RandomSale.begun)
    let ended = Column("ended", \RandomSale.ended, as: .iso8601)
    let stock = Column("stock", \RandomSale.stock)
  }
  static let columns = Columns()
  static let table = Table(
    "sale", RandomSale.init, columns.id, columns.place, columns.label, columns.note, columns.price,
    columns.discount, columns.count, columns.small, columns.share, columns.ratio, columns.begun,
    columns.ended, columns.stock)

  static let inPlace = BelongsTo(columns.place, RandomPlace.columns.id)

  /// The values as they are stored, in the order of the columns.
  var values: [DatabaseValue] {
    [
      .from(id), .from(place), .from(label), .from(note), .from(price), .from(discount),
      .from(count), .from(small), .from(share), .from(ratio), .from(begun), .iso(ended),
      .from(stock),
    ]
  }

  static func values(_ sale: RandomSale?) -> [DatabaseValue] {
    sale?.values ?? Array(repeating: .null, count: 13)
  }
}

/// What sales take from: a table to be changed, with a key of text.
struct RandomStock: Record {
  var code: String
  var amount: Int
  var least: Int16?
  var price: Decimal
  var seen: Date?

  struct Columns: Sendable {
    let code = Column("code", \RandomStock.code, .primaryKey)
    let amount = Column("amount", \RandomStock.amount)
    let least = Column("least", \RandomStock.least)
    let price = Column("price", \RandomStock.price)
    let seen = Column("seen", \RandomStock.seen, as: .iso8601)
  }
  static let columns = Columns()
  static let table = Table(
    "stock", RandomStock.init, columns.code, columns.amount, columns.least, columns.price,
    columns.seen)

  static let buyers = HasManyThrough(
    columns.code, RandomSale.columns.stock, RandomSale.columns.place, RandomPlace.columns.id)

  /// The values as they are stored, in the order of the columns.
  var values: [DatabaseValue] {
    [.from(code), .from(amount), .from(least), .from(price), .iso(seen)]
  }

  static func values(_ stock: RandomStock?) -> [DatabaseValue] {
    stock?.values ?? Array(repeating: .null, count: 5)
  }
}

extension RandomPlace {
  static let sales = HasMany(columns.id, RandomSale.columns.place)
}

extension RandomArea {
  static let places = HasMany(columns.code, RandomPlace.columns.area)
}

extension DatabaseValue {
  /// A date as text such as `2026-11-21T08:33:26.123Z`.
  static func iso(_ date: Date?) -> DatabaseValue {
    guard let date else { return .null }
    return Moment(date).stored(as: .iso8601)
  }
}

/// Sales and stocks, many of whose values are the ends of what there is.
struct RandomSales {
  let sales: [RandomSale]
  let stocks: [RandomStock]
  /// What other programs wrote for each sale's price: the same number, written otherwise.
  let writtenPrices: [String]

  /// Those of the texts of notes that the sales may have.
  let notes: [String]
  private static let notes = RandomData.texts + ["\0", "a\0b", "a\0c", "a", "''", "\u{1}", "é\0"]
  private static let counts: [Int64] = [.max, .max - 1, .min, .min + 1, 0, 1 << 53 + 1, -1]
  private static let smalls: [Int16] = [.max, .min, 0, -1]
  private static let floats: [Float] = [-0.0, 0.1, 16_777_216, .greatestFiniteMagnitude, -0.25]
  private static let reals: [Double] = [
    -0.0, 0.1, 1e300, -1e300, .leastNonzeroMagnitude, .infinity, -.infinity, 0x1p53,
  ]
  static let prices = [
    "0", "1", "-1", "9", "10", "100.5", "0.1", "-0.1", "19.99", "12345678901234567890.12", "2.50",
    "0.000000000000000001", "-7", "100000000000000000000",
  ]
  static let extremes = [
    "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999",
    "0.00000000000000000000000000000000000001", "340282366920938463463374607431768211455",
  ]

  init(_ generator: inout SeededGenerator, hasNULs: Bool) {
    notes = hasNULs ? Self.notes : Self.notes.filter { !$0.utf8.contains(0) }
    let notes = notes
    func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }
    func maybe<T>(_ odds: Int = 4, _ make: () -> T) -> T? { number(0..<odds) == 0 ? nil : make() }
    func pick<T>(_ choices: [T]) -> T { choices[number(0..<choices.count)] }
    func decimal(_ text: String) -> Decimal { Decimal(string: text) ?? 0 }
    func moment() -> Date {
      let day = number(0..<4) == 0 ? number(-200_000..<100_000) : number(-3..<4)
      return Moment(day * 86_400_000 + number(0..<86_400_000)).date
    }
    let codes = ["a", "A", "b", "", "it's", "北", "\"q\"", "zz"]
    stocks = codes.enumerated().map { index, code in
      RandomStock(
        code: code, amount: index == 0 ? Int.max - 2 : number(-20..<100),
        least: maybe { number(0..<3) == 0 ? pick(Self.smalls) : Int16(number(-9..<10)) },
        price: decimal(pick(Self.prices)), seen: maybe { moment() })
    }
    sales = (1...20).map { id in
      RandomSale(
        id: id, place: maybe { number(1..<28) }, label: pick(RandomData.texts),
        note: maybe { pick(notes) }, price: decimal(pick(Self.prices)),
        discount: maybe { decimal(pick(number(0..<6) == 0 ? Self.extremes : Self.prices)) },
        count: number(0..<4) == 0 ? pick(Self.counts) : Int64(number(-5..<30)),
        small: maybe { number(0..<5) == 0 ? pick(Self.smalls) : Int16(number(-9..<10)) },
        share: maybe {
          number(0..<4) == 0 ? pick(Self.floats) : Float(number(-20..<20)) / 8
        },
        ratio: maybe { number(0..<4) == 0 ? pick(Self.reals) : Double(number(-20..<20)) / 4 },
        begun: moment(), ended: maybe { moment() },
        stock: maybe { number(0..<6) == 0 ? "gone" : pick(codes) })
    }
    writtenPrices = sales.map { sale in
      guard case .text(let text) = DatabaseValue.from(sale.price) else { return "0" }
      switch number(0..<4) {
      case 0 where text.contains("."): return "'\(text)00'"
      case 0: return "'\(text).0'"
      case 1 where text.utf8.count < 6: return text
      case 1 where text.hasSuffix("000"): return "'\(text.dropLast(3))e3'"
      default: return "'\(text)'"
      }
    }
  }

  /// The tables and their rows, written without any help from Larder.
  var script: String {
    var script = """
      CREATE TABLE sale (id INTEGER PRIMARY KEY, place INTEGER, label TEXT NOT NULL, note TEXT,
        price NOT NULL, discount, count INTEGER NOT NULL, small INTEGER, share REAL, ratio REAL,
        begun REAL NOT NULL, ended TEXT, stock TEXT);
      CREATE TABLE stock (code TEXT PRIMARY KEY NOT NULL, amount INTEGER NOT NULL, least INTEGER,
        price TEXT NOT NULL, seen TEXT);

      """
    for (sale, price) in zip(sales, writtenPrices) {
      var values = sale.values.map(RandomData.literal)
      values[4] = price
      script += "INSERT INTO sale VALUES (\(values.joined(separator: ", ")));\n"
    }
    for stock in stocks {
      let values = stock.values.map(RandomData.literal).joined(separator: ", ")
      script += "INSERT INTO stock VALUES (\(values));\n"
    }
    return script
  }
}
