import Foundation
import Larder
import PostgresSupport
import Testing

/// A record whose columns store dates, UUIDs, texts and numbers in several formats each.
private struct Visit: Record {
  var id: Int
  var plain: Date
  var iso: Date
  var iso2: Date?
  var milliseconds: Date
  var key: UUID
  var keyText: UUID
  var keyBlob: UUID
  var secret: String
  var name: String
  var count: Int
  var text: Int

  struct Columns: Sendable {
    let id = Column("id", \Visit.id, .primaryKey)
    let plain = Column("plain", \Visit.plain)
    let iso = Column("iso", \Visit.iso, as: .iso8601)
    let iso2 = Column("iso2", \Visit.iso2, as: .iso8601)
    let milliseconds = Column("milliseconds", \Visit.milliseconds, as: .unixMilliseconds)
    let key = Column("key", \Visit.key)
    let keyText = Column("keyText", \Visit.keyText, as: .text)
    let keyBlob = Column("keyBlob", \Visit.keyBlob, as: .blob)
    let secret = Column(
      "secret", \Visit.secret,
      as: ColumnCoding(
        encode: { String($0.reversed()) }, decode: { (text: String) in String(text.reversed()) }))
    let name = Column("name", \Visit.name)
    let count = Column("count", \Visit.count)
    let text = Column(
      "text", \Visit.text,
      as: ColumnCoding(encode: { String($0) }, decode: { (text: String) in Int(text) ?? 0 }))
  }
  static let columns = Columns()
  static let table = Table(
    "visit", Visit.init, columns.id, columns.plain, columns.iso, columns.iso2,
    columns.milliseconds, columns.key, columns.keyText, columns.keyBlob, columns.secret,
    columns.name, columns.count, columns.text)
}

@Suite("Columns that store one type in several ways") struct MixedCodingTests {
  let db: Database
  private static let day = Date(timeIntervalSince1970: 86_400)

  init() throws { db = try Self.database(.secondsSince1970) }

  private static func database(_ format: DateFormat) throws -> Database {
    var configuration = Configuration()
    configuration.dateFormat = format
    let db = try Database(configuration: configuration)
    try Visit.table.create(db)
    let id = UUID()
    try Visit.insert(
      db,
      contentsOf: [
        Visit(
          id: 1, plain: day, iso: day, iso2: day, milliseconds: day, key: id, keyText: id,
          keyBlob: id, secret: "Oslo", name: "Oslo", count: 10, text: 9)
      ])
    return db
  }

  private func refuses(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: (RecordFields<Visit>) -> SQLExpression<Bool>
  ) {
    let error = failure(DatabaseError.self) { try Visit.filter(condition).fetchCount(db) }
    #expect(error?.code == .misuse, sourceLocation: sourceLocation)
  }

  @Test("Comparing columns that store one type in different formats throws")
  func comparison() throws {
    refuses { $0.iso == $0.milliseconds }
    refuses { $0.iso < $0.milliseconds }
    refuses { $0.plain == $0.iso }
    refuses { $0.iso2 != $0.plain }
    refuses { $0.key == $0.keyText }
    refuses { $0.keyText == $0.keyBlob }
    refuses { $0.secret == $0.name }
    refuses { $0.name == $0.secret }
    refuses { $0.iso.greatest($0.milliseconds) == $0.iso }
    refuses { $0.iso2.coalesce($0.milliseconds) == $0.iso }
    refuses { $0.iso.in(Visit.all.select { $0.milliseconds }) }
    refuses { $0.iso == first(of: Visit.all.select { $0.milliseconds }) }
    refuses { when($0.id == 1, then: $0.iso).otherwise($0.milliseconds) == $0.iso }
    let join = Visit.aliased("a").join(Visit.self) { $0.iso == $1.milliseconds }
    #expect(failure(DatabaseError.self) { try join.fetchAll(db) }?.code == .misuse)
  }

