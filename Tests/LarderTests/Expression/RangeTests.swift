import Foundation
import Larder
import PostgresSupport
import Testing

@Suite("Conditions with ranges") struct RangeTests {
  private struct Person: Record {
    var id: Int
    var age: Int
    var height: Double
    var name: String
    var born: Date
    var debt: Int?
    var settings: [String: Int]

    struct Columns: Sendable {
      let id = Column("id", \Person.id, .primaryKey)
      let age = Column("age", \Person.age)
      let height = Column("height", \Person.height)
      let name = Column("name", \Person.name)
      let born = Column("born", \Person.born)
      let debt = Column("debt", \Person.debt)
      let settings = Column("settings", \Person.settings, as: .json)
    }
    static let columns = Columns()
    static let table = Table(
      "person", Person.init, columns.id, columns.age, columns.height, columns.name, columns.born,
      columns.debt, columns.settings)
  }

  private let db: Database

  init() throws {
    db = try Database.empty()
    try Person.table.create(db)
    let people: [(age: Int, height: Double, name: String, debt: Int?)] = [
      (17, 1.5, "Anna", nil), (18, 1.75, "Bob", 5), (65, 2.0, "Cleo", 0), (.max, 2.5, "Dora", .min),
    ]
    for (index, person) in people.enumerated() {
      var record = Person(
        id: index + 1, age: person.age, height: person.height, name: person.name,
        born: Date(timeIntervalSince1970: Double(index) * 1_000), debt: person.debt,
        settings: ["size": index]
      )
      try record.insert(db)
    }
  }

  private func ids(_ condition: (RecordFields<Person>) -> SQLExpression<Bool>) throws -> [Int] {
    try Person.filter(condition).order { $0.id }.select { $0.id }.fetchAll(db)
  }

  @Test(
    "A range of integers is compared by its bounds, even if it has more values than fit in memory")
  func integers() throws {
    #expect(try ids { $0.age.in(18...65) } == [2, 3])
    #expect(try ids { $0.age.in(18..<65) } == [2])
    #expect(try ids { $0.age.in(18...Int.max) } == [2, 3, 4])
    #expect(try ids { $0.age.in(18..<Int.max) } == [2, 3])
    #expect(try ids { $0.age.in(Int.min...Int.max) } == [1, 2, 3, 4])
    #expect(try ids { $0.age.in(Int.max...Int.max) } == [4])
  }

  @Test("Ranges with one bound are compared by that bound")
  func oneBound() throws {
    #expect(try ids { $0.age.in(18...) } == [2, 3, 4])
    #expect(try ids { $0.age.in(...18) } == [1, 2])
    #expect(try ids { $0.age.in(..<18) } == [1])
  }

  @Test("No row is in an empty range, and each with a value is outside of it")
  func empty() throws {
    #expect(try ids { $0.age.in(18..<18) } == [])
    #expect(try ids { $0.age.in(Int.max..<Int.max) } == [])
    #expect(try ids { !$0.age.in(18..<18) } == [1, 2, 3, 4])
  }

  @Test("Real numbers, texts and dates can be in ranges")
  func otherTypes() throws {
    #expect(try ids { $0.height.in(1.75...2) } == [2, 3])
    #expect(try ids { $0.height.in(1.75..<2) } == [2])
    #expect(try ids { $0.height.in(2...) } == [3, 4])
    #expect(try ids { $0.name.in("B"..."Cleo") } == [2, 3])
    #expect(try ids { $0.name.in("B"..<"Cleo") } == [2])
    let (first, last) = (Date(timeIntervalSince1970: 1_000), Date(timeIntervalSince1970: 2_000))
    #expect(try ids { $0.born.in(first...last) } == [2, 3])
    #expect(try ids { $0.born.in(first..<last) } == [2])
  }

  @Test("NULL is neither in a range nor outside of it")
  func null() throws {
    #expect(try ids { $0.debt.in(0...Int.max) } == [2, 3])
    #expect(try ids { $0.debt.in(0..<5) } == [3])
    #expect(try ids { !$0.debt.in(0...Int.max) } == [4])
    #expect(try ids { !$0.debt.in(0..<5) } == [2, 4])
  }

  @Test("The opposite of a range is everything outside of it, also beside other conditions")
  func negated() throws {
    #expect(try ids { !$0.age.in(18...65) } == [1, 4])
    #expect(try ids { !$0.age.in(18..<65) } == [1, 3, 4])
    #expect(try ids { $0.age.in(18..<65) || $0.id == 4 } == [2, 4])
  }

  @Test("A range contains a column as the column is in the range")
  func contains() throws {
    #expect(try ids { (18...65).contains($0.age) } == [2, 3])
    #expect(try ids { (18..<65).contains($0.age) } == [2])
    #expect(try ids { (18...).contains($0.age) } == [2, 3, 4])
    #expect(try ids { (1.75...2).contains($0.height) } == [2, 3])
    #expect(try ids { (0...Int.max).contains($0.debt) } == [2, 3])
    #expect(try ids { !(18...65).contains($0.age) } == [1, 4])
  }

  @Test("A number in JSON can be in a range")
  func json() throws {
    #expect(try ids { $0.settings["size"].in(1...Int.max) } == [2, 3, 4])
    #expect(try ids { $0.settings["size"].in(1..<3) } == [2, 3])
    #expect(try ids { $0.settings["size"].in(1.5...2.5) } == [3])
  }

  @Test("Ranges that are passed on as sequences aren't made into lists either")
  func sequences() throws {
    func ids(_ values: some Sequence<Int>) throws -> [Int] { try self.ids { $0.age.in(values) } }
    #expect(try ids(18...Int.max) == [2, 3, 4])
    #expect(try ids(18...) == [2, 3, 4])
    #expect(try ids([18, 65]) == [2, 3])
    #expect(try ids(Set([18, 65])) == [2, 3])
    #expect(try ids(stride(from: 17, to: 66, by: 48)) == [1, 3])
  }

  @Test("A closed range is BETWEEN, and a half-open one two comparisons")
  func text() {
    func sql(_ condition: (RecordFields<Person>) -> SQLExpression<Bool>) -> String {
      let statement = Person.filter(condition).select { $0.id }.sql.text
      return String(statement.split(separator: "WHERE ")[1])
    }
    #expect(sql { $0.age.in(18...65) } == #""person"."age" BETWEEN ? AND ?"#)
    #expect(sql { !$0.age.in(18...65) } == #"NOT "person"."age" BETWEEN ? AND ?"#)
    #expect(sql { $0.age.in(18..<65) } == #""person"."age" >= ? AND "person"."age" < ?"#)
    #expect(sql { !$0.age.in(18..<65) } == #"NOT ("person"."age" >= ? AND "person"."age" < ?)"#)
  }

  @Test("A kind of range that isn't Swift's throws when the statement runs")
  func unknownKind() throws {
    struct Own: RangeExpression {
      func relative<C: Collection>(to collection: C) -> Range<Int> where C.Index == Int { 0..<1 }
      func contains(_ element: Int) -> Bool { false }
    }
    let error = #expect(throws: DatabaseError.self) { try ids { $0.age.in(Own()) } }
    #expect(error?.code == .misuse)
    #expect(error?.message.contains("Own") == true)
  }
}
