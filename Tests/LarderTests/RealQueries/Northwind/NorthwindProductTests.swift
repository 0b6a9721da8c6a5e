import Foundation
import Larder
import Testing

@Suite("Northwind: products")
struct NorthwindProductTests {
  private typealias Category = Northwind.Category
  private typealias CategorySales = Northwind.CategorySales
  private typealias Customer = Northwind.Customer
  private typealias Order = Northwind.Order
  private typealias OrderDetail = Northwind.OrderDetail
  private typealias Product = Northwind.Product
  private typealias Supplier = Northwind.Supplier

  private let northwind: ShellComparison

  init() throws { northwind = try Northwind.database() }

  @Test("Northwind: products to reorder, and how many, as in the shell")
  func reorder() throws {
    let query = Product.filter {
      $0.unitsInStock + $0.unitsOnOrder <= $0.reorderLevel && !$0.isDiscontinued
    }
    .order { $0.name }
    .select {
      (
        $0.name, $0.unitsInStock, $0.reorderLevel,
        ($0.reorderLevel - $0.unitsInStock - $0.unitsOnOrder).coalesce(0) * 2
      )
    }
    try northwind.expect(
      query,
      """
      SELECT ProductName, UnitsInStock, ReorderLevel,
      2 * (ReorderLevel - UnitsInStock - UnitsOnOrder) FROM Products
      WHERE UnitsInStock + UnitsOnOrder <= ReorderLevel AND Discontinued = '0' ORDER BY ProductName
      """)
  }

  @Test("Northwind: the most expensive products, and those far above the mean, as in the shell")
  func expensive() throws {
    try northwind.expect(
      Product.order { $0.unitPrice.desc.nullsLast }.order { $0.id }.limit(10)
        .select { ($0.name, $0.unitPrice) },
      """
      SELECT ProductName, UnitPrice FROM Products ORDER BY UnitPrice DESC, ProductID LIMIT 10
      """)
    let mean = first(of: Product.select { $0.unitPrice.average() })
    try northwind.expect(
      Product.filter { $0.unitPrice > mean * 1.5 }.order { $0.name }
        .select { ($0.name, ($0.unitPrice - mean).rounded(2), $0.isDiscontinued) },
      """
      SELECT ProductName, round(UnitPrice - (SELECT avg(UnitPrice) FROM Products), 2),
      Discontinued = '1'
      FROM Products WHERE UnitPrice > 1.5 * (SELECT avg(UnitPrice) FROM Products)
      ORDER BY ProductName
      """)
  }

  @Test("Northwind: sales read from a view as records, as in the shell")
  func view() throws {
    try northwind.expect(
      CategorySales.filter { $0.categoryName == "Seafood" && $0.sales > 1_000 }
        .order { $0.sales.desc },
      """
      SELECT * FROM "Sales by Category" WHERE CategoryName = 'Seafood' AND ProductSales > 1000
      ORDER BY ProductSales DESC
      """)
    let query = CategorySales.all.group { $0.categoryName }
      .select { row in
        let all = first(of: CategorySales.select { $0.sales.sum() })
        return (
          row.categoryName, count(), row.sales.sum().rounded(2),
          (row.sales.sum() * 100 / all).rounded(1), row.sales.max().rounded(2)
        )
      }
    try northwind.expect(
      query.order { name, _, _, _, _ in name },
      """
      SELECT CategoryName, count(*), round(sum(ProductSales), 2),
      round(100 * sum(ProductSales) / (SELECT sum(ProductSales) FROM "Sales by Category"), 1),
      round(max(ProductSales), 2) FROM "Sales by Category" GROUP BY CategoryName ORDER BY 1
      """)
  }

  @Test("Northwind: categories with many products or none, by a left join, as in the shell")
  func categories() throws {
    let query = Category.leftJoin(Product.self) { $0.id == $1.category }
      .group { $0.0.name }
      .having { $1.id.count() > 11 || $1.id.count() == 0 }
      .select { ($0.name, $1.id.count(), $1.name.groupConcat(separator: "; ").length) }
    try northwind.expect(
      query.order { name, _, _ in name },
      """
      SELECT c.CategoryName, count(p.ProductID), length(group_concat(p.ProductName, '; '))
      FROM Categories c LEFT JOIN Products p USING (CategoryID) GROUP BY c.CategoryName
      HAVING count(p.ProductID) > 11 OR count(p.ProductID) = 0 ORDER BY c.CategoryName
      """)
  }

  @Test("Northwind: the three best-selling products of each category, by rank, as in the shell")
  func bestsellers() throws {
    let ranked = CategorySales.select {
      (
        $0.categoryName, $0.product, $0.sales.rounded(2),
        rank().over(partitionBy: $0.category, orderBy: $0.sales.desc)
      )
    }
    let query = ranked.filter { $3 <= 3 }.order { name, _, _, _ in name }.order { $3 }
    try northwind.expect(
      query,
      """
      SELECT * FROM (SELECT CategoryName, ProductName, round(ProductSales, 2),
        rank() OVER (PARTITION BY CategoryID ORDER BY ProductSales DESC) AS Place
        FROM "Sales by Category") WHERE Place <= 3 ORDER BY CategoryName, Place
      """)
  }

