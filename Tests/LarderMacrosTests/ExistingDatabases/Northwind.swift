import Foundation
import LarderMacros

/// The sample database Northwind with its original SQLite schema, and records for all of its tables.
enum Northwind {
  @Record("Categories", options: .notStrict)
  struct Category: Equatable {
    @Column("CategoryID", .autoincrement) var id: Int?
    @Column("CategoryName") var name: String?
    @Column("Description") var description: String?
    @Column("Picture") var picture: [UInt8]?
  }

  @Record("CustomerDemographics", options: .notStrict)
  struct Demographic {
    @Column("CustomerTypeID", .primaryKey) var id: String
    @Column("CustomerDesc") var description: String?
  }

  @Record("Customers", options: .notStrict)
  struct Customer {
    @Column("CustomerID", .primaryKey) var id: String
    @Column("CompanyName") var company: String?
    @Column("ContactName") var contact: String?
    @Column("ContactTitle") var contactTitle: String?
    @Column("Address") var address: String?
    @Column("City") var city: String?
    @Column("Region") var region: String?
    @Column("PostalCode") var postalCode: String?
    @Column("Country") var country: String?
    @Column("Phone") var phone: String?
    @Column("Fax") var fax: String?
  }

  @Record("CustomerCustomerDemo", options: .notStrict)
  struct CustomerDemographic {
    @Column("CustomerID", .primaryKey, .references(Customer.self)) var customer: String
    @Column("CustomerTypeID", .primaryKey, .references(Demographic.self)) var type: String
  }

  @Record("Employees", options: .notStrict)
  struct Employee {
    @Column("EmployeeID", .autoincrement) var id: Int?
    @Column("LastName") var lastName: String?
    @Column("FirstName") var firstName: String?
    @Column("Title") var title: String?
    @Column("TitleOfCourtesy") var courtesy: String?
    @Column("BirthDate", .sqlType("DATE"), as: .format(.sqlDate)) var birth: Date?
    @Column("HireDate", .sqlType("DATE"), as: .format(.sqlDate)) var hired: Date?
    @Column("Address") var address: String?
    @Column("City") var city: String?
    @Column("Region") var region: String?
    @Column("PostalCode") var postalCode: String?
    @Column("Country") var country: String?
    @Column("HomePhone") var homePhone: String?
    @Column("Extension") var `extension`: String?
    @Column("Photo") var photo: [UInt8]?
    @Column("Notes") var notes: String?
    @Column("ReportsTo", .references(Employee.self)) var boss: Int?
    @Column("PhotoPath") var photoPath: String?
  }

  @Record("Regions", options: .notStrict)
  struct Region {
    @Column("RegionID", .primaryKey) var id: Int
    @Column("RegionDescription") var name: String
  }

  @Record("Territories", options: .notStrict)
  struct Territory {
    @Column("TerritoryID", .primaryKey) var id: String
    @Column("TerritoryDescription") var name: String
    @Column("RegionID", .references(Region.self)) var region: Int
  }

  @Record("EmployeeTerritories", options: .notStrict)
  struct EmployeeTerritory {
    @Column("EmployeeID", .primaryKey, .references(Employee.self)) var employee: Int
    @Column("TerritoryID", .primaryKey, .references(Territory.self)) var territory: String
  }

  @Record("Shippers", options: .notStrict)
  struct Shipper {
    @Column("ShipperID", .autoincrement) var id: Int?
    @Column("CompanyName") var company: String
    @Column("Phone") var phone: String?
  }

  @Record("Suppliers", options: .notStrict)
  struct Supplier {
    @Column("SupplierID", .autoincrement) var id: Int?
    @Column("CompanyName") var company: String
    @Column("ContactName") var contact: String?
    @Column("ContactTitle") var contactTitle: String?
    @Column("Address") var address: String?
    @Column("City") var city: String?
    @Column("Region") var region: String?
    @Column("PostalCode") var postalCode: String?
    @Column("Country") var country: String?
    @Column("Phone") var phone: String?
    @Column("Fax") var fax: String?
    @Column("HomePage") var homePage: String?
  }

  @Record("Products", options: .notStrict)
  struct Product {
    @Column("ProductID", .autoincrement) var id: Int?
    @Column("ProductName") var name: String
    @Column("SupplierID", .references(Supplier.self)) var supplier: Int?
    @Column("CategoryID", .references(Category.self)) var category: Int?
    @Column("QuantityPerUnit") var quantityPerUnit: String?
    @Column("UnitPrice", .sqlType("NUMERIC"), .default(0), .check("[UnitPrice]>=(0)"))
    var unitPrice: Double?
    @Column("UnitsInStock", .default(0), .check("[UnitsInStock]>=(0)")) var unitsInStock: Int?
    @Column("UnitsOnOrder", .default(0), .check("[UnitsOnOrder]>=(0)")) var unitsOnOrder: Int?
    @Column("ReorderLevel", .default(0), .check("[ReorderLevel]>=(0)")) var reorderLevel: Int?
    @Column("Discontinued", .default("0")) var discontinued: String
  }

