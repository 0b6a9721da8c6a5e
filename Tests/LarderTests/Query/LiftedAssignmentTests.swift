import Foundation
import Larder
import PostgresSupport
import TestSupport
import Testing

@Suite("Assigning non-optional expressions to optional columns")
struct LiftedAssignmentTests {
  private enum State: String, DatabaseValueConvertible { case lent, back }

  private struct Loan: Record, Equatable {
    var id: Int64?
    var lent: Date
    var returned: Date?
    var day: Date?
    var price: Decimal
    var paid: Decimal?
    var days: Int16
    var extra: Int16?
    var state: State
    var before: State?
    var tags: [String]
    var old: [String]?

    struct Columns: Sendable {
      let id = Column("id", \Loan.id, .primaryKey)
      let lent = Column("lent", \Loan.lent, as: .format(.sqlDateTime))
      let returned = Column("returned", \Loan.returned, as: .format(.sqlDateTime))
      let day = Column("day", \Loan.day, as: .format(.sqlDate))
      let price = Column("price", \Loan.price)
      let paid = Column("paid", \Loan.paid)
      let days = Column("days", \Loan.days)
      let extra = Column("extra", \Loan.extra)
      let state = Column("state", \Loan.state)
      let before = Column("before", \Loan.before)
      let tags = Column("tags", \Loan.tags, .default([]), as: .json)
      let old = Column("old", \Loan.old, as: .json)
    }
    static let columns = Columns()
    static let table = Table(
      "loan", Loan.init, columns.id, columns.lent, columns.returned, columns.day, columns.price,
      columns.paid, columns.days, columns.extra, columns.state, columns.before, columns.tags,
      columns.old)
  }

  private let db: Database
  private let lent = Date(timeIntervalSince1970: 1_700_000_000)

  init() throws {
    db = try Database.empty()
    try Loan.table.create(db)
    var first = try loan(1)
    try first.insert(db)
  }

  private func loan(_ id: Int64) throws -> Loan {
    Loan(
      id: id, lent: lent, price: try #require(Decimal(string: "12345678901234567890.12")),
      days: 7, state: .lent, tags: ["a"])
  }

  @Test("A non-optional expression can be assigned to an optional column")
  func lifted() throws {
    try Loan.all.update(db) {
      $0.returned = $0.lent
      $0.paid = $0.price
      $0.extra = $0.days
      $0.before = $0.state
      $0.old = $0.tags
    }
    var loan = try #require(try Loan.all.fetchOne(db))
    #expect(loan.returned == lent && loan.paid == loan.price && loan.extra == 7)
    #expect(loan.before == .lent && loan.old == ["a"])

    try Loan.all.update(db) {
      $0.returned = $0.lent.adding(days: 3)
      $0.paid = $0.price * 2 + 1
      $0.extra = $0.extra.coalesce(0) + 1
      $0.before = when($0.days > 5, then: $0.state).otherwise(.back)
    }
    loan = try #require(try Loan.all.fetchOne(db))
    #expect(loan.returned == lent.addingTimeInterval(3 * 86_400) && loan.extra == 8)
    #expect(loan.paid == loan.price * 2 + 1 && loan.before == .lent)
  }

  @Test("Assigning a number that overflows an optional column's type throws")
  func narrow() throws {
    #expect(throws: DatabaseError.self) {
      try Loan.all.update(db) { $0.extra = $0.days + 32_767 }
    }
    #expect(try Loan.all.fetchOne(db)?.extra == nil)
  }

  @Test("Assigning an expression of another date format to an optional column throws")
  func otherForm() throws {
    #expect(throws: DatabaseError.self) {
      try Loan.all.update(db) { $0.day = $0.lent }
    }
  }

  @Test("An upsert can assign the new record's non-optional values to optional columns")
  func upsert() throws {
    var other = try loan(1)
    other.days = 9
    try other.upsert(db) { row, new in
      row.extra = new.days
      row.paid = new.price
    }
    let loan = try #require(try Loan.all.fetchOne(db))
    #expect(loan.extra == 9 && loan.paid == other.price && loan.days == 7)
  }

  @Test("Casting an expression to its own type's Optional adds no CAST")
  func castToOptional() throws {
    try Loan.insert(
      db, Loan.columns.lent, Loan.columns.returned, Loan.columns.price, Loan.columns.paid,
      Loan.columns.days, Loan.columns.state, Loan.columns.before,
      from: Loan.select {
        (
          $0.lent, $0.lent.cast(to: Date?.self), $0.price, $0.price.cast(to: Decimal?.self),
          $0.days, $0.state, $0.state.cast(to: State?.self)
        )
      })
    let loan = try Loan.find(db, 2)
    #expect(loan.returned == lent && loan.paid == loan.price && loan.before == .lent)
    let sql = Loan.select { $0.days.cast(to: Int16?.self) }.sql.text
    #expect(sql == #"SELECT "loan"."days" FROM "loan""#)
    #expect(try Loan.filter { $0.days.cast(to: Int16?.self) != nil }.fetchCount(db) == 2)
  }
}