  @Test("A value to the left of a column has the column's storage format, as one to its right has")
  func left() throws {
    let key = try #require(try Visit.fetchOne(db)).key
    let day = Self.day
    func count(
      _ condition: (RecordFields<Visit>) -> SQLExpression<Bool>
    ) throws -> Int { try Visit.filter(condition).fetchCount(db) }
    for column: @Sendable (RecordFields<Visit>) -> SQLExpression<Date> in [
      { $0.plain }, { $0.iso }, { $0.milliseconds },
    ] {
      #expect(try count { .value(day) == column($0) } == 1)
      #expect(try count { .value(day) != column($0) } == 0)
      #expect(try count { .value(day - 1) < column($0) } == 1)
      #expect(try count { .value(day + 1) < column($0) } == 0)
      #expect(try count { _ in SQLExpression.value(day).in(Visit.all.select(column)) } == 1)
      #expect(try count { SQLExpression.value(day).in([.value(day - 1), column($0)]) } == 1)
      #expect(
        try count { when($0.id == 1, then: day).otherwise(day + 1) == column($0) } == 1)
    }
    #expect(try count { .value(day) == $0.iso2 } == 1)
    for column: @Sendable (RecordFields<Visit>) -> SQLExpression<UUID> in [
      { $0.key }, { $0.keyText }, { $0.keyBlob },
    ] {
      #expect(try count { .value(key) == column($0) } == 1)
      #expect(try count { _ in SQLExpression.value(key).in(Visit.all.select(column)) } == 1)
    }
    #expect(try count { .value("Oslo") == $0.secret } == 1)
    #expect(try count { .value(9) == $0.text } == 1)
  }

  @Test("Columns of one type are comparable where they have the same storage format")
  func alike() throws {
    #expect(try Visit.filter { $0.iso == $0.iso2 }.fetchCount(db) == 1)
    #expect(try Visit.filter { $0.key == $0.keyBlob }.fetchCount(db) == 1)
    #expect(try Visit.filter { $0.iso.in(Visit.all.select { $0.iso2 }) }.fetchCount(db) == 1)
    let iso = try Self.database(.iso8601)
    #expect(try Visit.filter { $0.plain == $0.iso }.fetchCount(iso) == 1)
    #expect(try Visit.filter { $0.iso >= $0.plain }.fetchCount(iso) == 1)
  }

  @Test("Assigning or combining columns of different storage formats throws")
  func assignment() throws {
    func refuses(_ change: (inout Assignments<Visit>) -> Void) {
      let error = failure(DatabaseError.self) { try Visit.all.update(db, change) }
      #expect(error?.code == .misuse)
    }
    refuses { $0.iso = $0.milliseconds }
    refuses { $0.plain = $0.iso }
    refuses { $0.name = $0.secret }
    refuses { $0.secret = $0.name }
    refuses { $0.text = $0.count }
    try Visit.all.update(db) { $0.key = $0.keyBlob }
    for query in [
      Visit.all.select { $0.iso }.union(Visit.all.select { $0.milliseconds }),
      Visit.all.select { $0.plain }.union(all: Visit.all.select { $0.milliseconds }),
    ] {
      #expect(failure(DatabaseError.self) { try query.fetchAll(db) }?.code == .misuse)
    }
  }

  @Test("Arithmetic and text functions throw on columns that store another representation")
  func computation() throws {
    refuses { $0.text + 1 == 10 }
    refuses { $0.count * $0.text == 90 }
    refuses { -$0.text == -9 }
    refuses { $0.text % 2 == 1 }
    refuses { $0.text & 1 == 1 }
    refuses { $0.text << 1 == 18 }
    refuses { $0.text.magnitude == 9 }
    refuses { $0.text.real == 9 }
    refuses { $0.text.integer == 9 }
    refuses { $0.secret.hasPrefix("O") }
    refuses { $0.secret.contains("s") }
    refuses { $0.secret.like("O%") }
    refuses { $0.secret.lowercased == "oslo" }
    refuses { $0.secret + "!" == "Oslo!" }
    refuses { $0.secret.length == 4 }
    #expect(
      failure(DatabaseError.self) { try Visit.all.update(db) { $0.text += 1 } }?.code == .misuse)
    for selection in [
      Visit.all.select { $0.text.average() }, Visit.all.select { $0.text.sum().real },
    ] {
      #expect(failure(DatabaseError.self) { try selection.fetchAll(db) }?.code == .misuse)
    }
    #expect(try Visit.filter { $0.text == 9 && $0.secret == "Oslo" }.fetchCount(db) == 1)
    #expect(try Visit.all.select { $0.text.max() }.fetchOne(db) == 9)
    try Visit.all.update(db) { $0.text = 11 }
    #expect(try Visit.all.select { $0.text }.fetchAll(db) == [11])
  }

  @Test("Float columns compute in single precision, as Swift does")
  func floats() throws {
    struct Sample: Record {
      var id: Int
      var a: Float
      var b: Float?

      struct Columns: Sendable {
        let id = Column("id", \Sample.id, .primaryKey)
        let a = Column("a", \Sample.a)
        let b = Column("b", \Sample.b)
      }
      static let columns = Columns()
      static let table = Table("sample", Sample.init, columns.id, columns.a, columns.b)
    }
    try Sample.table.create(db)
    try Sample.insert(db, contentsOf: [Sample(id: 1, a: 0.1, b: 0.2), Sample(id: 2, a: 3, b: nil)])
    let sum: Float = 0.1 + 0.2
    #expect(try Sample.filter { $0.a + $0.b == sum }.fetchCount(db) == 1)
    #expect(try Sample.filter { $0.a + 0.2 == sum }.fetchCount(db) == 1)
    let first = Sample.filter { $0.id == 1 }
    #expect(try first.select { $0.a * 3 }.fetchOne(db) == 0.1 * 3)
    let quotient: Float = 0.2 / 0.1 - 1
    #expect(try first.select { $0.b / $0.a - 1 }.fetchOne(db) == quotient)
    #expect(try Sample.all.select { $0.a.sum() }.fetchOne(db) == 3.1)
    #expect(try Sample.all.select { $0.a.sum().filter(where: $0.id == 1) }.fetchOne(db) == 0.1)
    #expect(try Sample.filter { -$0.a - 0.2 == -sum }.fetchCount(db) == 1)
    #expect(
      try Sample.filter { $0.id == 1 }.select { ($0.a + $0.a).rounded(1) }.fetchOne(db) == 0.2)
    #expect(try Sample.all.select { $0.id.cast(to: Float.self) / 3 }.fetchAll(db)[0] == 1 / 3)
  }

  @Test(
    "A collation in a CASE condition doesn't apply to the comparison of its result",
    .onlySQLite(.anyTyped)
  )
  func collation() throws {
    let size = { (visit: RecordFields<Visit>) in
      when(visit.name.collate("NOCASE") == "OSLO", then: "large").otherwise("small")
    }
    #expect(try Visit.filter { size($0) == "large" }.fetchCount(db) == 1)
    #expect(try Visit.filter { size($0) == "LARGE" }.fetchCount(db) == 0)
  }
}

