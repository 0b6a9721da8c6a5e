import Foundation
import Larder

/// The columns that a random expression can be made of.
struct TreeLeaves {
  /// The number of the query's tables so far.
  private(set) var count = 0
  private(set) var integers: [Tree<Int>] = []
  private(set) var optionalIntegers: [Tree<Int?>] = []
  private(set) var reals: [Tree<Double>] = []
  private(set) var optionalReals: [Tree<Double?>] = []
  private(set) var texts: [Tree<String>] = []
  private(set) var optionalTexts: [Tree<String?>] = []
  private(set) var blobs: [Tree<[UInt8]?>] = []
  private(set) var dates: [Tree<Date?>] = []
  private(set) var decimals: [Tree<Decimal>] = []
  private(set) var optionalDecimals: [Tree<Decimal?>] = []
  private(set) var longs: [Tree<Int64>] = []
  private(set) var shorts: [Tree<Int16?>] = []
  private(set) var floats: [Tree<Float?>] = []
  /// Texts with NULs among them, which end many of SQLite's functions.
  private(set) var notes: [Tree<String?>] = []
  /// Dates as text.
  private(set) var textDates: [Tree<Date?>] = []

  init() {}

  init(_ place: RecordFields<RandomPlace>) { add(place) }

  mutating func add(_ place: RecordFields<RandomPlace>) {
    let table = count
    integers += [Tree(place.id, table, 0), Tree(place.size, table, 3)]
    reals.append(Tree(place.height, table, 5))
    texts.append(Tree(place.name, table, 1))
    optionalIntegers += [Tree(place.rank, table, 4), Tree(place.parent, table, 9)]
    optionalReals.append(Tree(place.depth, table, 6))
    optionalTexts += [Tree(place.note, table, 2), Tree(place.area, table, 10)]
    blobs.append(Tree(place.data, table, 7))
    dates.append(Tree(place.day, table, 8))
    count += 1
  }

  mutating func add(_ place: OptionalFields<RandomPlace>) {
    let table = count
    optionalIntegers += [
      Tree(place.id, table, 0), Tree(place.size, table, 3), Tree(place.rank, table, 4),
      Tree(place.parent, table, 9),
    ]
    optionalReals += [Tree(place.height, table, 5), Tree(place.depth, table, 6)]
    optionalTexts += [
      Tree(place.name, table, 1), Tree(place.note, table, 2), Tree(place.area, table, 10),
    ]
    blobs.append(Tree(place.data, table, 7))
    dates.append(Tree(place.day, table, 8))
    count += 1
  }

  mutating func add(_ area: RecordFields<RandomArea>) {
    texts.append(Tree(area.code, count, 0))
    optionalTexts.append(Tree(area.title, count, 1))
    optionalIntegers.append(Tree(area.weight, count, 2))
    count += 1
  }

  mutating func add(_ area: OptionalFields<RandomArea>) {
    optionalTexts += [Tree(area.code, count, 0), Tree(area.title, count, 1)]
    optionalIntegers.append(Tree(area.weight, count, 2))
    count += 1
  }

  mutating func add(_ sale: RecordFields<RandomSale>) {
    let table = count
    integers.append(Tree(sale.id, table, 0))
    optionalIntegers.append(Tree(sale.place, table, 1))
    texts.append(Tree(sale.label, table, 2))
    notes.append(Tree(sale.note, table, 3))
    decimals.append(Tree(sale.price, table, 4))
    optionalDecimals.append(Tree(sale.discount, table, 5))
    longs.append(Tree(sale.count, table, 6))
    shorts.append(Tree(sale.small, table, 7))
    floats.append(Tree(sale.share, table, 8))
    optionalReals.append(Tree(sale.ratio, table, 9))
    textDates.append(Tree(sale.ended, table, 11))
    optionalTexts.append(Tree(sale.stock, table, 12))
    count += 1
  }

  mutating func add(_ sale: OptionalFields<RandomSale>) {
    let table = count
    optionalIntegers += [Tree(sale.id, table, 0), Tree(sale.place, table, 1)]
    optionalTexts += [Tree(sale.label, table, 2), Tree(sale.stock, table, 12)]
    notes.append(Tree(sale.note, table, 3))
    optionalDecimals += [Tree(sale.price, table, 4), Tree(sale.discount, table, 5)]
    shorts.append(Tree(sale.small, table, 7))
    floats.append(Tree(sale.share, table, 8))
    optionalReals.append(Tree(sale.ratio, table, 9))
    dates.append(Tree(sale.begun, table, 10))
    textDates.append(Tree(sale.ended, table, 11))
    count += 1
  }

  mutating func add(_ stock: RecordFields<RandomStock>) {
    texts.append(Tree(stock.code, count, 0))
    integers.append(Tree(stock.amount, count, 1))
    decimals.append(Tree(stock.price, count, 3))
    textDates.append(Tree(stock.seen, count, 4))
    count += 1
  }

  /// A common table of an integer, a text and an integer that may be NULL.
  mutating func add(_ common: CommonFields<Int, String, Int?>) {
    integers.append(Tree(common.columns.0, count, 0))
    texts.append(Tree(common.columns.1, count, 1))
    optionalIntegers.append(Tree(common.columns.2, count, 2))
    count += 1
  }

  mutating func add(_ common: NullableCommonFields<Int, String, Int?>) {
    optionalIntegers += [Tree(common.columns.0, count, 0), Tree(common.columns.2, count, 2)]
    optionalTexts.append(Tree(common.columns.1, count, 1))
    count += 1
  }
}
