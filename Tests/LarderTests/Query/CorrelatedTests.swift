import Larder
import TestSupport
import PostgresSupport
import Testing

@Suite("Correlated subqueries of one table")
struct CorrelatedTests {
  private struct Employee: Record, Equatable {
    var id: Int64
    var name: String
    var reportsTo: Int64?
    var pay: Int

    struct Columns: Sendable {
      let id = Column("EmployeeID", \Employee.id, .primaryKey)
      let name = Column("Name", \Employee.name)
      let reportsTo = Column("ReportsTo", \Employee.reportsTo)
      let pay = Column("Pay", \Employee.pay)
    }
    static let columns = Columns()
    static let table = Table(
      "Employees", Employee.init, columns.id, columns.name, columns.reportsTo, columns.pay)
    static var wellPaid: Query<Employee> { filter { $0.pay > 4 } }
  }

  private let db: Database

  init() throws {
    db = try Database.empty()
    try Employee.table.create(db)
    let rows: [(Int64, String, Int64?, Int)] = [
      (1, "Ada", nil, 9), (2, "Bo", 1, 7), (3, "Cy", 1, 5), (4, "Di", 2, 4), (5, "Ed", 2, 6),
    ]
    try Employee.insert(
      db, contentsOf: rows.map { Employee(id: $0.0, name: $0.1, reportsTo: $0.2, pay: $0.3) })
  }

  private func names(_ query: Query<Employee>) throws -> [String] {
    _ = query.snapshot
    return try query.order { $0.id }.fetchAll(db).map(\.name)
  }

  @Test("A subquery of the same table gets its own alias")
  func exists() throws {
    let bosses = Employee.filter { boss in
      Employee.filter { $0.reportsTo == boss.id }.exists
    }
    #expect(
      bosses.snapshot.hasSuffix(
        """
        WHERE EXISTS (SELECT 1 FROM "Employees" AS "Employees_2" \
        WHERE "Employees_2"."ReportsTo" IS "Employees"."EmployeeID")
        """))
    #expect(try names(bosses) == ["Ada", "Bo"])
  }

  @Test("Nested subqueries of one table get aliases, also in a selection, an order and an update")
  func nested() throws {
    let grand = Employee.filter { top in
      Employee.filter { middle in
        middle.reportsTo == top.id && Employee.filter { $0.reportsTo == middle.id }.exists
      }.exists
    }
    #expect(grand.sql.text.contains(#""Employees_3"."ReportsTo" IS "Employees_2"."EmployeeID""#))
    #expect(try names(grand) == ["Ada"])
    let counts = Employee.order { $0.id }.select { boss in
      (boss.name, first(of: Employee.filter { $0.reportsTo == boss.id }.select { _ in count() }))
    }
    #expect(try counts.fetchAll(db).map { $0.1 } == [2, 2, 0, 0, 0])
    let ordered = Employee.all.order { boss in
      first(of: Employee.filter { $0.reportsTo == boss.id }.select { $0.pay.max() }).desc
    }.order { $0.id }
    #expect(try ordered.fetchAll(db).map(\.name) == ["Ada", "Bo", "Cy", "Di", "Ed"])
    try Employee.all.update(db) { boss in
      let below = Employee.filter { $0.reportsTo == boss.id }.select { $0.pay.sum() }
      boss.pay = first(of: below).coalesce(0)
    }
    #expect(try Employee.order { $0.id }.fetchAll(db).map(\.pay) == [12, 10, 0, 0, 0])
  }

  @Test("Tables that a subquery joins get aliases of their own, also in the join's condition")
  func joined() throws {
    let query = Employee.join(Employee.self) { $1.reportsTo == $0.id }.filter { boss, one in
      Employee.join(Employee.self) { $0.reportsTo == $1.id }
        .filter { other, _ in other.reportsTo == boss.id && other.id != one.id }.exists
    }
    let pairs = try query.order { $0.0.id }.order { $0.1.id }.fetchAll(db).map {
      "\($0.name)\($1.name)"
    }
    #expect(pairs == ["AdaBo", "AdaCy", "BoDi", "BoEd"])
    #expect(Set(query.sql.text.matches(of: /"Employees_\d"/).map(\.output)).count == 3)
  }

  @Test("A query that a static property makes gets an alias inside of another query's closure")
  func parts() throws {
    let query = Employee.filter { boss in
      Employee.wellPaid.filter { $0.reportsTo == boss.id }.exists
    }
    #expect(try names(query) == ["Ada", "Bo"])
  }

  @Test("A plain query begun outside of a closure gets an alias in it, and an ordered one throws")
  func begunOutside() throws {
    let wellPaid = Employee.filter { $0.pay > 5 }
    let query = Employee.filter { boss in wellPaid.filter { $0.reportsTo == boss.id }.exists }
    #expect(try names(query) == ["Ada", "Bo"])
    let sorted = wellPaid.order { $0.pay }
    let wrong = Employee.filter { boss in sorted.filter { $0.reportsTo == boss.id }.exists }
    #expect {
      try wrong.fetchAll(db)
    } throws: {
      ($0 as? DatabaseError)?.code == .misuse && "\($0)".contains("aliased")
    }
    #expect(
      try names(Employee.filter { $0.id.in(sorted.select { $0.id }) }) == ["Ada", "Bo", "Ed"])
  }

  @Test("A subquery of the same common table gets its own alias")
  func common() throws {
    let paid = CommonTable("paid", Employee.all.select { ($0.id, $0.pay) })
    let query = paid.all.filter { one in
      !paid.all.filter { $0.columns.1 > one.columns.1 }.exists
    }
    #expect(try query.fetchAll(db).map(\.columns.0) == [1])
  }
}