@Suite("Conditions and quotients of other programs' columns")
struct ForeignColumnTests {
  private struct Part: Record {
    var id: Int
    var isActive: Bool
    var price: Double
    var packs: Double?

    struct Columns: Sendable {
      let id = Column("id", \Part.id, .primaryKey)
      let isActive = Column(
        "active", \Part.isActive,
        as: ColumnCoding(encode: { $0 ? "Y" : "N" }, decode: { $0 == "Y" }))
      let price = Column("price", \Part.price)
      let packs = Column("packs", \Part.packs)
    }
    static let columns = Columns()
    static let table = Table(
      "part", Part.init, columns.id, columns.isActive, columns.price, columns.packs)
  }

  private let db: Database

  init() throws {
    db = try Database.empty()
    try db.define(
      """
      CREATE TABLE part (id INTEGER PRIMARY KEY, active TEXT, price NUMERIC, packs NUMERIC);
      INSERT INTO part VALUES (1, 'Y', 18.0, 4), (2, 'N', 9, 2), (3, 'Y', 7, NULL);
      """)
  }

  @Test(
    "A Bool column with its own coding is a condition that compares with its stored true value",
    .onlySQLite(.anyTyped))
  func conditions() throws {
    func ids(_ condition: (RecordFields<Part>) -> SQLExpression<Bool>) throws -> [Int] {
      let query = Part.filter(condition).order { $0.id }
      _ = query.snapshot
      return try query.fetchAll(db).map(\.id)
    }
    #expect(try ids { $0.isActive } == [1, 3])
    #expect(try ids { !$0.isActive } == [2])
    #expect(try ids { $0.isActive && $0.id > 1 } == [3])
    #expect(try ids { $0.id == 2 || $0.isActive } == [1, 2, 3])
    #expect(try ids { when($0.isActive, then: 1).otherwise(0) == 1 } == [1, 3])
    #expect(
      try Part.select { count().filter(where: $0.isActive) }.fetchAll(db) == [2])
    let pairs = try Part.join(Part.self) { $0.isActive && $1.isActive }.fetchCount(db)
    #expect(pairs == 4)
  }

  @Test("Integers in a NUMERIC column of Doubles are divided as real numbers")
  func quotients() throws {
    let query = Part.order { $0.id }.select {
      ($0.price / $0.packs, $0.price / $0.price, 9 / $0.price)
    }
    _ = query.snapshot
    let rows = try query.fetchAll(db)
    #expect(rows.map(\.0) == [4.5, 4.5, nil])
    #expect(rows.map(\.1) == [1, 1, 1] && rows.map(\.2)[0] == 0.5)
    #expect(try Part.select { $0.price.sum() / $0.packs.sum() }.fetchAll(db) == [34.0 / 6])
  }
}
