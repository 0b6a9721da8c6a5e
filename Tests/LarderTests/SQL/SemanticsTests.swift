import Foundation
import Larder
import PostgresSupport
import Testing

/// Tests of results in which engines differ unless the dialect adapts them.
@Suite("The same results on each engine") struct SemanticsTests {
  private struct Sample: Record, Equatable {
    var id: Int64?
    var number: Int
    var maybe: Int?
    var real: Double
    var text: String
    var flag: Bool

    struct Columns: Sendable {
      let id = Column("id", \Sample.id, .primaryKey)
      let number = Column("number", \Sample.number)
      let maybe = Column("maybe", \Sample.maybe)
      let real = Column("real", \Sample.real)
      let text = Column("text", \Sample.text)
      let flag = Column("flag", \Sample.flag)
    }
    static let columns = Columns()
    static let table = Table(
      "sample", Sample.init, columns.id, columns.number, columns.maybe, columns.real,
      columns.text, columns.flag)
  }

  private let db: Database

  init() throws {
    db = try Database.empty()
    try Sample.table.create(db)
    try Sample.insert(
      db,
      contentsOf: [
        Sample(id: 1, number: 7, maybe: nil, real: 2.7, text: "Oslo", flag: true),
        Sample(id: 2, number: -7, maybe: 0, real: -2.7, text: "oslo", flag: false),
        Sample(id: 3, number: 0, maybe: 3, real: 0.5, text: #"50%_\'""#, flag: true),
      ])
  }

  private func values<V: DatabaseValueConvertible>(
    _ expression: (RecordFields<Sample>) -> SQLExpression<V>
  ) throws -> [V] {
    try Sample.order { $0.id }.select { expression($0) }.fetchAll(db)
  }

  private func ids(
    _ condition: (RecordFields<Sample>) -> SQLExpression<Bool>
  ) throws -> [Int64?] {
    try Sample.filter(condition).order { $0.id }.select { $0.id }.fetchAll(db)
  }

  @Test("Comparing with nil or a NULL value is null-safe, also under a negation")
  func nullSafety() throws {
    #expect(try ids { $0.maybe == nil } == [1])
    #expect(try ids { $0.maybe == .value(nil) } == [1])
    #expect(try ids { $0.maybe != .value(nil) } == [2, 3])
    #expect(try ids { $0.maybe == 3 } == [3])
    #expect(try ids { !($0.maybe == 3) } == [1, 2])
    #expect(try ids { $0.maybe != 3 } == [1, 2])
    #expect(try ids { $0.maybe == $0.maybe } == [1, 2, 3])
    #expect(try ids { $0.maybe == $0.number } == [])
  }

  @Test("NULL sorts as the smallest value in both directions, unless the order says otherwise")
  func nullOrder() throws {
    #expect(try Sample.order { $0.maybe }.fetchAll(db).map(\.id) == [1, 2, 3])
    #expect(try Sample.order { $0.maybe.desc }.fetchAll(db).map(\.id) == [3, 2, 1])
    #expect(try Sample.order { $0.maybe.asc.nullsLast }.fetchAll(db).map(\.id) == [2, 3, 1])
    #expect(try Sample.order { $0.maybe.desc.nullsFirst }.fetchAll(db).map(\.id) == [1, 3, 2])
  }

  @Test("Dividing by zero gives NULL, and integer quotients round towards zero")
  func division() throws {
    #expect(try ids { ($0.number / $0.maybe) == nil } == [1, 2])
    #expect(try ids { ($0.number % $0.maybe) == nil } == [1, 2])
    #expect(try values { $0.number / 2 } == [3, -3, 0])
    #expect(try values { $0.number % 4 } == [3, -3, 0])
  }

  @Test("An empty array in a statement's own IN has no value, whatever its type, and NOT IN all")
  func emptyLists() throws {
    let (numbers, texts): ([Int], [String]) = ([], [])
    #expect(try db.value("SELECT 5 IN \(numbers) OR 'a' in  \(texts)", as: Bool.self) == false)
    #expect(try db.value("SELECT 5 NOT IN \(numbers)", as: Bool.self) == true)
    #expect(try db.value("SELECT NOT 'a' not\n IN \(texts)", as: Bool.self) == false)
    #expect(try db.value("SELECT NOT (5 IN \(numbers))", as: Bool.self) == true)
  }

  @Test("Shifting by 64 bits or more gives 0 or the sign, and by a negative number the other way")
  func shifts() throws {
    #expect(try values { $0.number << 64 } == [0, 0, 0])
    #expect(try values { $0.number >> 70 } == [0, -1, 0])
    #expect(try values { $0.number << 2 } == [28, -28, 0])
    #expect(try values { $0.number << -1 } == [3, -4, 0])
  }

  @Test("A sum of integers is an integer, an average is real, and both are nil without rows")
  func sums() throws {
    let sums = Sample.filter { $0.id < 3 && $0.number > 0 }
      .select { ($0.number.sum(), $0.number.average(), $0.number.total()) }
    let row = try #require(try sums.fetchOne(db))
    #expect(row.0 == 7 && row.1 == 7 && row.2 == 7)
    let half = Sample.all.group { $0.flag }.having { $0.number.sum() / 2 == 3 }
      .select { $0.flag }
    #expect(try half.fetchAll(db) == [true])
    let nothing = Sample.filter { $0.id == 99 }
      .select { ($0.number.sum(), $0.number.average(), $0.number.total()) }
    let none = try #require(try nothing.fetchOne(db))
    #expect(none.0 == nil && none.1 == nil && none.2 == 0)
    let filtered = Sample.all.select {
      ($0.number.sum().filter(where: $0.flag), $0.number.total().filter(where: !$0.flag))
    }
    #expect(try filtered.fetchAll(db).map(\.0) == [7])
    #expect(try filtered.fetchAll(db).map(\.1) == [-7])
  }

  @Test("`integer` truncates a real, `rounded` keeps all digits, and `greatest` of NULL is NULL")
  func numbers() throws {
    #expect(try values { $0.real.integer } == [2, -2, 0])
    #expect(try values { $0.real.rounded() } == [3, -3, 1])
    try Sample.filter { $0.id == 1 }.update(db) { $0.real = 123_456_789_012_345.67 }
    #expect(try values { $0.real.rounded(1) }[0] == 123_456_789_012_345.7)
    #expect(try values { $0.maybe.greatest(1) } == [nil, 1, 3])
    #expect(try values { $0.maybe.least(1) } == [nil, 0, 1])
    #expect(try values { $0.flag.cast(to: Int.self) } == [1, 0, 1])
  }

  @Test("Text functions count from 0 and distinguish case")
  func parts() throws {
    #expect(try values { $0.text.position(of: "s") } == [1, 1, nil])
    #expect(try values { $0.text.substring(from: 1, count: 2) }[0] == "sl")
    #expect(try ids { $0.text.hasSuffix("lo") } == [1, 2])
    #expect(try ids { $0.text.hasPrefix("Os") } == [1])
    #expect(try values { $0.text.lowercased }[0] == "oslo")
  }

  @Test("Wildcards, quotes and backslashes are literal, except in `like` and `glob` patterns")
  func patterns() throws {
    #expect(try ids { $0.text.like("OSL_") } == [1, 2])
    #expect(try ids { $0.text.like("%!%!_%", escape: "!") } == [3])
    #expect(try ids { $0.text.like(#"%\%"#) } == [3])
    #expect(try ids { $0.text.glob("O*") } == [1])
    #expect(try ids { $0.text.glob("[a-z]sl?") } == [2])
    #expect(try ids { $0.text.contains("%") } == [3])
    #expect(try ids { $0.text.contains(#"\'"#) } == [3])
    #expect(try ids { $0.text.hasPrefix("50%_") } == [3])
    #expect(try ids { $0.text.hasSuffix(#"'""#) } == [3])
    #expect(try ids { $0.text == #"50%_\'""# } == [3])
    #expect(try ids { $0.text.in(["oslo", #"50%_\'""#]) } == [2, 3])
  }

  @Test("A collation applies to comparisons, groups and orders, and throws where it can't")
  func collations() throws {
    #expect(try ids { $0.text.collate("NOCASE") == "OSLO" } == [1, 2])
    #expect(try ids { $0.text.collate("NOCASE").in(["OSLO"]) } == [1, 2])
    #expect(try ids { $0.text.collate("NOCASE").between("OSL"..."OSLP") } == [1, 2])
    #expect(try ids { $0.text.collate("RTRIM") == "Oslo  " } == [1])
    let groups = Sample.all.group { $0.text.collate("NOCASE") }.select { _ in count() }
    #expect(try groups.fetchAll(db).sorted() == [1, 2])
    let order = Sample.order { ($0.text.collate("NOCASE").desc, $0.id) }
    #expect(try order.fetchAll(db).map(\.id) == [1, 2, 3])
    let smallest = Sample.all.select { $0.text.collate("NOCASE").min() }
    if TestEngine.isPostgres {
      #expect(throws: (any Error).self) { try smallest.fetchAll(db) }
    } else {
      #expect(try smallest.fetchAll(db) == [#"50%_\'""#])
    }
  }

  @Test("Composed and decomposed “é”, and 0.0 and -0.0, stay different values")
  func likeness() throws {
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    let texts = Sample.filter { $0.id == 1 }
      .select { _ in (SQLExpression.value(composed), SQLExpression.value(decomposed)) }
    let row = try #require(try texts.fetchOne(db))
    #expect(row.0.utf8.count == 5 && row.1.utf8.count == 6)
    let zeros = Sample.filter { $0.id == 1 }
      .select { _ in (SQLExpression.value(0.0), SQLExpression.value(-0.0)) }
    #expect(try zeros.fetchOne(db)?.1.sign == .minus)
  }

  @Test("Keys that the engine chooses follow the greatest key that was given")
  func identity() throws {
    var next = Sample(id: nil, number: 1, maybe: nil, real: 0, text: "a", flag: true)
    try next.insert(db)
    #expect(next.id == 4)
    var given = Sample(id: 50, number: 1, maybe: nil, real: 0, text: "b", flag: true)
    try given.insert(db)
    next.id = nil
    try next.upsert(db)
    #expect(next.id == 51)
    _ = try Sample(id: 60, number: 1, maybe: nil, real: 0, text: "c", flag: true).inserted(db)
    next.id = nil
    #expect(try next.insert(db, or: .ignore))
    #expect(next.id == 61)
    given.id = 70
    try given.upsert(db)
    next = try Sample.inserted(
      db,
      contentsOf: [next].map { sample in
        var sample = sample
        sample.id = nil
        return sample
      })[0]
    #expect(next.id == 71)
    #expect(try Sample.find(db, 1).text == "Oslo")
  }

  @Test("A failed statement in a savepoint leaves the outer transaction intact")
  func savepoints() throws {
    try db.inTransaction { db in
      try Sample.filter { $0.id == 1 }.update(db) { $0.number = 8 }
      #expect(throws: DatabaseError.self) {
        try db.inSavepoint { db in
          var twin = Sample(id: 2, number: 1, maybe: nil, real: 0, text: "", flag: true)
          try twin.insert(db)
        }
      }
    }
    #expect(try Sample.find(db, 1).number == 8)
  }

  @Test("Values, types and names that PostgreSQL can't store are refused")
  func refusals() throws {
    var sample = try Sample.find(db, 1)
    sample.real = .nan
    #expect(conversionFailure { try sample.update(db) }?.column == "real")
    guard TestEngine.isPostgres else { return }
    sample.real = 1
    sample.text = "a\0b"
    let failure = conversionFailure { try sample.update(db) }
    #expect(failure?.column == "text")
    #expect(failure?.kind == .malformed)
    #expect(throws: UnsupportedByEngine.self) { try Everything.table.create(db) }
    struct Long: Record {
      var id: Int
      static let columns = [Column("id", \Long.id, .primaryKey)]
      static let table = Table(String(repeating: "n", count: 64), Long.init, columns[0])
    }
    #expect(throws: UnsupportedByEngine.self) { try Long.table.create(db) }
  }
}
