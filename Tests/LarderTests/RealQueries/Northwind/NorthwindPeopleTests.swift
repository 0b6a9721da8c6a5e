import Foundation
import Larder
import Testing

@Suite("Northwind: employees and territories")
struct NorthwindPeopleTests {
  private typealias Employee = Northwind.Employee
  private typealias EmployeeTerritory = Northwind.EmployeeTerritory
  private typealias Order = Northwind.Order
  private typealias OrderDetail = Northwind.OrderDetail
  private typealias Region = Northwind.Region
  private typealias Territory = Northwind.Territory

  private let northwind: ShellComparison

  init() throws { northwind = try Northwind.database() }

  @Test("Northwind: the chain of command, by recursion, as in the shell")
  func chain() throws {
    let top = Employee.filter { $0.reportsTo == nil }
      .select { ($0.id, $0.lastName, .value(1), $0.lastName) }
    let chain = CommonTable(recursive: "chain", top) { chain in
      Employee.all.join(common: chain) { $0.reportsTo == $1.columns.0 }.select {
        ($0.id, $0.lastName, $1.columns.2 + 1, $1.columns.3 + "/" + $0.lastName)
      }
    }
    try northwind.expect(
      chain.all.filter { $0.columns.2 > 1 }.order { $0.columns.3 }
        .select { ($0.columns.1, $0.columns.2, $0.columns.3) },
      """
      WITH RECURSIVE chain AS (
        SELECT EmployeeID, LastName, 1 AS Level, LastName AS Path FROM Employees
        WHERE ReportsTo IS NULL
        UNION ALL SELECT e.EmployeeID, e.LastName, Level + 1, Path || '/' || e.LastName
        FROM Employees e JOIN chain c ON e.ReportsTo = c.EmployeeID)
      SELECT LastName, Level, Path FROM chain WHERE Level > 1 ORDER BY Path
      """)
  }

  @Test("Northwind: employees with several reports, by a self join, as in the shell")
  func reports() throws {
    let query = Employee.join(Employee.self) { $1.reportsTo == $0.id }
      .group { $0.0.id }.having { _, _ in count() > 1 }
      .select { boss, report in
        (
          boss.firstName + " " + boss.lastName, count(), report.hireDate.min(),
          report.lastName.max()
        )
      }
    try northwind.expect(
      query.order { _, number, _, _ in number.desc },
      """
      SELECT b.FirstName || ' ' || b.LastName, count(*) AS n, min(r.HireDate), max(r.LastName)
      FROM Employees b JOIN Employees r ON r.ReportsTo = b.EmployeeID
      GROUP BY b.EmployeeID HAVING n > 1 ORDER BY n DESC
      """)
  }

  @Test("Northwind: regions with their territories and employees, by left joins, as in the shell")
  func regions() throws {
    let query = Region.leftJoin(Territory.self) { $0.id == $1.region }
      .leftJoin(EmployeeTerritory.self) { $1.id == $2.territory }
      .leftJoin(Employee.self) { $2.employee == $3.id }
      .group { $0.0.id }
      .order { $0.0.name }
      .select { region, territory, _, employee in
        (
          region.name, territory.id.count(distinct: true), employee.id.count(distinct: true),
          employee.lastName.min()
        )
      }
    try northwind.expect(
      query,
      """
      SELECT r.RegionDescription, count(DISTINCT t.TerritoryID), count(DISTINCT e.EmployeeID),
      min(e.LastName) FROM Regions r LEFT JOIN Territories t USING (RegionID)
      LEFT JOIN EmployeeTerritories et USING (TerritoryID) LEFT JOIN Employees e USING (EmployeeID)
      GROUP BY r.RegionID ORDER BY r.RegionDescription
      """)
  }

