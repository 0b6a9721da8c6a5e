import Foundation
import Larder
import PostgresSupport
import Testing

private enum Platform: String, Codable, DatabaseValueConvertible, CaseIterable {
  case linux, macos, other
}

private struct Line: Codable, Equatable, Sendable {
  var sku: String
  var count: Int
}

private struct Package: Record, Equatable {
  var id: Int64?
  var keywords: [String] = []
  var platforms: [Platform] = []
  var sizes: [Int]?
  var ids: [UUID] = []
  var notes: [String?] = []
  var matrix: [[Double]] = []
  var dates: [Date] = []
  var prices: [Decimal] = []
  var flags: [Bool] = []
  var blobs: [Data] = []
  var lines: [Line] = []

  struct Columns: Sendable {
    let id = Column("id", \Package.id, .primaryKey)
    let keywords = Column(
      "keywords", \Package.keywords, .default([#"a "b" \c"#, "{d,e}"]), as: .array)
    let platforms = Column("platforms", \Package.platforms, as: .array)
    let sizes = Column("sizes", \Package.sizes, as: .array)
    let ids = Column("ids", \Package.ids, as: .array)
    let notes = Column("notes", \Package.notes, as: .array)
    let matrix = Column("matrix", \Package.matrix, as: .array)
    let dates = Column("dates", \Package.dates, as: .array)
    let prices = Column("prices", \Package.prices, as: .array)
    let flags = Column("flags", \Package.flags, as: .array)
    let blobs = Column("blobs", \Package.blobs, as: .array)
    let lines = Column("lines", \Package.lines, as: .array)
  }
  static let columns = Columns()
  static let table = Table(
    "package", Package.init, columns.id, columns.keywords, columns.platforms, columns.sizes,
    columns.ids, columns.notes, columns.matrix, columns.dates, columns.prices, columns.flags,
    columns.blobs, columns.lines)
}

@Suite("Columns of arrays")
struct ArrayColumnTests {
  private let db: Database

  init() throws {
    db = try Database.empty()
    try Package.table.create(db)
  }

  private func ids(
    _ condition: (RecordFields<Package>) -> SQLExpression<Bool>
  ) throws -> [Int64] {
    try Package.filter { condition($0) }.order { $0.id }.select { $0.id }.fetchAll(db)
      .compactMap(\.self)
  }

  @Test("Arrays of each type come back as they were written, one by one and in a batch")
  func roundTrip() throws {
    let id = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
    let full = Package(
      id: 1, keywords: ["a", "", "NULL", #"q" \ {},"#, "Ä\n"], platforms: [.linux, .other],
      sizes: [.min, 0, .max], ids: [id], notes: [nil, "x"], matrix: [[1, 2.5], [-0.25, 1e300]],
      dates: [Date(timeIntervalSince1970: 1_700_000_000.125)],
      prices: [Decimal(12.5), 0], flags: [true, false], blobs: [Data([0, 255]), Data()],
      lines: [Line(sku: #"a"b"#, count: 1)])
    var records = [full, Package(id: 2)]
    records += (3..<200).map { Package(id: $0, keywords: ["k\($0)"], sizes: [Int($0)]) }
    try records[0].insert(db)
    try Package.insert(db, contentsOf: records.dropFirst())
    #expect(try Package.all.order { $0.id }.fetchAll(db) == records)
    var other = full
    other.keywords = []
    other.sizes = nil
    try other.update(db)
    #expect(try Package.find(db, 1) == other)
  }

  @Test("contains, overlaps and length agree with Swift's arrays")
  func operations() throws {
    var generator = SystemRandomNumberGenerator()
    let words = ["a", "b", "c", #"d"e"#, "", "NULL", "{f}"]
    func some(_ count: Int) -> [String] {
      (0..<Int.random(in: 0...count, using: &generator)).map { _ in words.randomElement()! }
    }
    let records = (1...60).map { id in
      Package(
        id: id, keywords: some(4), platforms: Platform.allCases.filter { _ in Bool.random() },
        sizes: id % 3 == 0 ? nil : some(3).map(\.count))
    }
    try Package.insert(db, contentsOf: records)
    func expected(_ isIncluded: (Package) -> Bool) -> [Int64] {
      records.filter(isIncluded).compactMap(\.id)
    }
    for word in words {
      #expect(try ids { $0.keywords.contains(word) } == expected { $0.keywords.contains(word) })
      #expect(try ids { !$0.keywords.contains(word) } == expected { !$0.keywords.contains(word) })
    }
    for _ in 0..<10 {
      let wanted = some(3)
      #expect(
        try ids { $0.keywords.contains(all: wanted) }
          == expected { package in wanted.allSatisfy(package.keywords.contains) })
      #expect(
        try ids { $0.keywords.overlaps(wanted) }
          == expected { package in wanted.contains(where: package.keywords.contains) })
      #expect(
        try ids { !$0.keywords.overlaps(wanted) }
          == expected { package in !wanted.contains(where: package.keywords.contains) })
    }
    #expect(
      try ids { $0.platforms.contains(.linux) } == expected { $0.platforms.contains(.linux) })
    #expect(try ids { $0.keywords.length >= 2 } == expected { $0.keywords.count >= 2 })
    #expect(try ids { $0.sizes.length == nil } == expected { $0.sizes == nil })
    #expect(try ids { $0.sizes.contains(0) } == expected { $0.sizes?.contains(0) ?? false })
    #expect(try ids { !$0.sizes.contains(0) } == expected { !($0.sizes?.contains(0) ?? false) })
    #expect(
      try ids { $0.keywords == .value(["a"]) } == expected { $0.keywords == ["a"] })
  }

  @Test("Elements of each type are found, nil too")
  func elements() throws {
    let id = UUID()
    let date = Date(timeIntervalSince1970: 1_700_000_000.125)
    try Package.insert(
      db,
      contentsOf: [
        Package(id: 1),
        Package(
          id: 2, ids: [id], notes: [nil, "x"], dates: [date], prices: [Decimal(12.5)],
          flags: [false]),
      ])
    #expect(try ids { $0.ids.contains(id) } == [2])
    #expect(try ids { $0.dates.contains(date) } == [2])
    #expect(try ids { $0.prices.contains(Decimal(string: "12.50")!) } == [2])
    #expect(try ids { $0.flags.contains(false) } == [2])
    #expect(try ids { $0.notes.contains(nil) } == [2])
    #expect(try ids { $0.notes.overlaps([nil, "y"]) } == [2])
    #expect(try ids { $0.notes.contains(all: ["x"]) } == [2])
    #expect(try ids { $0.notes.overlaps([]) } == [])
    #expect(try ids { $0.notes.contains(all: []) } == [1, 2])
  }

  @Test("An element by its index, and changes of elements, are as in JSON")
  func json() throws {
    try Package.insert(
      db,
      contentsOf: [
        Package(id: 1, keywords: ["a", "b"], lines: [Line(sku: "x", count: 1)]), Package(id: 2),
      ])
    let second = Package.all.order { $0.id }.select { $0.keywords[1].as(String.self) }
    #expect(try second.fetchAll(db) == ["b", nil])
    try Package.filter { $0.id == 1 }.update(db) {
      $0.keywords[0] = "c"
      $0.lines[0]["count"] = 7
      $0.sizes = .value([1, 2])
    }
    let changed = try Package.find(db, 1)
    #expect(changed.keywords == ["c", "b"])
    #expect(changed.lines == [Line(sku: "x", count: 7)])
    #expect(changed.sizes == [1, 2])
    let elements = try Package.all.join(each: { $0.keywords.json }).order { $1.index }.fetchAll(db)
    #expect(elements.map(\.1.text) == ["\"c\"", "\"b\""])
    let whole = try Package.all.order { $0.id }
      .select { $0.keywords.json.as(JSON<[String]>.self) }.fetchAll(db)
    #expect(whole.map { $0?.value } == [["c", "b"], []])
  }

  @Test("A declared default is an array, and the created table doesn't differ from its declaration")
  func definition() throws {
    #expect(try Package.table.differences(db) == [])
    var package = Package(id: 1)
    try package.insert(db)
    try db.executeUpdate(
      """
      INSERT INTO package (id, platforms, ids, notes, matrix, dates, prices, flags, blobs, lines)
      SELECT 9, platforms, ids, notes, matrix, dates, prices, flags, blobs, lines FROM package WHERE id = 1
      """)
    #expect(try Package.find(db, 9).keywords == [#"a "b" \c"#, "{d,e}"])
  }
  private struct Words: Equatable {
    var keywords: [String]
    var lines: [Line]
  }

  @Test(
    "Columns with codings are selected, whether alone, in tuples, by joins and groups, or by a change"
  )
  func selected() throws {
    let line = Line(sku: "x", count: 1)
    try Package.insert(
      db,
      contentsOf: [
        Package(id: 1, keywords: ["a", "b"], sizes: [1], lines: [line]),
        Package(id: 2, keywords: ["c"], lines: [line]), Package(id: 3),
      ])
    let all = Package.all.order { $0.id }
    #expect(try all.select { $0.keywords }.fetchAll(db) == [["a", "b"], ["c"], []])
    let pairs = try all.select { ($0.id, $0.sizes, $0.lines) }.limit(2).fetchAll(db)
    #expect(pairs.map(\.0) == [1, 2] && pairs.map(\.1) == [[1], nil])
    #expect(pairs.map(\.2) == [[line], [line]])
    #expect(
      try all.first.select(Words.init) { ($0.keywords, $0.lines) }.fetchAll(db)
        == [Words(keywords: ["a", "b"], lines: [line])])
    let joined = try Package.leftJoin(Package.self) { $1.id == $0.id + 1 }.order { package, _ in
      package.id
    }
    .select { ($0.keywords, $1.keywords) }.fetchAll(db)
    #expect(joined.map(\.1) == [["c"], [], nil])
    let numbered = try all.select { ($0.keywords, rowNumber().over(orderBy: $0.id.desc)) }
      .filter { _, number in number == 3 }.fetchAll(db)
    #expect(numbered.map(\.0) == [["a", "b"]])
    let grouped = try Package.all.group { $0.lines }.order { _ in count().desc }
      .select { ($0.lines, count()) }.fetchAll(db)
    #expect(grouped.map(\.0) == [[line], []] && grouped.map(\.1) == [2, 1])
    let changed = try Package.filter { $0.id == 3 }
      .updated(db, returning: { ($0.id, $0.keywords) }) { $0.keywords = .value(["z"]) }
    #expect(changed.map(\.1) == [["z"]])
  }

  @Test("A computed value that only a coding can read is refused before the statement runs")
  func unreadable() throws {
    let error = #expect(throws: DatabaseError.self) {
      try Package.select { SQLExpression<[Line]>(sql: "upper(\($0.lines.sql))") }.fetchAll(db)
    }
    #expect(error?.description.contains("a column with a coding") == true)
  }

