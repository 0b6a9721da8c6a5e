import Foundation
import Larder
import Testing

@Suite("Northwind: orders")
struct NorthwindOrderTests {
  private typealias Customer = Northwind.Customer
  private typealias Employee = Northwind.Employee
  private typealias Order = Northwind.Order
  private typealias OrderDetail = Northwind.OrderDetail
  private typealias OrderSubtotal = Northwind.OrderSubtotal
  private typealias Product = Northwind.Product
  private typealias Shipper = Northwind.Shipper

  private let northwind: ShellComparison

  init() throws { northwind = try Northwind.database() }

  @Test("Northwind: order totals by a join and by a view, as in the shell")
  func subtotals() throws {
    let sql = """
      SELECT o.OrderID, o.OrderDate, round(sum(d.UnitPrice * d.Quantity * (1 - d.Discount)), 2),
      round(sum(d.UnitPrice * d.Quantity * (1 - d.Discount)) + o.Freight, 2) FROM Orders o
      JOIN "Order Details" d ON d.OrderID = o.OrderID GROUP BY o.OrderID ORDER BY o.OrderID
      """
    try northwind.expect(
      Order.join(OrderDetail.self) { $0.id == $1.order }
        .group { $0.0.id }.order { $0.0.id }
        .select { order, detail in
          (
            order.id, order.orderDate, detail.amount.sum().rounded(2),
            (detail.amount.sum() + order.freight).rounded(2)
          )
        }, sql)
    try northwind.expect(
      OrderSubtotal.join(Order.self) { $0.order == $1.id }.order { $1.id }
        .select {
          ($1.id, $1.orderDate, $0.subtotal.rounded(2), ($0.subtotal + $1.freight).rounded(2))
        },
      sql)
  }

  @Test("Northwind: orders that were shipped late, with the days, as in the shell")
  func late() throws {
    let query = Order.leftJoin(Customer.self) { $0.customer == $1.id }
      .filter { order, _ in order.shippedDate > order.requiredDate }
      .select { order, customer in
        (
          order.id, customer.name, order.requiredDate, order.shippedDate,
          order.shippedDate.timeIntervalSince(order.requiredDate) / 86_400
        )
      }
      .order { _, _, _, _, days in days.desc }.order { id, _, _, _, _ in id }
    try northwind.expect(
      query,
      """
      SELECT o.OrderID, c.CompanyName, o.RequiredDate, o.ShippedDate,
      julianday(o.ShippedDate) - julianday(o.RequiredDate) AS Days
      FROM Orders o LEFT JOIN Customers c USING (CustomerID)
      WHERE o.ShippedDate > o.RequiredDate ORDER BY Days DESC, o.OrderID
      """)
  }

  @Test("Northwind: unshipped orders that were required before a date, as in the shell")
  func waiting() throws {
    let day = Date(timeIntervalSince1970: 1_519_862_400)
    try northwind.expect(
      Order.filter { $0.shippedDate == nil && $0.requiredDate < day }.order { $0.requiredDate },
      """
      SELECT OrderID, CustomerID, EmployeeID, OrderDate, RequiredDate, ShippedDate, ShipVia,
      Freight, ShipCountry FROM Orders WHERE ShippedDate IS NULL AND RequiredDate < '2018-03-01'
      ORDER BY RequiredDate
      """)
  }

  @Test("Northwind: each year's freight by quarter, by filtered aggregates, as in the shell")
  func quarters() throws {
    let query = Order.all.group { $0.orderDate.year }.select { order in
      let month = order.orderDate.month
      let freight = order.freight.sum()
      return (
        order.orderDate.year,
        freight.filter(where: month <= 3).rounded(2),
        freight.filter(where: month.between(4...6)).rounded(2),
        freight.filter(where: month.in([7, 8, 9])).rounded(2),
        freight.filter(where: month > 9).rounded(2), count()
      )
    }.order { year, _, _, _, _, _ in year }
    try northwind.expect(
      query,
      """
      SELECT strftime('%Y', OrderDate) + 0 AS y,
      round(sum(CASE WHEN strftime('%m', OrderDate) <= '03' THEN Freight END), 2),
      round(sum(CASE WHEN strftime('%m', OrderDate) BETWEEN '04' AND '06' THEN Freight END), 2),
      round(sum(CASE WHEN strftime('%m', OrderDate) IN ('07', '08', '09') THEN Freight END), 2),
      round(sum(CASE WHEN strftime('%m', OrderDate) > '09' THEN Freight END), 2), count(*)
      FROM Orders GROUP BY y ORDER BY y
      """)
  }