  @Test("Northwind: price quartiles, cheapest and dearest products, by windows, as in the shell")
  func prices() throws {
    let query = Product.filter { $0.unitPrice != nil }.order { $0.id }.select {
      (
        $0.name, ntile(4).over(orderBy: $0.unitPrice.asc, $0.id.asc),
        $0.name.firstValue().over(
          partitionBy: $0.category, orderBy: $0.unitPrice.asc, $0.id.asc),
        $0.name.lastValue().over(
          partitionBy: $0.category, orderBy: $0.unitPrice.asc, $0.id.asc, rows: .min ... .max),
        ($0.unitPrice / $0.unitPrice.max().over(partitionBy: $0.category)).rounded(3)
      )
    }
    try northwind.expect(
      query,
      """
      SELECT ProductName, ntile(4) OVER (ORDER BY UnitPrice, ProductID),
      first_value(ProductName) OVER w,
      last_value(ProductName) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
      round(UnitPrice * 1.0 / max(UnitPrice) OVER (PARTITION BY CategoryID), 3)
      FROM Products WHERE UnitPrice IS NOT NULL
      WINDOW w AS (PARTITION BY CategoryID ORDER BY UnitPrice, ProductID) ORDER BY ProductID
      """)
  }

  @Test("Northwind: products that were ordered together at least twice, as in the shell")
  func together() throws {
    let query = OrderDetail.join(OrderDetail.self) {
      $0.order == $1.order && $0.product < $1.product
    }
    .join(Product.self) { $0.product == $2.id }
    .join(Product.self) { $1.product == $3.id }
    .group { ($0.2.id, $0.3.id) }
    .having { _, _, _, _ in count() >= 2 }
    .select { _, _, one, other in (one.name, other.name, count()) }
    try northwind.expect(
      query.order { $2.desc }.order { one, _, _ in one }.order { _, other, _ in other },
      """
      SELECT p.ProductName, q.ProductName, count(*) AS n FROM "Order Details" a
      JOIN "Order Details" b ON b.OrderID = a.OrderID AND a.ProductID < b.ProductID
      JOIN Products p ON p.ProductID = a.ProductID JOIN Products q ON q.ProductID = b.ProductID
      GROUP BY p.ProductID, q.ProductID HAVING n >= 2 ORDER BY n DESC, 1, 2
      """)
  }

  @Test(
    "Northwind: customers who bought from all categories, by nested NOT EXISTS, as in the shell"
  )
  func allCategories() throws {
    let sold = Category.filter { category in
      Product.filter { $0.category == category.id }.exists
    }
    let query = Customer.filter { customer in
      !Category.filter { category in
        let bought = Order.join(OrderDetail.self) { $0.id == $1.order }
          .join(Product.self) { $1.product == $2.id }
          .filter { order, _, product in
            order.customer == customer.id && product.category == category.id
          }
        return category.id.in(sold.select { $0.id }) && !bought.exists
      }.exists
    }
    try northwind.expect(
      query.order { $0.id }.select { ($0.id, $0.name) },
      """
      SELECT c.CustomerID, c.CompanyName FROM Customers c JOIN Orders o USING (CustomerID)
      JOIN "Order Details" d USING (OrderID) JOIN Products p USING (ProductID)
      WHERE p.CategoryID IS NOT NULL GROUP BY c.CustomerID
      HAVING count(DISTINCT p.CategoryID) = (SELECT count(DISTINCT CategoryID) FROM Products)
      ORDER BY c.CustomerID
      """)
  }

  @Test("Northwind: suppliers and customers by city, by UNION ALL, as in the shell")
  func cities() throws {
    let customers = Customer.filter { $0.city.hasPrefix("L") || $0.city.like("%o%") }
      .select { ($0.city, $0.name, .value("customer")) }
    let suppliers = Supplier.filter { $0.city.hasPrefix("L") || $0.city.like("%o%") }
      .select { ($0.city, $0.name, .value("supplier")) }
    try northwind.expect(
      customers.union(all: suppliers).order(byColumn: 1).order(byColumn: 2).fetchAll(northwind.db),
      """
      SELECT City, CompanyName, 'customer' FROM Customers WHERE City GLOB 'L*' OR City LIKE '%o%'
      UNION ALL
      SELECT City, CompanyName, 'supplier' FROM Suppliers WHERE City GLOB 'L*' OR City LIKE '%o%'
      ORDER BY 1, 2
      """)
  }

  @Test("Northwind: countries with suppliers, customers or both, by a full join, as in the shell")
  func countries() throws {
    let buyers = CommonTable(
      "buyers",
      Customer.all.group { $0.country }.select { ($0.country.coalesce("?"), count()) })
    let query = Supplier.all.fullJoin(common: buyers) { $0.country == $1.columns.0 }
      .group { ($0.0.country, $0.1.columns.0) }
      .select { supplier, buyers in
        (
          supplier.country.coalesce(buyers.columns.0), supplier.id.count(),
          buyers.columns.1.max().coalesce(0)
        )
      }
    try northwind.expect(
      query.order { country, _, _ in country },
      """
      SELECT coalesce(s.Country, c.Country) AS Country, coalesce(s.n, 0), coalesce(c.n, 0)
      FROM (SELECT Country, count(*) AS n FROM Suppliers GROUP BY 1) s
      FULL JOIN (SELECT Country, count(*) AS n FROM Customers GROUP BY 1) c ON s.Country = c.Country
      ORDER BY Country
      """)
  }
}
