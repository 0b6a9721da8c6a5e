import Foundation
import Larder

// Queries that one tries to break an engine with: literals in CASE, casts between all types, shifts and parts of text by
// numbers at the ends of what there is, patterns with odd sets and escapes, real numbers that are infinite. Swift doesn't
// compute their rows.

extension TreeGenerator {
  private static let numerals = [
    "", " 12", "12 ", "\t-7x", "+5", "1e3", ".5", "5.", "-.5e1", "1e", "0x10", "1_000", "--1",
    "inf",
    "NaN", "9223372036854775807", "9223372036854775808", "-99999999999999999999", "1e300", "1\n2",
    "١", "2.5", "0", "-0", "0.49",
  ]

  private static let reals = [
    Double.infinity, -.infinity, 1e308, -1e308, 1e-300, -0.0, 0.1, 2.675, 1.005, 0.5, 1.5, -2.5,
    9.2e18, 4_503_599_627_370_497.5, 1e22, 123_456.789,
  ]

  private static let numbers = [
    Int.min, .min + 1, -65, -64, -63, -33, -3, -1, 0, 1, 2, 7, 31, 32, 63, 64, 65, .max - 1, .max,
  ]

  private static let globs = [
    "[c-a]*", "[^c-a]*", "[z-ya]*", "[]a]*", "[^]]*", "[a-", "[", "[]", "*[", "[--a]*", "[a-]*",
    "[\\]*", "[^^]*", "[[:alpha:]]*", "***", "a|b", "^O*", "*$", "(?i)o*", "{1}", "\\*", "?*[é北]*",
    "[A-\u{10FFFF}]*", "*\n*",
  ]

  private static let likes: [(String, Character)] = [
    ("a\\", "\\"), ("\\", "\\"), ("\\\\", "\\"), ("%\\%", "\\"), ("100%%", "%"), ("__", "_"),
    ("oO%", "o"), ("%O%", "O"), ("é_", "é"), ("'%", "'"), ("%\\_%", "\\"), ("[x]", "["), ("", "x"),
  ]

  /// A text, most often a literal or one of several.
  private func someText(_ place: RecordFields<RandomPlace>) -> SQLExpression<String> {
    let (one, two) = (pick(Self.numerals), word)
    switch number(0..<5) {
    case 0: return .value(one)
    case 1: return when(place.size > number(-5..<20), then: one).otherwise(two)
    case 2:
      return when(place.rank == number(-2..<5), then: two).when(place.note == nil, then: one)
        .otherwise(place.name)
    case 3: return place.note.coalesce(one)
    default: return .value(one) + place.name
    }
  }

  private func someReal(_ place: RecordFields<RandomPlace>) -> SQLExpression<Double> {
    let (one, two) = (pick(Self.reals), pick(Self.reals))
    switch number(0..<5) {
    case 0: return place.height
    case 1: return place.height * one
    case 2: return when(place.size > number(-5..<20), then: one).otherwise(two)
    case 3: return place.height + Double(number(-9999..<9999)) / 1000
    default: return .value(one) - when(place.rank == nil, then: two).otherwise(one)
    }
  }

  private func cast(_ place: RecordFields<RandomPlace>) -> SQLExpression<DatabaseValue> {
    func any<Value>(_ value: SQLExpression<Value>) -> SQLExpression<DatabaseValue> {
      value.cast(to: DatabaseValue.self)
    }
    func truth(_ value: SQLExpression<Bool>) -> SQLExpression<DatabaseValue> {
      any(when(value, then: 1).otherwise(0))
    }
    switch number(0..<10) {
    case 0: return any(someText(place).cast(to: Int.self))
    case 1: return any(someText(place).cast(to: Double.self))
    case 2: return truth(someText(place).cast(to: Bool.self))
    case 3: return any(someReal(place).cast(to: Int.self))
    case 4: return truth(someReal(place).cast(to: Bool.self))
    case 5: return any(place.size.cast(to: String.self))
    case 6: return truth(place.size.cast(to: Bool.self))
    case 7: return any((place.name > word).cast(to: Int.self))
    case 8: return any((place.rank == 2).cast(to: String.self))
    default: return any(someReal(place).rounded(number(0..<6)))
    }
  }

  private func someNumber(_ place: RecordFields<RandomPlace>) -> SQLExpression<Int> {
    let (value, bits) = (pick(Self.numbers), pick(Self.numbers))
    switch number(0..<6) {
    case 0: return place.size << bits
    case 1: return place.size >> bits
    case 2: return SQLExpression.value(value) >> bits
    case 3: return place.size & value
    case 4: return when(place.size > value, then: value).otherwise(bits)
    default: return place.size % pick([-1, 1, 3, .max, .min])
    }
  }

  private func somePart(_ place: RecordFields<RandomPlace>) -> SQLExpression<String> {
    let text = someText(place)
    let start = pick(Self.numbers)
    switch number(0..<4) {
    case 0: return text.substring(from: start)
    case 1: return text.substring(from: start, count: pick([0, 1, 3, .max]))
    case 2: return text.least(word)
    default: return text.greatest(someText(place).lowercased)
    }
  }

  private func someCondition(_ place: RecordFields<RandomPlace>) -> SQLExpression<Bool> {
    let text = someText(place)
    switch number(0..<8) {
    case 0: return text.glob(pick(Self.globs))
    case 1:
      let (pattern, escape) = pick(Self.likes)
      return text.like(pattern, escape: escape, caseSensitive: pick([nil, true, false]))
    case 2: return text < someText(place)
    case 3: return text.between(min("A", word)...max("A", word + "z"))
    case 4: return text.in([word, pick(Self.numerals), word])
    case 5: return someReal(place) < pick(Self.reals)
    case 6: return someReal(place) == someReal(place)
    default: return place.size >= pick(Self.numbers)
    }
  }

  func extremes() -> RandomQuery {
    let selection = RandomPlace.filter { someCondition($0) || $0.id < number(1..<12) }
      .order { ($0.id) }
      .select { place in
        (
          cast(place), someNumber(place), somePart(place),
          when(someCondition(place), then: 1).when(!someCondition(place), then: 0).otherwiseNull
        )
      }
    return RandomQuery(
      sql: selection.sql,
      fetch: { db in
        try selection.fetchAll(db).map { [$0.0, .from($0.1), .from($0.2), .from($0.3)] }
      },
      count: { try selection.fetchCount($0) })
  }

  /// The rows in the order of texts that aren't columns, and groups and unions of such.
  func orderedTexts() -> RandomQuery {
    let isGrouped = chance(2)
    if isGrouped {
      let selection = RandomPlace.all.select { (somePart($0), $0.size) }
      let table = CommonTable("texts", selection)
      let groups = table.all.group { $0.columns.0 }.order { $0.columns.0.desc }
        .select { ($0.columns.0, count(), $0.columns.0.max()) }
      return RandomQuery(
        sql: groups.sql,
        fetch: { db in try groups.fetchAll(db).map { [.from($0.0), .from($0.1), .from($0.2)] } },
        count: { try groups.fetchCount($0) })
    }
    let (one, two) = (
      RandomPlace.all.select { somePart($0) },
      RandomPlace.filter { someCondition($0) }.select { someText($0) }
    )
    let union = one.union(two).order(byColumn: 1, descending: chance(2))
    return RandomQuery(
      sql: union.sql, fetch: { db in try union.fetchAll(db).map { [.from($0)] } },
      count: { try union.fetchCount($0) })
  }
}