  @Test("Northwind: monthly sales with running sums and moving means, as in the shell")
  func monthly() throws {
    let months = CommonTable(
      "months",
      Order.join(OrderDetail.self) { $0.id == $1.order }
        .group { $0.0.orderDate.strftime("%Y-%m") }
        .select { ($0.orderDate.strftime("%Y-%m"), $1.amount.sum()) })
    let query = months.all.order { $0.columns.0 }.select {
      let (month, sales) = $0.columns
      return (
        month, sales.rounded(2),
        sales.sum().over(partitionBy: month.substring(from: 0, count: 4), orderBy: month.asc)
          .rounded(2),
        sales.average().over(orderBy: month.asc, rows: -2...0).rounded(2)
      )
    }
    try northwind.expect(
      query,
      """
      WITH months(m, s) AS (SELECT substr(o.OrderDate, 1, 7),
        sum(d.UnitPrice * d.Quantity * (1 - d.Discount))
        FROM Orders o JOIN "Order Details" d USING (OrderID) GROUP BY 1)
      SELECT m, round(s, 2), round(sum(s) OVER (PARTITION BY substr(m, 1, 4) ORDER BY m), 2),
      round(avg(s) OVER (ORDER BY m ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), 2)
      FROM months ORDER BY m
      """)
  }

  @Test("Northwind: each customer's latest order, by a subquery and by a window, as in the shell")
  func latest() throws {
    let sql = """
      SELECT c.CustomerID, c.CompanyName, o.OrderID, o.OrderDate FROM Customers c
      LEFT JOIN Orders o ON o.CustomerID = c.CustomerID AND o.OrderID = (SELECT x.OrderID
        FROM Orders x WHERE x.CustomerID = c.CustomerID ORDER BY x.OrderDate DESC, x.OrderID DESC
        LIMIT 1)
      ORDER BY c.CustomerID
      """
    try northwind.expect(
      Customer.leftJoin(Order.self) { customer, order in
        let orders = Order.filter { $0.customer == customer.id }
          .order { $0.orderDate.desc }.order { $0.id.desc }
        return order.customer == customer.id && order.id == first(of: orders.select { $0.id })
      }
      .order { customer, _ in customer.id }
      .select { ($0.id, $0.name, $1.id, $1.orderDate) }, sql)
    let ranked = CommonTable(
      "ranked",
      Order.select {
        (
          $0.customer, $0.id, $0.orderDate,
          rowNumber().over(
            partitionBy: $0.customer, orderBy: $0.orderDate.desc, $0.id.desc)
        )
      })
    let latest = Customer.all.leftJoin(common: ranked) {
      $0.id == $1.columns.0 && $1.columns.3 == 1
    }.order { customer, _ in customer.id }
    try northwind.expect(
      latest.select { ($0.id, $0.name, $1.columns.1, $1.columns.2) }, sql)
  }

  @Test("Northwind: the days between a customer's orders, by lag, as in the shell")
  func intervals() throws {
    let query = Order.select { order in
      let before = order.orderDate.lag().over(
        partitionBy: order.customer, orderBy: order.orderDate.asc, order.id.asc)
      let seconds = order.orderDate.timeIntervalSince(before)
      return (order.customer, order.id, before, seconds / 86_400)
    }
    .filter { _, _, _, days in days <= 30 }
    .order { customer, _, _, _ in customer }.order { _, id, _, _ in id }
    try northwind.expect(
      query,
      """
      SELECT * FROM (SELECT CustomerID, OrderID, lag(OrderDate) OVER w AS Before,
        julianday(OrderDate) - julianday(lag(OrderDate) OVER w) AS Days FROM Orders
        WINDOW w AS (PARTITION BY CustomerID ORDER BY OrderDate, OrderID))
      WHERE Days <= 30 ORDER BY CustomerID, OrderID
      """)
  }

