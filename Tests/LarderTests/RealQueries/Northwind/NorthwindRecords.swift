import Foundation
import Larder

/// A trade with tables and views like those of the sample database Northwind: names with spaces,
/// text keys, days as text, employees who report to one another, NUMERIC money. Records don't need
/// all columns.
enum Northwind {
  struct Category: Record {
    var id: Int
    var name: String
    var description: String?

    struct Columns: Sendable {
      let id = Column("CategoryID", \Category.id, .primaryKey)
      let name = Column("CategoryName", \Category.name)
      let description = Column("Description", \Category.description)
    }
    static let columns = Columns()
    static let table = Table(
      "Categories", Category.init, columns.id, columns.name, columns.description,
      options: .notStrict)
  }

  struct Supplier: Record {
    var id: Int
    var name: String
    var city: String?
    var country: String?

    struct Columns: Sendable {
      let id = Column("SupplierID", \Supplier.id, .primaryKey)
      let name = Column("CompanyName", \Supplier.name)
      let city = Column("City", \Supplier.city)
      let country = Column("Country", \Supplier.country)
    }
    static let columns = Columns()
    static let table = Table(
      "Suppliers", Supplier.init, columns.id, columns.name, columns.city, columns.country,
      options: .notStrict)
  }

  struct Product: Record {
    var id: Int
    var name: String
    var supplier: Int?
    var category: Int?
    var unitPrice: Double?
    var unitsInStock: Int?
    var unitsOnOrder: Int?
    var reorderLevel: Int?
    var isDiscontinued: Bool

    struct Columns: Sendable {
      let id = Column("ProductID", \Product.id, .primaryKey)
      let name = Column("ProductName", \Product.name)
      let supplier = Column("SupplierID", \Product.supplier, .references(Supplier.self))
      let category = Column("CategoryID", \Product.category, .references(Category.self))
      let unitPrice = Column("UnitPrice", \Product.unitPrice)
      let unitsInStock = Column("UnitsInStock", \Product.unitsInStock)
      let unitsOnOrder = Column("UnitsOnOrder", \Product.unitsOnOrder)
      let reorderLevel = Column("ReorderLevel", \Product.reorderLevel)
      let isDiscontinued = Column("Discontinued", \Product.isDiscontinued, as: digit)
    }
    static let columns = Columns()
    static let table = Table(
      "Products", Product.init, columns.id, columns.name, columns.supplier, columns.category,
      columns.unitPrice, columns.unitsInStock, columns.unitsOnOrder, columns.reorderLevel,
      columns.isDiscontinued, options: .notStrict)
  }

  struct Customer: Record {
    var id: String
    var name: String
    var city: String?
    var country: String?
    var phone: String?

    struct Columns: Sendable {
      let id = Column("CustomerID", \Customer.id, .primaryKey)
      let name = Column("CompanyName", \Customer.name)
      let city = Column("City", \Customer.city)
      let country = Column("Country", \Customer.country)
      let phone = Column("Phone", \Customer.phone)
    }
    static let columns = Columns()
    static let table = Table(
      "Customers", Customer.init, columns.id, columns.name, columns.city, columns.country,
      columns.phone, options: .notStrict)
  }

  struct Employee: Record {
    var id: Int
    var lastName: String
    var firstName: String
    var birthDate: Date?
    var hireDate: Date?
    var reportsTo: Int?

    struct Columns: Sendable {
      let id = Column("EmployeeID", \Employee.id, .primaryKey)
      let lastName = Column("LastName", \Employee.lastName)
      let firstName = Column("FirstName", \Employee.firstName)
      let birthDate = Column("BirthDate", \Employee.birthDate, as: .format(.sqlDate))
      let hireDate = Column("HireDate", \Employee.hireDate, as: .format(.sqlDate))
      let reportsTo = Column("ReportsTo", \Employee.reportsTo)
    }
    static let columns = Columns()
    static let table = Table(
      "Employees", Employee.init, columns.id, columns.lastName, columns.firstName,
      columns.birthDate, columns.hireDate, columns.reportsTo, options: .notStrict)
  }

  struct Region: Record {
    var id: Int
    var name: String

    struct Columns: Sendable {
      let id = Column("RegionID", \Region.id, .primaryKey)
      let name = Column("RegionDescription", \Region.name)
    }
    static let columns = Columns()
    static let table = Table("Regions", Region.init, columns.id, columns.name, options: .notStrict)
  }

  struct Territory: Record {
    var id: String
    var name: String
    var region: Int

    struct Columns: Sendable {
      let id = Column("TerritoryID", \Territory.id, .primaryKey)
      let name = Column("TerritoryDescription", \Territory.name)
      let region = Column("RegionID", \Territory.region, .references(Region.self))
    }
    static let columns = Columns()
    static let table = Table(
      "Territories", Territory.init, columns.id, columns.name, columns.region,
      options: .notStrict)
  }