  @Test("Northwind: territories without employees, and by set operations, as in the shell")
  func territories() throws {
    try northwind.expect(
      EmployeeTerritory.rightJoin(Territory.self) { $0.territory == $1.id }
        .filter { work, _ in work.employee == nil }
        .order { $1.id }.select { ($1.id, $1.name) },
      """
      SELECT TerritoryID, TerritoryDescription FROM Territories WHERE TerritoryID NOT IN
      (SELECT TerritoryID FROM EmployeeTerritories) ORDER BY TerritoryID
      """)
    func territories(of name: String) -> Selection<String> {
      EmployeeTerritory.join(Employee.self) { $0.employee == $1.id }
        .filter { $1.lastName == name }.select { work, _ in work.territory }
    }
    let shared = territories(of: "Davolio").union(territories(of: "Fuller"))
      .except(territories(of: "King")).order(byColumn: 1)
    try northwind.expect(
      shared.fetchAll(northwind.db).map { [$0] },
      """
      SELECT TerritoryID FROM EmployeeTerritories JOIN Employees USING (EmployeeID)
      GROUP BY TerritoryID HAVING sum(LastName IN ('Davolio', 'Fuller')) > 0
      AND sum(LastName = 'King') = 0 ORDER BY TerritoryID
      """)
  }

  @Test("Northwind: employees ranked by sales in each year, as in the shell")
  func ranks() throws {
    let sales = CommonTable(
      "sales",
      Order.join(OrderDetail.self) { $0.id == $1.order }
        .join(Employee.self) { $0.employee == $2.id }
        .group { ($0.0.orderDate.year, $0.2.lastName) }
        .select { order, detail, employee in
          (order.orderDate.year, employee.lastName, detail.amount.sum())
        })
    let query = sales.all.select {
      let (year, name, amount) = $0.columns
      return (
        year, name, amount.rounded(2), rank().over(partitionBy: year, orderBy: amount.desc),
        (amount * 100 / amount.sum().over(partitionBy: year)).rounded(1)
      )
    }
    try northwind.expect(
      query.order { year, _, _, _, _ in year }.order { _, _, _, place, _ in place },
      """
      WITH sales AS (SELECT strftime('%Y', o.OrderDate) + 0 AS y, e.LastName AS name,
        sum(d.UnitPrice * d.Quantity * (1 - d.Discount)) AS amount FROM Orders o
        JOIN "Order Details" d USING (OrderID) JOIN Employees e USING (EmployeeID) GROUP BY 1, 2)
      SELECT y, name, round(amount, 2), rank() OVER (PARTITION BY y ORDER BY amount DESC) AS place,
      round(100 * amount / sum(amount) OVER (PARTITION BY y), 1) FROM sales ORDER BY y, place
      """)
  }

  @Test("Northwind: each employee's order with the highest freight, as in the shell")
  func highest() throws {
    let query = Order.join(Employee.self) { $0.employee == $1.id }
      .filter { order, employee in
        let freight = Order.filter { $0.employee == employee.id }.select { $0.freight.max() }
        return order.freight == first(of: freight)
      }
      .order { $1.lastName }
      .select { ($1.lastName, $0.id, $0.freight, $0.orderDate) }
    try northwind.expect(
      query,
      """
      SELECT e.LastName, o.OrderID, o.Freight, o.OrderDate
      FROM Orders o JOIN Employees e USING (EmployeeID)
      WHERE o.Freight = (SELECT max(x.Freight) FROM Orders x WHERE x.EmployeeID = e.EmployeeID)
      ORDER BY e.LastName
      """)
  }

  @Test("Northwind: employees by decade of birth, with their mean year of hire, as in the shell")
  func years() throws {
    let query = Employee.all.group { $0.birthDate.year / 10 }
      .select {
        (
          ($0.birthDate.year / 10 * 10).cast(to: String?.self) + "s", count(),
          $0.hireDate.year.average().rounded(1)
        )
      }
    try northwind.expect(
      query.order { decade, _, _ in decade },
      """
      SELECT substr(BirthDate, 1, 3) || '0s', count(*), round(avg(substr(HireDate, 1, 4)), 1)
      FROM Employees GROUP BY substr(BirthDate, 1, 3) ORDER BY 1
      """)
  }
}