  @Test("Northwind: freight by shipper and country, also for idle shippers, as in the shell")
  func freight() throws {
    let freight = Shipper.leftJoin(Order.self) { $0.id == $1.shipVia }
      .group { ($0.0.name, $0.1.shipCountry) }
      .having { $1.freight.sum().coalesce(0) > 500 || $1.id.count() == 0 }
      .select {
        (
          $0.name, $1.shipCountry, $1.id.count(), $1.freight.sum().rounded(2),
          $1.freight.average().rounded(2), $1.freight.min(), $1.freight.max()
        )
      }
    try northwind.expect(
      freight.order { name, _, _, _, _, _, _ in name }
        .order { _, country, _, _, _, _, _ in country },
      """
      SELECT s.CompanyName, o.ShipCountry, count(o.OrderID), round(sum(o.Freight), 2),
      round(avg(o.Freight), 2), min(o.Freight), max(o.Freight)
      FROM Shippers s LEFT JOIN Orders o ON o.ShipVia = s.ShipperID
      GROUP BY s.CompanyName, o.ShipCountry HAVING sum(o.Freight) > 500 OR count(o.OrderID) = 0
      ORDER BY s.CompanyName, o.ShipCountry
      """)
  }

  @Test("Northwind: customers without orders, and customers by number of orders, as in the shell")
  func customersWithoutOrders() throws {
    try northwind.expect(
      Customer.filter { customer in
        !Order.filter { $0.customer == customer.id }.exists && customer.phone != nil
      }.order { $0.id },
      """
      SELECT c.CustomerID, c.CompanyName, c.City, c.Country, c.Phone FROM Customers c
      LEFT JOIN Orders o ON o.CustomerID = c.CustomerID
      WHERE o.OrderID IS NULL AND c.Phone IS NOT NULL ORDER BY c.CustomerID
      """)
    let counts = CommonTable(
      "counts",
      Customer.leftJoin(Order.self) { $0.id == $1.customer }.group { $0.0.id }
        .select { ($0.id, $1.id.count()) })
    try northwind.expect(
      counts.all.group { $0.columns.1 }.select { ($0.columns.1, count()) }.order { orders, _ in
        orders
      },
      """
      SELECT n, count(*) FROM (SELECT count(o.OrderID) AS n FROM Customers c
      LEFT JOIN Orders o USING (CustomerID) GROUP BY c.CustomerID) GROUP BY n ORDER BY n
      """)
  }

  @Test("Northwind: discounts by employee, by filtered counts, as in the shell")
  func discounts() throws {
    let query = Employee.join(Order.self) { $0.id == $1.employee }
      .join(OrderDetail.self) { $1.id == $2.order }
      .group { $0.0.lastName }
      .select { employee, _, detail in
        let (full, paid) = (
          (detail.unitPrice * detail.quantity.real).sum(), detail.amount.sum()
        )
        return (
          employee.lastName, count().filter(where: detail.discount > 0),
          (count().filter(where: detail.discount > 0).real * 100 / count().real).rounded(1),
          (full - paid).rounded(2), (1 - paid / full).rounded(4)
        )
      }
      .order { _, _, _, _, share in share.desc }
    try northwind.expect(
      query,
      """
      SELECT e.LastName, sum(d.Discount > 0), round(100.0 * sum(d.Discount > 0) / count(*), 1),
      round(sum(d.UnitPrice * d.Quantity * d.Discount), 2),
      round(1 - sum(d.UnitPrice * d.Quantity * (1 - d.Discount)) / sum(d.UnitPrice * d.Quantity), 4) AS s
      FROM Employees e JOIN Orders o USING (EmployeeID) JOIN "Order Details" d USING (OrderID)
      GROUP BY e.LastName ORDER BY s DESC
      """)
  }
}
