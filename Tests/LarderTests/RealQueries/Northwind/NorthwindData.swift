import Foundation
import Larder
import TestSupport

// The trade's tables and views in the SQL of the original, and rows that are the same in each run.

extension Northwind {
  static func database() throws -> ShellComparison {
    try ShellComparison(.sqlDate) { db in
      try db.executeStatements(schema)
      var data = Rows()
      try data.insert(db)
    }
  }

  private static let schema: SQL = """
    CREATE TABLE [Categories] ([CategoryID] INTEGER PRIMARY KEY AUTOINCREMENT, [CategoryName] TEXT,
      [Description] TEXT, [Picture] BLOB);
    CREATE TABLE [Suppliers] ([SupplierID] INTEGER PRIMARY KEY AUTOINCREMENT,
      [CompanyName] TEXT NOT NULL, [ContactName] TEXT, [City] TEXT, [Country] TEXT);
    CREATE TABLE [Products] ([ProductID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
      [ProductName] TEXT NOT NULL, [SupplierID] INTEGER REFERENCES [Suppliers] ([SupplierID]),
      [CategoryID] INTEGER REFERENCES [Categories] ([CategoryID]), [QuantityPerUnit] TEXT,
      [UnitPrice] NUMERIC DEFAULT 0, [UnitsInStock] INTEGER DEFAULT 0,
      [UnitsOnOrder] INTEGER DEFAULT 0, [ReorderLevel] INTEGER DEFAULT 0,
      [Discontinued] TEXT NOT NULL DEFAULT '0', CHECK ([UnitPrice] >= 0));
    CREATE TABLE [Customers] ([CustomerID] TEXT, [CompanyName] TEXT, [City] TEXT, [Country] TEXT,
      [Phone] TEXT, [Fax] TEXT, PRIMARY KEY ([CustomerID]));
    CREATE TABLE [Employees] ([EmployeeID] INTEGER PRIMARY KEY AUTOINCREMENT, [LastName] TEXT,
      [FirstName] TEXT, [Title] TEXT, [BirthDate] DATE, [HireDate] DATE, [Notes] TEXT,
      [ReportsTo] INTEGER REFERENCES [Employees] ([EmployeeID]));
    CREATE TABLE [Regions] ([RegionID] INTEGER NOT NULL PRIMARY KEY,
      [RegionDescription] TEXT NOT NULL);
    CREATE TABLE [Territories] ([TerritoryID] TEXT NOT NULL, [TerritoryDescription] TEXT NOT NULL,
      [RegionID] INTEGER NOT NULL REFERENCES [Regions] ([RegionID]), PRIMARY KEY ([TerritoryID]));
    CREATE TABLE [EmployeeTerritories] (
      [EmployeeID] INTEGER NOT NULL REFERENCES [Employees] ([EmployeeID]),
      [TerritoryID] TEXT NOT NULL REFERENCES [Territories] ([TerritoryID]),
      PRIMARY KEY ([EmployeeID], [TerritoryID]));
    CREATE TABLE [Shippers] ([ShipperID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
      [CompanyName] TEXT NOT NULL UNIQUE, [Phone] TEXT);
    CREATE TABLE [Orders] ([OrderID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
      [CustomerID] TEXT REFERENCES [Customers] ([CustomerID]),
      [EmployeeID] INTEGER REFERENCES [Employees] ([EmployeeID]), [OrderDate] DATETIME,
      [RequiredDate] DATETIME, [ShippedDate] DATETIME,
      [ShipVia] INTEGER REFERENCES [Shippers] ([ShipperID]), [Freight] NUMERIC DEFAULT 0,
      [ShipName] TEXT, [ShipCountry] TEXT);
    CREATE TABLE [Order Details] ([OrderID] INTEGER NOT NULL REFERENCES [Orders] ([OrderID]),
      [ProductID] INTEGER NOT NULL REFERENCES [Products] ([ProductID]),
      [UnitPrice] NUMERIC NOT NULL DEFAULT 0, [Quantity] INTEGER NOT NULL DEFAULT 1,
      [Discount] REAL NOT NULL DEFAULT 0, PRIMARY KEY ("OrderID", "ProductID"),
      CHECK ([Discount] >= 0 AND [Discount] <= 1));
    CREATE VIEW [Order Subtotals] AS SELECT OrderID,
      sum(UnitPrice * Quantity * (1 - Discount)) AS Subtotal FROM [Order Details] GROUP BY OrderID;
    CREATE VIEW [Sales by Category] AS SELECT c.CategoryID, c.CategoryName, p.ProductName,
      sum(d.UnitPrice * d.Quantity * (1 - d.Discount)) AS ProductSales
      FROM Categories c JOIN Products p ON p.CategoryID = c.CategoryID
      JOIN [Order Details] d ON d.ProductID = p.ProductID GROUP BY c.CategoryID, p.ProductID;
    """

  /// Makes up the rows. A table's rows come after the rows that they refer to.
  private struct Rows {
    private var random = SeededGenerator(seed: 23)
    private let places = [
      ("Oslo", "Norway"), ("London", "UK"), ("Lyon", "France"), ("Reims", "France"),
      ("Berlin", "Germany"), ("Köln", "Germany"), ("Graz", "Austria"), ("México D.F.", "Mexico"),
      ("Seattle", "USA"), ("Portland", "USA"), ("Boise", "USA"),
    ]