  @Record("Orders", options: .notStrict)
  struct Order {
    @Column("OrderID", .autoincrement) var id: Int?
    @Column("CustomerID", .references(Customer.self)) var customer: String?
    @Column("EmployeeID", .references(Employee.self)) var employee: Int?
    @Column("OrderDate", .sqlType("DATETIME"), as: .format(.sqlDateTime)) var date: Date?
    @Column("RequiredDate", .sqlType("DATETIME"), as: .format(.sqlDateTime)) var required: Date?
    @Column("ShippedDate", .sqlType("DATETIME"), as: .format(.sqlDateTime)) var shipped: Date?
    @Column("ShipVia", .references(Shipper.self)) var shipper: Int?
    @Column("Freight", .sqlType("NUMERIC"), .default(0)) var freight: Double?
    @Column("ShipName") var name: String?
    @Column("ShipAddress") var address: String?
    @Column("ShipCity") var city: String?
    @Column("ShipRegion") var region: String?
    @Column("ShipPostalCode") var postalCode: String?
    @Column("ShipCountry") var country: String?
  }

  @Record("Order Details", options: .notStrict)
  struct Line {
    @Column("OrderID", .primaryKey, .references(Order.self)) var order: Int
    @Column("ProductID", .primaryKey, .references(Product.self)) var product: Int
    @Column("UnitPrice", .sqlType("NUMERIC"), .default(0), .check("[UnitPrice]>=(0)"))
    var unitPrice: Double
    @Column("Quantity", .default(1), .check("[Quantity]>(0)")) var quantity: Int
    @Column("Discount", .default(0), .check("[Discount]>=(0) AND [Discount]<=(1)"))
    var discount: Double
  }

  // MARK: The views

  @Record("Alphabetical list of products", options: .view)
  struct ProductWithCategory {
    @Column("ProductID", .primaryKey) var id: Int
    @Column("ProductName") var name: String
    @Column("CategoryName") var category: String?
  }

  @Record("Current Product List", options: .view)
  struct CurrentProduct: Equatable {
    @Column("ProductID") var id: Int
    @Column("ProductName") var name: String
  }

  @Record("Customer and Suppliers by City", options: .view)
  struct Company: Equatable {
    @Column("City") var city: String?
    @Column("CompanyName") var company: String?
    @Column("ContactName") var contact: String?
    @Column("Relationship") var relationship: String
  }

  @Record("Order Details Extended", options: .view)
  struct ExtendedLine {
    @Column("OrderID") var order: Int
    @Column("ProductName") var product: String
    @Column("ExtendedPrice") var price: Double
  }

  @Record("Order Subtotals", options: .view)
  struct Subtotal: Equatable {
    @Column("OrderID", .primaryKey) var order: Int
    @Column("Subtotal") var subtotal: Double
  }

  @Record("Sales by Category", options: .view)
  struct CategorySales {
    @Column("CategoryID") var category: Int
    @Column("CategoryName") var name: String?
    @Column("ProductName") var product: String
    @Column("ProductSales") var sales: Double
  }

  @Record("Products Above Average Price", options: .view)
  struct Expensive: Equatable {
    @Column("ProductName") var name: String
    @Column("UnitPrice") var price: Double
  }

  @Record("Products by Category", options: .view)
  struct ProductInCategory {
    @Column("CategoryName") var category: String?
    @Column("ProductName") var product: String
    @Column("Discontinued") var discontinued: String
  }

  @Record("Quarterly Orders", options: .view)
  struct QuarterlyOrder {
    @Column("CustomerID") var customer: String?
    @Column("CompanyName") var company: String?
  }

  static func declared() throws -> Schema {
    try Schema(
      Category.self, Demographic.self, Customer.self, CustomerDemographic.self, Employee.self,
      Region.self, Territory.self, EmployeeTerritory.self, Shipper.self, Supplier.self,
      Product.self, Order.self, Line.self, ProductWithCategory.self, CurrentProduct.self,
      Company.self, ExtendedLine.self, Subtotal.self, CategorySales.self, Expensive.self,
      ProductInCategory.self, QuarterlyOrder.self)
  }
}
