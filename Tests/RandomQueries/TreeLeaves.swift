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

  /// A common table of an integer, a text and an integer that may be NULL.
  mutating func add(_ common: CommonFields<Int, String, Int?>) {
    integers.append(Tree(common.columns.0, count, 0))
    texts.append(Tree(common.columns.1, count, 1))
    optionalIntegers.append(Tree(common.columns.2, count, 2))
    count += 1
  }
}
