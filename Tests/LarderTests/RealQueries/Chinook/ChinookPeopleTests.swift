import Foundation
import Larder
import Testing

@Suite("Chinook: customers and employees")
struct ChinookPeopleTests {
  private typealias Customer = Chinook.Customer
  private typealias Employee = Chinook.Employee
  private typealias Invoice = Chinook.Invoice

  private let chinook: ShellComparison

  init() throws { chinook = try Chinook.database() }

  @Test("Chinook: employees with their managers, by a self join, as in the shell")
  func managers() throws {
    let query = Employee.leftJoin(Employee.self) { $0.reportsTo == $1.id }
      .order { employee, _ in employee.id }
      .select { employee, manager in
        (
          employee.firstName + " " + employee.lastName, employee.title,
          (manager.firstName + " " + manager.lastName).coalesce("—")
        )
      }
    try chinook.expect(
      query,
      """
      SELECT e.FirstName || ' ' || e.LastName, e.Title,
      coalesce(m.FirstName || ' ' || m.LastName, '—')
      FROM Employee e LEFT JOIN Employee m ON m.EmployeeId = e.ReportsTo ORDER BY e.EmployeeId
      """)
  }

  @Test("Chinook: the hierarchy below the general manager, by recursion, as in the shell")
  func hierarchy() throws {
    let top = Employee.filter { $0.reportsTo == nil }.select { ($0.id, .value(0), $0.lastName) }
    let tree = CommonTable(recursive: "tree", top) { tree in
      Employee.all.join(common: tree) { $0.reportsTo == $1.columns.0 }.select {
        ($0.id, $1.columns.1 + 1, $1.columns.2 + " > " + $0.lastName)
      }
    }
    try chinook.expect(
      tree.all.order { $0.columns.2 }.select { ($0.columns.0, $0.columns.1, $0.columns.2) },
      """
      WITH RECURSIVE tree(id, depth, path) AS (
        SELECT EmployeeId, 0, LastName FROM Employee WHERE ReportsTo IS NULL
        UNION ALL SELECT e.EmployeeId, depth + 1, path || ' > ' || e.LastName
        FROM Employee e JOIN tree ON e.ReportsTo = tree.id)
      SELECT id, depth, path FROM tree ORDER BY path
      """)
  }

  @Test("Chinook: customers and employees by city, by a union, as in the shell")
  func people() throws {
    let query = Customer.filter { $0.city.in(Employee.select { $0.city }) }
      .select { ($0.city, $0.lastName, .value("customer")) }
      .union(Employee.select { ($0.city, $0.lastName, .value("employee")) })
      .order(byColumn: 1).order(byColumn: 3, descending: true).order(byColumn: 2).limit(20)
    try chinook.expect(
      query.fetchAll(chinook.db),
      """
      SELECT City, LastName, 'customer' FROM Customer WHERE City IN (SELECT City FROM Employee)
      UNION SELECT City, LastName, 'employee' FROM Employee ORDER BY 1, 3 DESC, 2 LIMIT 20
      """)
  }

  @Test("Chinook: customers without an invoice in 2011, by NOT EXISTS, as in the shell")
  func quiet() throws {
    let query = Customer.filter { customer in
      !Invoice.filter { $0.customer == customer.id && $0.date.year == 2011 }.exists
    }
    .order { $0.lastName }.order { $0.id }
    .select { customer in
      let invoices = Invoice.filter { $0.customer == customer.id }
      return (
        customer.lastName, customer.id, first(of: invoices.select { _ in count() }),
        first(of: invoices.order { $0.date.desc }.select { $0.total })
      )
    }
    try chinook.expect(
      query,
      """
      SELECT LastName, CustomerId,
      (SELECT count(*) FROM Invoice i WHERE i.CustomerId = c.CustomerId),
      (SELECT Total FROM Invoice i WHERE i.CustomerId = c.CustomerId ORDER BY InvoiceDate DESC LIMIT 1)
      FROM Customer c WHERE NOT EXISTS (SELECT * FROM Invoice i WHERE i.CustomerId = c.CustomerId
        AND i.InvoiceDate BETWEEN '2011-01-01' AND '2011-12-31 23:59:59')
      ORDER BY LastName, CustomerId
      """)
  }

  @Test("Chinook: employees older than their manager, with their age when hired, as in the shell")
  func ages() throws {
    let query = Employee.join(Employee.self) { $0.reportsTo == $1.id }
      .filter { $0.birthDate < $1.birthDate }
      .order { employee, _ in employee.birthDate }
      .select { employee, manager in
        (
          employee.lastName, employee.birthDate, manager.lastName,
          employee.hireDate.year - employee.birthDate.year
        )
      }
    try chinook.expect(
      query,
      """
      SELECT e.LastName, e.BirthDate, m.LastName,
      strftime('%Y', e.HireDate) - strftime('%Y', e.BirthDate)
      FROM Employee e JOIN Employee m ON m.EmployeeId = e.ReportsTo
      WHERE e.BirthDate < m.BirthDate ORDER BY e.BirthDate
      """)
  }

  @Test("Chinook: employees by their direct and indirect reports, by recursion, as in the shell")
  func reports() throws {
    let below = CommonTable(
      recursive: "below",
      Employee.filter { $0.reportsTo != nil }.select { ($0.reportsTo, $0.id) }
    ) { below in
      Employee.all.join(common: below) { $0.id == $1.columns.0 }
        .filter { employee, _ in employee.reportsTo != nil }
        .select { ($0.reportsTo, $1.columns.1) }
    }
    let query = Employee.all.select { boss in
      (
        boss.lastName,
        first(of: Employee.filter { $0.reportsTo == boss.id }.select { _ in count() }),
        first(of: below.all.filter { $0.columns.0 == boss.id }.select { _ in count() })
      )
    }.order { $2.desc }.order { name, _, _ in name }
    try chinook.expect(
      query,
      """
      WITH RECURSIVE below(boss, id) AS (
        SELECT ReportsTo, EmployeeId FROM Employee WHERE ReportsTo IS NOT NULL
        UNION ALL SELECT e.ReportsTo, below.id FROM Employee e JOIN below ON e.EmployeeId = below.boss
        WHERE e.ReportsTo IS NOT NULL)
      SELECT LastName, (SELECT count(*) FROM Employee r WHERE r.ReportsTo = e.EmployeeId),
      (SELECT count(*) FROM below WHERE boss = e.EmployeeId) AS n
      FROM Employee e ORDER BY n DESC, LastName
      """)
  }

  @Test("Chinook: pages of customers by name have the shell's rows in order")
  func pages() throws {
    let query = Customer.order { [$0.lastName.asc, $0.firstName.desc] }
    var (names, cursor): ([[any DatabaseValueConvertible]], String?) = ([], nil)
    repeat {
      let page = try query.page(chinook.db, after: cursor, limit: 7)
      names += page.rows.map { [$0.lastName, $0.firstName, $0.id] }
      cursor = page.next
    } while cursor != nil
    try chinook.expect(
      names,
      """
      SELECT LastName, FirstName, CustomerId FROM Customer
      ORDER BY LastName, FirstName DESC, CustomerId
      """)
  }
}
