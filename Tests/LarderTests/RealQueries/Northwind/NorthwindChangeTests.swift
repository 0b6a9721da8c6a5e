import Foundation
import Larder
import Testing

@Suite("Northwind: changes")
struct NorthwindChangeTests {
  private typealias Category = Northwind.Category
  private typealias Customer = Northwind.Customer
  private typealias Employee = Northwind.Employee
  private typealias Order = Northwind.Order
  private typealias OrderDetail = Northwind.OrderDetail
  private typealias Product = Northwind.Product
  private typealias Shipper = Northwind.Shipper
  private typealias Supplier = Northwind.Supplier

  private let northwind: ShellComparison

  init() throws { northwind = try Northwind.database() }

  @Test("Northwind: updating products by a join and by CASE gives the shell's rows")
  func discontinued() throws {
    try northwind.expectChange(
      of: "Products",
      sql: """
        UPDATE Products SET Discontinued = '1', UnitsOnOrder = 0 FROM Suppliers s
        WHERE s.SupplierID = Products.SupplierID AND s.Country IN ('France', 'Germany');
        UPDATE Products SET UnitPrice = CASE WHEN UnitPrice > 60 THEN round(UnitPrice * 0.9, 2)
        WHEN UnitPrice IS NULL THEN 1 ELSE UnitPrice END
        """
    ) { db in
      try Product.join(Supplier.self) { $0.supplier == $1.id }
        .filter { $1.country.in(["France", "Germany"]) }
        .update(db) {
          $0.isDiscontinued = true
          $0.unitsOnOrder = 0
        }
      try Product.all.update(db) {
        $0.unitPrice = when($0.unitPrice > 60, then: ($0.unitPrice * 0.9).rounded(2))
          .when($0.unitPrice == nil, then: 1).otherwise($0.unitPrice)
      }
    }
  }

  @Test("Northwind: updating the stock by a correlated subquery gives the shell's rows")
  func stock() throws {
    try northwind.expectChange(
      of: "Products",
      sql: """
        UPDATE Products SET UnitsInStock = max(0, UnitsInStock - (SELECT sum(d.Quantity)
          FROM "Order Details" d JOIN Orders o USING (OrderID)
          WHERE d.ProductID = Products.ProductID AND o.ShippedDate IS NULL))
        WHERE ProductID IN (SELECT ProductID FROM "Order Details" JOIN Orders USING (OrderID)
          WHERE ShippedDate IS NULL)
        """
    ) { db in
      let open = OrderDetail.join(Order.self) { $0.order == $1.id }
        .filter { $1.shippedDate == nil }
      try Product.filter { $0.id.in(open.select { detail, _ in detail.product }) }.update(db) {
        product in
        let id = product.id
        let ordered = OrderDetail.join(Order.self) { $0.order == $1.id }
          .filter { $0.product == id && $1.shippedDate == nil }
          .select { detail, _ in detail.quantity.sum() }
        product.unitsInStock = (product.unitsInStock - first(of: ordered)).greatest(0)
      }
    }
  }

  @Test("Northwind: `updated` returns the shipped orders with their new values")
  func shipping() throws {
    let day = Date(timeIntervalSince1970: 1_525_132_800)
    let waiting = Order.filter { $0.shippedDate == nil && $0.freight < 100 }
    let ids = try waiting.select { $0.id }.fetchAll(northwind.db)
    let shipped = try waiting.updated(
      northwind.db, returning: { ($0.id, $0.shippedDate, $0.freight + 1) }
    ) {
      $0.shippedDate = day
      $0.freight += 2.5
    }
    #expect(Set(shipped.map(\.0)) == Set(ids))
    try northwind.expect(
      shipped.sorted { $0.0 ?? 0 < $1.0 ?? 0 },
      """
      SELECT OrderID, ShippedDate, Freight + 1 FROM Orders WHERE ShippedDate = '2018-05-01'
      ORDER BY OrderID
      """)
  }

  @Test("Northwind: deleting by a grouped subquery and by a left join leaves the shell's rows")
  func deletion() throws {
    try northwind.expectChange(
      of: "Orders", "Order Details",
      sql: """
        CREATE TEMP TABLE gone AS SELECT OrderID FROM "Order Details" GROUP BY OrderID
          HAVING sum(UnitPrice * Quantity * (1 - Discount)) < 300;
        DELETE FROM "Order Details" WHERE OrderID IN (SELECT OrderID FROM gone);
        DELETE FROM Orders WHERE OrderID NOT IN (SELECT OrderID FROM "Order Details")
        """
    ) { db in
      let small = OrderDetail.all.group { $0.order }.having { $0.amount.sum() < 300 }
      try OrderDetail.filter { $0.order.in(small.select { $0.order }) }.delete(db)
      try Order.leftJoin(OrderDetail.self) { $0.id == $1.order }.filter { $1.order == nil }
        .delete(db)
    }
  }

