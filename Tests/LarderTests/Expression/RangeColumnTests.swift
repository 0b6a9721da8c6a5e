import Foundation
import Larder
import PostgresSupport
import Testing

private struct Booking: Record, Equatable {
  var id: Int64?
  var days: Range<Int>
  var time: Range<Date>?
  var price: Range<Decimal>
  /// In JSON as Swift itself encodes it.
  var plain: Range<Int> = 0..<1

  struct Columns: Sendable {
    let id = Column("id", \Booking.id, .primaryKey)
    let days = Column("days", \Booking.days, .default(1..<5), as: .range())
    let time = Column("time", \Booking.time, as: .range())
    let price = Column("price", \Booking.price, as: .range())
    let plain = Column("plain", \Booking.plain, as: .json)
  }
  static let columns = Columns()
  static let table = Table(
    "booking", Booking.init, columns.id, columns.days, columns.time, columns.price,
    columns.plain)
}

@Suite("Columns of ranges")
struct RangeColumnTests {
  private let db: Database

  init() throws {
    db = try Database.empty()
    try Booking.table.create(db)
  }

  private func ids(
    _ condition: (RecordFields<Booking>) -> SQLExpression<Bool>
  ) throws -> [Int64] {
    try Booking.filter { condition($0) }.order { $0.id }.select { $0.id }.fetchAll(db)
      .compactMap(\.self)
  }

  @Test("Ranges come back as they were written, and contains and overlaps agree with Swift's")
  func operations() throws {
    func date(_ seconds: Int) -> Date { Date(timeIntervalSince1970: Double(seconds) + 0.5) }
    var records = (1...40).map { id -> Booking in
      let start = Int.random(in: -20...20)
      let end = start + Int.random(in: 1...10)
      return Booking(
        id: Int64(id), days: start..<end, time: id % 4 == 0 ? nil : date(start)..<date(end),
        price: Decimal(start)..<Decimal(Double(end) + 0.25), plain: start..<end)
    }
    try Booking.insert(db, contentsOf: records.dropFirst())
    try records[0].insert(db)
    #expect(try Booking.all.order { $0.id }.fetchAll(db) == records)
    func expected(_ isIncluded: (Booking) -> Bool) -> [Int64] {
      records.filter(isIncluded).compactMap(\.id)
    }
    for value in -25..<25 {
      #expect(try ids { $0.days.contains(value) } == expected { $0.days.contains(value) })
      let other = value..<value + 3
      #expect(try ids { $0.days.overlaps(other) } == expected { $0.days.overlaps(other) })
      #expect(try ids { $0.plain.contains(value) } == expected { $0.plain.contains(value) })
      #expect(try ids { $0.plain.overlaps(other) } == expected { $0.plain.overlaps(other) })
      #expect(try ids { !$0.days.overlaps(other) } == expected { !$0.days.overlaps(other) })
      let moment = date(value)
      #expect(
        try ids { $0.time.contains(moment) } == expected { $0.time?.contains(moment) ?? false })
      let times = date(value)..<date(value + 2)
      #expect(
        try ids { !$0.time.overlaps(times) } == expected { !($0.time?.overlaps(times) ?? false) })
      let price = Decimal(value) + Decimal(string: "0.25")!
      #expect(try ids { $0.price.contains(price) } == expected { $0.price.contains(price) })
    }
    #expect(try ids { $0.days.overlaps(3..<3) } == [])
    #expect(try Booking.table.differences(db) == [])
  }

  @Test("A default is a range, an update sets one, and an empty range is refused")
  func writing() throws {
    var booking = Booking(id: 1, days: 0..<1, time: nil, price: 1..<2)
    try booking.insert(db)
    try db.executeUpdate(
      "INSERT INTO booking (id, price, plain) SELECT 2, price, plain FROM booking")
    #expect(try Booking.find(db, 2).days == 1..<5)
    try Booking.filter { $0.id == 2 }.update(db) { $0.days = .value(7..<9) }
    #expect(try Booking.find(db, 2).days == 7..<9)
    booking.days = 3..<3
    #expect(throws: RecordError.self) { try booking.update(db) }
    #expect(try Booking.find(db, 1).days == 0..<1)
  }

  @Test(
    "A server's range that is empty, lacks a bound or has its upper one isn't a Range, and the error says so",
    .enabled(if: TestEngine.isPostgres), arguments: ["empty", "(,5)", "[1,)", "(,)"])
  func unlikeSwift(_ range: String) throws {
    _ = try Booking(id: 1, days: 0..<1, time: nil, price: 1..<2).inserted(db)
    try db.executeUpdate("UPDATE booking SET price = CAST(\(range) AS numrange)")
    let error = #expect(throws: (any Error).self) { try Booking.find(db, 1) }
    #expect("\(error as Any)".contains("the range is empty, lacks a bound"))
    try db.executeUpdate("UPDATE booking SET price = '[1,2]'")
    #expect(throws: (any Error).self) { try Booking.find(db, 1) }
  }
}
