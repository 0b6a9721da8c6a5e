import Foundation
import Larder
import PostgresSupport
import Testing

/// An order with dates as text, as in databases of other programs.
private struct Order: Record, Equatable {
  var id: Int
  var day: Date
  var shipped: Date?
  var paid: Date?

  struct Columns: Sendable {
    let id = Column("OrderID", \Order.id, .primaryKey)
    let day = Column("OrderDate", \Order.day, as: .format(.sqlDate))
    let shipped = Column("ShippedDate", \Order.shipped, as: .format(.sqlDateTime))
    let paid = Column("Paid", \Order.paid, as: .format(.sqlDateTimeMilliseconds))
  }
  static let columns = Columns()
  static let table = Table(
    "Orders", Order.init, columns.id, columns.day, columns.shipped, columns.paid)
}

@Suite("Date columns stored as text") struct DateColumnTests {
  let db: Database
  /// July 16, 2016.
  private let day = Date(timeIntervalSince1970: 1_468_627_200)

  init() throws {
    db = try Database.empty()
    try db.define(
      """
      CREATE TABLE "Orders" ("OrderID" INTEGER PRIMARY KEY, "OrderDate" TEXT, "ShippedDate" TEXT,
        "Paid" TEXT);
      INSERT INTO "Orders" VALUES
        (1, '2016-07-15', '2016-07-15 23:59:59', '2016-07-15 23:59:59.999'),
        (2, '2016-07-16', '2016-07-16 00:00:00', '2016-07-16 00:00:00.000'),
        (3, '2016-07-17', NULL, '2016-07-16 00:00:00.001');
      """)
  }

  private func rows() throws -> [[String: DatabaseValue]] {
    try db.executeQuery(#"SELECT * FROM "Orders" ORDER BY "OrderID""#).map { try $0.dictionary }
  }

  private func ids(_ condition: (RecordFields<Order>) -> SQLExpression<Bool>) throws -> [Int] {
    try Order.filter(condition).order { $0.id }.select { $0.id }.fetchAll(db)
  }

  @Test("Date columns stored as text compare and sort as dates")
  func comparison() throws {
    #expect(try ids { $0.day == day } == [2])
    #expect(try ids { $0.day != day } == [1, 3])
    #expect(try ids { $0.day >= day } == [2, 3])
    #expect(try ids { $0.day < day } == [1])
    #expect(try ids { $0.day.in([day]) } == [2])
    #expect(try ids { $0.day.between(day...day.addingTimeInterval(86_400)) } == [2, 3])
    #expect(try ids { $0.shipped == day } == [2])
    #expect(try ids { $0.shipped < day } == [1])
    #expect(try ids { $0.paid > day } == [3])
    #expect(try Order.all.select { $0.day.max() }.fetchOne(db) == day.addingTimeInterval(86_400))
    #expect(try Order.order { $0.shipped.desc.nullsLast }.fetchAll(db).map(\.id) == [2, 1, 3])
  }

  @Test("Saving a fetched record leaves the text of its dates unchanged")
  func saving() throws {
    let before = try rows()
    let orders = try Order.fetchAll(db)
    #expect(orders.count == 3)
    for order in orders { try order.save(db) }
    #expect(try rows() == before)
  }

  @Test("A cast keeps a date's format, so that assigning it to another format's column throws")
  func casting() throws {
    let before = try rows()
    let error = failure(DatabaseError.self) {
      try Order.all.update(db) { $0.shipped = $0.day.cast(to: Date?.self) }
    }
    #expect(error?.code == .misuse)
    #expect(try rows() == before)
    let order = try Order.find(db, 1)
    #expect(
      try Order.filter { $0.day.cast(to: Date?.self) == order.day }.fetchCount(db) == 1)
    #expect(
      try Order.filter { $0.id == 1 }.select { $0.day.cast(to: Date?.self) }.fetchOne(db)
        == order.day)
  }

  @Test("Reading a date of another text format throws, and the error names that format")
  func otherForm() throws {
    for (value, format) in [
      ("2016-07-16 00:00:00", DateFormat.sqlDateTime), ("2016-07-16T00:00:00Z", .iso8601Seconds),
      ("2016-07-16 00:00:00.000", .sqlDateTimeMilliseconds), ("2016-07-16T00:00:00.000Z", .iso8601),
    ] {
      try db.executeUpdate(#"UPDATE "Orders" SET "OrderDate" = \#(value) WHERE "OrderID" = 1"#)
      let error = conversionFailure { try Order.find(db, 1) }
      #expect(error?.kind == .otherCoding(".format(.\(format))"))
      #expect(error?.column == "OrderDate")
    }
  }

  @Test("strftime formats date columns stored as text")
  func parts() throws {
    let months = Order.all.select { ($0.day.strftime("%Y-%m"), $0.shipped.strftime("%d")) }
    let rows = try months.fetchAll(db)
    #expect(rows.map(\.0) == ["2016-07", "2016-07", "2016-07"])
    #expect(rows.map(\.1) == ["15", "16", nil])
  }
}
