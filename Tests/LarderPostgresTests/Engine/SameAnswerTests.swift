import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import Testing

/// A record with extreme values.
private struct Extreme: Record {
  var id: Int64
  var whole: Int
  var short: Int
  var real: Double
  var other: Double?
  var price: Decimal
  var text: String
  var note: String?
  var flag: Bool

  struct Columns: Sendable {
    let id = Column("id", \Extreme.id, .primaryKey)
    let whole = Column("whole", \Extreme.whole)
    let short = Column("short", \Extreme.short, .sqlType("INTEGER"))
    let real = Column("real", \Extreme.real)
    let other = Column("other", \Extreme.other)
    let price = Column("price", \Extreme.price)
    let text = Column("text", \Extreme.text)
    let note = Column("note", \Extreme.note)
    let flag = Column("flag", \Extreme.flag)
  }
  static let columns = Columns()
  static let table = Table(
    "extreme", Extreme.init, columns.id, columns.whole, columns.short, columns.real, columns.other,
    columns.price,
    columns.text, columns.note, columns.flag)

  static let rows: [Extreme] = [
    row(1, 0, 0, 0, nil, "0", "", nil), row(2, 1, 1, 0.5, 2.5, "0.5", "a", "A"),
    row(3, -1, -1, -0.5, -2.5, "-2.5", "B", "b"),
    row(4, .max, 2_147_483_647, .infinity, .infinity, "2.5", "a_b", "ä"),
    row(5, .min, -2_147_483_648, -.infinity, .infinity, "99999999999999999999", "Oslo", "oslo"),
    row(6, 7, 1_073_741_824, 1e300, 1e-300, "-0.5", "100%", "[x]"),
    row(7, 42, 42, 2.5, -0.0, "3.49", " 12 ", "1e3"), row(8, -42, 3, 1.5, 1.5, "12", "2.5x", "\\"),
    row(9, 3, 5, 9.9, 0.1, "1", "🇳🇴", "Ω"), row(10, 2, 9, 100, 1e15, "7", "-7", "0x10"),
  ]

  private static func row(
    _ id: Int64, _ whole: Int, _ short: Int, _ real: Double, _ other: Double?, _ price: String,
    _ text: String,
    _ note: String?
  ) -> Extreme {
    Extreme(
      id: id, whole: whole, short: short, real: real, other: other,
      price: Decimal(string: price) ?? 0, text: text,
      note: note, flag: id % 2 == 0)
  }
}

/// A query with its results as texts.
private struct Question: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let answer: @Sendable (Database) throws -> [String]

  init<Value: Sendable>(
    _ name: String, _ make: @escaping @Sendable (RecordFields<Extreme>) -> SQLExpression<Value>
  ) where Value: DatabaseValueConvertible {
    testDescription = name
    answer = { db in
      try Extreme.order { $0.id }.select { make($0) }.fetchAll(db).map { "\($0)" }
    }
  }

  /// The ids of the rows for which a condition holds, and of those for which its negation holds.
  static func rows(
    _ name: String, _ condition: @escaping @Sendable (RecordFields<Extreme>) -> SQLExpression<Bool>
  ) -> Question {
    Question(name) { db in
      try Extreme.filter(condition).order { $0.id }.select { $0.id }.fetchAll(db).map { "\($0)" }
        + ["not"]
        + Extreme.filter { !condition($0) }.order { $0.id }.select { $0.id }.fetchAll(db).map {
          "\($0)"
        }
    }
  }

  init(_ name: String, answer: @escaping @Sendable (Database) throws -> [String]) {
    testDescription = name
    self.answer = answer
  }
}