  @Test("Northwind: copying an order and its lines by `insert(from:)` gives the shell's rows")
  func copy() throws {
    try northwind.expectChange(
      of: "Orders", "Order Details",
      sql: """
        INSERT INTO Orders (CustomerID, OrderDate, Freight, ShipCountry) SELECT
        (SELECT max(CustomerID) FROM Customers), '2018-06-01', Freight / 2.0, ShipCountry FROM Orders WHERE OrderID = 10250;
        INSERT INTO "Order Details" (OrderID, ProductID, UnitPrice, Quantity)
        SELECT (SELECT max(OrderID) FROM Orders), ProductID, UnitPrice, Quantity + 1
        FROM "Order Details" WHERE OrderID = 10250
        """
    ) { db in
      let day = Date(timeIntervalSince1970: 1_527_811_200)
      let last = first(of: Customer.select { $0.id.max() })
      try Order.insert(
        db, Order.columns.customer, Order.columns.orderDate, Order.columns.freight,
        Order.columns.shipCountry,
        from: Order.filter { $0.id == 10_250 }.select {
          (last, .value(day), $0.freight / 2, $0.shipCountry)
        })
      let id = try #require(try Order.select { $0.id.max() }.fetchOne(db) ?? nil)
      try OrderDetail.insert(
        db, OrderDetail.columns.order, OrderDetail.columns.product, OrderDetail.columns.unitPrice,
        OrderDetail.columns.quantity,
        from: OrderDetail.filter { $0.order == 10_250 }.select {
          (.value(id), $0.product, $0.unitPrice, $0.quantity + 1)
        })
    }
  }

  @Test("Northwind: upserting shippers by their unique name gives the shell's rows")
  func upsert() throws {
    try northwind.expectChange(
      of: "Shippers",
      sql: """
        INSERT INTO Shippers (CompanyName, Phone) VALUES ('Speedy Shipping', '1'), ('Slow', NULL)
        ON CONFLICT (CompanyName) DO UPDATE SET Phone = coalesce(Phone, '') || excluded.Phone
        """
    ) { db in
      let shippers = [
        Shipper(name: "Speedy Shipping", phone: "1"), Shipper(name: "Slow", phone: nil),
      ]
      try Shipper.upsert(db, contentsOf: shippers, onConflict: Shipper.columns.name) {
        $0.phone = $0.phone.coalesce("") + $1.phone
      }
    }
  }

  @Test("Northwind: records with a key of two columns can be found, updated and upserted")
  func compositeKey() throws {
    let first = try #require(
      try OrderDetail.order { [$0.order.asc, $0.product.asc] }.fetchOne(northwind.db))
    try northwind.expectChange(
      of: "Order Details",
      sql: """
        UPDATE "Order Details" SET Quantity = Quantity + 1
        WHERE OrderID = \(first.order) AND ProductID = \(first.product);
        INSERT INTO "Order Details" VALUES (\(first.order), \(first.product), 1, 7, 0)
        ON CONFLICT DO UPDATE SET Discount = 0.5, Quantity = Quantity * 10 + excluded.Quantity
        """
    ) { db in
      var detail = try OrderDetail.find(db, first.order, first.product)
      detail.quantity += 1
      try detail.update(db, OrderDetail.columns.quantity)
      var other = OrderDetail(
        order: first.order, product: first.product, unitPrice: 1, quantity: 7, discount: 0)
      try other.upsert(db) {
        $0.discount = 0.5
        $0.quantity = $0.quantity * 10 + $1.quantity
      }
    }
  }

  @Test("Northwind: assigning a parent's parent by a correlated subquery gives the shell's rows")
  func leaving() throws {
    try northwind.expectChange(
      of: "Employees",
      sql: """
        UPDATE Employees SET ReportsTo = (SELECT b.ReportsTo FROM Employees b
          WHERE b.EmployeeID = Employees.ReportsTo) WHERE ReportsTo = 5
        """
    ) { db in
      try Employee.filter { $0.reportsTo == 5 }.update(db) { employee in
        let boss = employee.reportsTo
        employee.reportsTo = first(of: Employee.filter { $0.id == boss }.select { $0.reportsTo })
      }
    }
  }
}