  struct EmployeeTerritory: Record {
    var employee: Int
    var territory: String

    struct Columns: Sendable {
      let employee = Column("EmployeeID", \EmployeeTerritory.employee, .primaryKey)
      let territory = Column("TerritoryID", \EmployeeTerritory.territory, .primaryKey)
    }
    static let columns = Columns()
    static let table = Table(
      "EmployeeTerritories", EmployeeTerritory.init, columns.employee, columns.territory,
      options: .notStrict)
  }

  struct Shipper: Record {
    var id: Int?
    var name: String
    var phone: String?

    struct Columns: Sendable {
      let id = Column("ShipperID", \Shipper.id, .primaryKey)
      let name = Column("CompanyName", \Shipper.name)
      let phone = Column("Phone", \Shipper.phone)
    }
    static let columns = Columns()
    static let table = Table(
      "Shippers", Shipper.init, columns.id, columns.name, columns.phone, options: .notStrict)
  }

  struct Order: Record {
    var id: Int64?
    var customer: String?
    var employee: Int?
    var orderDate: Date?
    var requiredDate: Date?
    var shippedDate: Date?
    var shipVia: Int?
    var freight: Double?
    var shipCountry: String?

    struct Columns: Sendable {
      let id = Column("OrderID", \Order.id, .primaryKey)
      let customer = Column("CustomerID", \Order.customer, .references(Customer.self))
      let employee = Column("EmployeeID", \Order.employee, .references(Employee.self))
      let orderDate = Column("OrderDate", \Order.orderDate, as: .format(.sqlDate))
      let requiredDate = Column("RequiredDate", \Order.requiredDate, as: .format(.sqlDate))
      let shippedDate = Column("ShippedDate", \Order.shippedDate, as: .format(.sqlDate))
      let shipVia = Column("ShipVia", \Order.shipVia)
      let freight = Column("Freight", \Order.freight)
      let shipCountry = Column("ShipCountry", \Order.shipCountry)
    }
    static let columns = Columns()
    static let table = Table(
      "Orders", Order.init, columns.id, columns.customer, columns.employee, columns.orderDate,
      columns.requiredDate, columns.shippedDate, columns.shipVia, columns.freight,
      columns.shipCountry, options: .notStrict)
  }

  struct OrderDetail: Record {
    var order: Int64
    var product: Int
    var unitPrice: Double
    var quantity: Int
    var discount: Double

    struct Columns: Sendable {
      let order = Column("OrderID", \OrderDetail.order, .primaryKey)
      let product = Column("ProductID", \OrderDetail.product, .primaryKey)
      let unitPrice = Column("UnitPrice", \OrderDetail.unitPrice)
      let quantity = Column("Quantity", \OrderDetail.quantity)
      let discount = Column("Discount", \OrderDetail.discount)
    }
    static let columns = Columns()
    static let table = Table(
      "Order Details", OrderDetail.init, columns.order, columns.product, columns.unitPrice,
      columns.quantity, columns.discount, options: .notStrict)
  }

  /// A row of the view of sales by category and product.
  struct CategorySales: Record {
    var category: Int
    var categoryName: String
    var product: String
    var sales: Double?

    struct Columns: Sendable {
      let category = Column("CategoryID", \CategorySales.category)
      let categoryName = Column("CategoryName", \CategorySales.categoryName)
      let product = Column("ProductName", \CategorySales.product)
      let sales = Column("ProductSales", \CategorySales.sales)
    }
    static let columns = Columns()
    static let table = Table(
      "Sales by Category", CategorySales.init, columns.category, columns.categoryName,
      columns.product, columns.sales, options: [.noPrimaryKey, .notStrict])
  }

  /// A row of the view of orders' totals.
  struct OrderSubtotal: Record {
    var order: Int64
    var subtotal: Double

    struct Columns: Sendable {
      let order = Column("OrderID", \OrderSubtotal.order, .primaryKey)
      let subtotal = Column("Subtotal", \OrderSubtotal.subtotal)
    }
    static let columns = Columns()
    static let table = Table(
      "Order Subtotals", OrderSubtotal.init, columns.order, columns.subtotal, options: .notStrict)
  }
}

/// A Bool as the text `1` or `0`.
private let digit = ColumnCoding<Bool>(
  encode: { $0 ? "1" : "0" },
  decode: { (text: String) in
    guard ["0", "1"].contains(text) else { throw ConversionError(.malformed, Bool.self) }
    return text == "1"
  })

extension RecordFields<Northwind.OrderDetail> {
  /// The discounted price of an order line.
  var amount: SQLExpression<Double> { self.unitPrice * self.quantity.real * (1 - self.discount) }
}