  private struct Owner: Record, Equatable {
    var id: UUID
    var name: UUID
    struct Columns: Sendable {
      let id = Column("id", \Owner.id, .primaryKey)
      let name = Column("name", \Owner.name, as: .text)
    }
    static let columns = Columns()
    static let table = Table("owner", Owner.init, columns.id, columns.name)
  }

  @Test(
    "A UUID in an array equals a column of UUIDs, and beside one of texts, which none equals, it throws"
  )
  func uuids() throws {
    try Owner.table.create(db)
    let id = UUID()
    var owner = Owner(id: id, name: id)
    try owner.insert(db)
    var package = Package(id: 1, ids: [id])
    try package.insert(db)
    #expect(
      try Package.join(Owner.self) { $0.ids[0].as(UUID.self) == $1.id }.fetchCount(db) == 1)
    #expect(try Package.filter { $0.ids[0].as(UUID.self) == id }.fetchCount(db) == 1)
    #expect(try Package.select { $0.ids[0].as(UUID.self) }.fetchAll(db) == [id])
    for refused in [
      Package.join(Owner.self) { $0.ids[0].as(UUID.self) == $1.name },
      Package.join(Owner.self) { $1.name == $0.ids[0].as(UUID.self) },
    ] {
      #expect(failure(DatabaseError.self) { try refused.fetchCount(db) }?.code == .misuse)
    }
    let update = failure(DatabaseError.self) {
      try Owner.all.update(db) {
        $0.name = first(of: Package.all.select { $0.ids[0].as(UUID.self) }).coalesce(id)
      }
    }
    #expect(update?.code == .misuse)
    #expect(try Owner.fetchAll(db) == [Owner(id: id, name: id)])
  }
}