@Suite(
  "Same results on a server with a linguistic collation",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct SameAnswerTests {
  private static let server = Result {
    let server = try PostgresServer(["--locale", "icu"])
    let pool = try PostgresPool(server.address)
    try pool.inTransaction { db in
      try Extreme.table.create(db)
      try Extreme.insert(db, contentsOf: Extreme.rows)
    }
    return (server: server, pool: pool)
  }

  private static let queue = Result {
    let queue = try DatabaseQueue()
    try queue.inTransaction { db in
      try Extreme.table.create(db)
      try Extreme.insert(db, contentsOf: Extreme.rows)
    }
    return queue
  }

  @Test("A query has the same results on PostgreSQL as on SQLite", arguments: questions)
  private func same(_ question: Question) throws {
    let expected = try Self.queue.get().read { try question.answer($0) }
    let found = try Self.server.get().pool.read { try question.answer($0) }
    #expect(found == expected)
  }

  @Test("A computation that would differ from SQLite's throws on PostgreSQL", arguments: refused)
  private func refusal(_ question: Question) throws {
    let pool = try Self.server.get().pool
    let error = #expect(throws: DatabaseError.self) {
      try pool.read { try question.answer($0) }
    }
    // A numeric value out of range.
    #expect(error?.sqlState == "22003", "\(String(describing: error))")
  }

  private static let texts = [
    Question("literals in order") { _ in value("a_b") < value("Oslo") },
    Question("a literal that is greater") { _ in value("B") > value("a") },
    Question("CASE between literals") {
      when($0.id > 5, then: "B").when($0.id > 3, then: "a_b").otherwise("a") < value("a_c")
    },
    Question("concatenated literals") { _ in
      let (left, right): (SQLExpression<String>, SQLExpression<String>) = (value("a"), value("O"))
      return left + "_" < right + "slo"
    },
    Question("a part of a literal") { _ in value("a_b").substring(from: 0, count: 1) < value("B") },
    Question("a literal in small letters") { _ in value("Ab").lowercased < value("B") },
    Question("a cast's text") { $0.whole.cast(to: String.self) },
    Question("a cast's text in order") { $0.whole.cast(to: String.self) < value("-") },
    Question("order by CASE") { db in
      let sorted = Extreme.all.order { size($0) }.order { $0.id }
      return try sorted.select { $0.id }.fetchAll(db).map { "\($0)" }
    },
    Question("order by a column and a literal") { db in
      try Extreme.all.order { $0.text + "x" }.select { $0.text }.fetchAll(db)
    },
    Question("the least of CASE") { db in
      try [Extreme.all.select { size($0).min() }.fetchOne(db).debugDescription]
    },
    Question("groups by CASE") { db in
      let groups = Extreme.all.group { size($0) }.order { size($0) }
      return try groups.select { (size($0), count()) }.fetchAll(db).map { "\($0)" }
    },
    Question("a union of literals in order") { db in
      let first = Extreme.filter { $0.id == 1 }
      let (left, right) = (first.select { _ in value("a_b") }, first.select { _ in value("Oslo") })
      return try left.union(right).order(byColumn: 1).fetchAll(db)
    },
    Question("a recursive table that begins with a literal") { db in
      let seed = Extreme.filter { $0.id == 1 }.select { (value("a"), $0.id) }
      let table = CommonTable(recursive: "chain", seed) { chain in
        Extreme.all.join(common: chain) { $0.id == $1.columns.1 + 1 }
          .select { row, chain in (chain.columns.0 + "B", row.id) }
      }
      let sorted = table.all.order { $0.columns.0 }
      return try sorted.select { $0.columns.0 }.fetchAll(db)
    },
    Question("a function's text in order") {
      function("lower", $0.text, as: String.self) < value("b")
    },
    Question("the greater of two") { db in
      try Extreme.order { $0.id }.select { $0.text.greatest("a") }.fetchAll(db)
    },
  ]

  private static let numbers = [
    Question("halves that binary numbers miss by their last digit, rounded") {
      ($0.short.real * 2.675).rounded(2)
    },
    Question("hours beyond the year 9999, and minutes back") { _ in
      value(Date(timeIntervalSince1970: 253_402_297_260)).adding(hours: 3, minutes: -179)
    },
    Question("a Decimal as Int") { db in
      let small = Extreme.filter { $0.price < 1000 }.order { $0.id }
      return try small.select { $0.price.cast(to: Int.self) }.fetchAll(db).map { "\($0)" }
    },
    Question("a Decimal as Bool") { db in
      let sorted = Extreme.filter { $0.price < 1000 }.order { $0.id }
      return try sorted.select { when($0.price.cast(to: Bool.self), then: 1).otherwise(0) }
        .fetchAll(db).map { "\($0)" }
    },
    Question("a computed Decimal as text") { db in
      let sorted = Extreme.filter { $0.price < 1000 }.order { $0.id }
      return try sorted.select { ($0.price + $0.price).cast(to: String.self) }.fetchAll(db)
        + sorted.select { ($0.price * 2.5).cast(to: String.self) }.fetchAll(db)
        + Extreme.filter { $0.id == 2 }.select { ($0.price + 0.5).groupConcat() }.fetchAll(db)
        .map { $0 ?? "" }
    },
    Question("a real number as Bool") { db in
      try Extreme.filter { $0.real < 1e18 && $0.real > -1e18 }.order { $0.id }
        .select { when($0.real.cast(to: Bool.self), then: 1).otherwise(0) }.fetchAll(db).map {
          "\($0)"
        }
    },
    Question("numbers as Bools that are compared and grouped") { db in
      let few = Extreme.filter { $0.real < 1e18 && $0.real > -1e18 }
      let equal = few.filter { $0.whole.cast(to: Bool.self) == $0.real.cast(to: Bool.self) }
      let groups = few.group { $0.whole.cast(to: Bool.self) }
        .order { $0.whole.cast(to: Bool.self) }
      return try ["\(equal.fetchCount(db))"]
        + groups.select { ($0.whole.cast(to: Bool.self), count()) }.fetchAll(db).map { "\($0)" }
    },
    Question("text as Int") { $0.text.cast(to: Int.self) },
    Question("a note as Int") { $0.note.cast(to: Int?.self) },
    Question("text as Double") { $0.text.cast(to: Double.self) },
    Question("a note as Double") { $0.note.cast(to: Double?.self) },
    Question("a Bool as text") { $0.flag.cast(to: String.self) },
    Question("shifted to the left") { $0.short << 4 },
    Question("shifted to the left, out of 32 bits") { $0.short << 40 },
    Question("shifted to the right") { $0.short >> 3 },
    Question("shifted to the right, out of 32 bits") { $0.short >> 40 },
    Question("infinity less infinity") { db in
      try Extreme.order { $0.id }.select { $0.real - $0.other }.fetchAll(db).map { "\($0 ?? .nan)" }
    },
    Question("the sum of infinities") { db in
      try ["\(Extreme.all.select { $0.real.sum() }.fetchOne(db) as Double??)"]
    },
    .rows("infinity is the greatest") { $0.real > 1e308 },
    .rows("a number beyond 32 bits") { $0.short < 5_000_000_000 },
    .rows("the smallest integer") { $0.whole == .min },
    .rows("in extremes") { $0.whole.in([.min, .max, 0]) },
  ]

  private static let patterns = [
    Question("from the smallest integer") { $0.text.substring(from: .min) },
    Question("from the smallest integer, some") { $0.text.substring(from: .min, count: 3) },
    Question("from the greatest integer") { $0.text.substring(from: .max) },
    Question("from the smallest but one, many") { $0.text.substring(from: .min + 1, count: .max) },
    .rows("a range that is turned around") { $0.text.glob("[c-a]*") },
    .rows("none of a range that is turned around") { $0.text.glob("[^c-a]*") },
    .rows("a range and a letter") { $0.text.glob("[z-ya]*") },
    .rows("a hyphen at the end of a set") { $0.text.glob("[a-]*") },
    .rows("a hyphen at the start of a set") { $0.text.glob("[-0-9]*") },
    .rows("a set that doesn't end") { $0.text.glob("[abc") },
    .rows("a bracket in a set") { $0.note.coalesce("").glob("[]x[]*") },
    .rows("a class's name") { $0.text.glob("[[:alpha:]]*") },
    .rows("a pattern that ends in its escape") { $0.text.like("a\\", escape: "\\") },
    .rows("a pattern that is its escape") { $0.note.like("\\", escape: "\\") },
    .rows("an escape that is escaped") { $0.note.like("\\\\", escape: "\\") },
    .rows("a wildcard as escape") { $0.text.like("100%%", escape: "%") },
    .rows("a pattern of wildcards") { $0.text.like("%_%") },
    Question("a backslash in a format") { _ in
      value(Date(timeIntervalSince1970: 0)).strftime(#"\%Y"\"%m\\"#)
    },
  ]

  private static let questions = texts + numbers + patterns

  private static let refused = [
    Question("an integer that is too large") { $0.whole + 1 },
    Question("32 bits that are too large") { $0.short + $0.short },
    Question("infinity as Int") { $0.real.integer },
    Question("a Decimal that is too large as Int") { $0.price.cast(to: Int.self) },
  ]
}

private func size(_ row: RecordFields<Extreme>) -> SQLExpression<String> {
  when(row.flag, then: "a").otherwise("B")
}

/// A value as an expression.
private func value<Value: DatabaseValueConvertible>(_ value: Value) -> SQLExpression<Value> {
  .value(value)
}