    private mutating func number(_ range: ClosedRange<Int>) -> Int {
      .random(in: range, using: &random)
    }

    private mutating func one<T>(of values: [T]) -> T { values[number(0...values.count - 1)] }

    /// The day with this number, counted from the beginning of 2016.
    private func day(_ number: Int) -> Date {
      Date(timeIntervalSince1970: 1_451_606_400 + Double(number) * 86_400)
    }

    /// An amount to the cent. Most cents aren't exact in a Double.
    private mutating func money(_ range: ClosedRange<Int>) -> Double { Double(number(range)) / 100 }

    mutating func insert(_ db: Database) throws {
      try insertCompanies(db)
      let categories = ["Beverages", "Condiments", "Dairy Products", "Grains", "Seafood", "Tools"]
      try Category.insert(
        db,
        contentsOf: categories.enumerated().map { index, name in
          Category(id: index + 1, name: name, description: index == 5 ? nil : "All \(name)")
        })
      let products = (1...60).map { id in
        Product(
          id: id, name: one(of: ["Chai", "Chef's", "Gula", "Röd", "Queso"]) + " Nº \(id)",
          supplier: number(1...14), category: id == 60 ? nil : number(1...5),
          unitPrice: id % 10 == 0 ? 18 : money(250...9_000), unitsInStock: number(0...100),
          unitsOnOrder: number(0...3) == 0 ? number(10...60) : 0, reorderLevel: number(0...6) * 5,
          isDiscontinued: id % 9 == 0)
      }
      try Product.insert(db, contentsOf: products)
      try insertPeople(db)
      try insertOrders(db, products)
    }

    private mutating func insertCompanies(_ db: Database) throws {
      try Supplier.insert(
        db,
        contentsOf: (1...16).map { id in
          let (city, country) = id == 16 ? ("Osaka", "Japan") : one(of: places)
          return Supplier(id: id, name: "Supplier \(id)", city: city, country: country)
        })
      try Customer.insert(
        db,
        contentsOf: (1...45).map { number in
          let (city, country) = one(of: places)
          let name = one(of: [
            "Alfreds", "Bólido", "Chop-suey", "Drachenblut", "Ernst", "Folk och fä",
          ])
          return Customer(
            id: name.uppercased().prefix(3) + String(format: "%02d", number),
            name: "\(name) \(number)",
            city: city, country: country,
            phone: number % 6 == 0 ? nil : "(\(number)) 555-\(number * 7)")
        })
      try Shipper.insert(
        db,
        contentsOf: ["Speedy", "United", "Federal", "Unused"].enumerated().map {
          Shipper(id: $0 + 1, name: "\($1) Shipping", phone: nil)
        })
    }

    private mutating func insertPeople(_ db: Database) throws {
      let names = [
        "Davolio", "Fuller", "Leverling", "Peacock", "Buchanan", "Suyama", "King", "Callahan",
        "Dodsworth",
      ]
      let bosses: [Int?] = [2, nil, 2, 2, 2, 5, 5, 2, 5]
      try Employee.insert(
        db,
        contentsOf: names.enumerated().map { index, name in
          Employee(
            id: index + 1, lastName: name, firstName: one(of: ["Nancy", "Åse", "Jo"]),
            birthDate: day(-number(9_000...22_000)), hireDate: day(-number(200...1_500)),
            reportsTo: bosses[index])
        })
      let regions = ["Eastern", "Western", "Northern", "Southern"]
      try Region.insert(
        db, contentsOf: regions.enumerated().map { Region(id: $0 + 1, name: $1) })
      let territories = (1...20).map { number in
        Territory(
          id: String(format: "%05d", number * 911), name: "Place \(number)",
          region: self.number(1...3))
      }
      try Territory.insert(db, contentsOf: territories)
      try EmployeeTerritory.insert(
        db,
        contentsOf: (1...9).flatMap { employee in
          territories.filter { _ in number(0...4) == 0 }
            .map { EmployeeTerritory(employee: employee, territory: $0.id) }
        })
    }

    private mutating func insertOrders(_ db: Database, _ products: [Product]) throws {
      let customers = try Customer.order { $0.id }.limit(41).fetchAll(db)
      var details: [OrderDetail] = []
      let orders = (0..<200).map { number in
        let (id, date) = (Int64(10_248 + number), number * 4 + self.number(0...6))
        var chosen: Set<Int> = []
        for _ in 0..<self.number(1...4) { chosen.insert(self.number(1...58)) }
        for product in products where chosen.contains(product.id) {
          details.append(
            OrderDetail(
              order: id, product: product.id, unitPrice: product.unitPrice ?? 0,
              quantity: self.number(1...60), discount: one(of: [0, 0, 0.05, 0.1, 0.25])))
        }
        let customer = one(of: customers)
        return Order(
          id: id, customer: customer.id, employee: self.number(1...9), orderDate: day(date),
          requiredDate: day(date + 28),
          shippedDate: number > 185 ? nil : day(date + self.number(1...36)),
          shipVia: self.number(1...3), freight: money(0...20_000), shipCountry: customer.country)
      }
      try Order.insert(db, contentsOf: orders)
      try OrderDetail.insert(db, contentsOf: details)
    }
  }
}
