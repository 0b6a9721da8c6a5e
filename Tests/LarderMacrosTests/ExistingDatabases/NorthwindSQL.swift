import Larder

extension Northwind {
  static let tables: SQL = """
    CREATE TABLE [Categories]
    (      [CategoryID] INTEGER PRIMARY KEY AUTOINCREMENT,
           [CategoryName] TEXT,
           [Description] TEXT,
           [Picture] BLOB
    );
    CREATE TABLE [CustomerCustomerDemo](
       [CustomerID]TEXT NOT NULL,
       [CustomerTypeID]TEXT NOT NULL,
       PRIMARY KEY ("CustomerID","CustomerTypeID"),
       FOREIGN KEY ([CustomerID]) REFERENCES [Customers] ([CustomerID])
         ON DELETE NO ACTION ON UPDATE NO ACTION,
       FOREIGN KEY ([CustomerTypeID]) REFERENCES [CustomerDemographics] ([CustomerTypeID])
         ON DELETE NO ACTION ON UPDATE NO ACTION
    );
    CREATE TABLE [CustomerDemographics](
       [CustomerTypeID]TEXT NOT NULL,
       [CustomerDesc]TEXT,
        PRIMARY KEY ("CustomerTypeID")
    );
    CREATE TABLE [Customers]
    (      [CustomerID] TEXT,
           [CompanyName] TEXT,
           [ContactName] TEXT,
           [ContactTitle] TEXT,
           [Address] TEXT,
           [City] TEXT,
           [Region] TEXT,
           [PostalCode] TEXT,
           [Country] TEXT,
           [Phone] TEXT,
           [Fax] TEXT,
           PRIMARY KEY (`CustomerID`)
    );
    CREATE TABLE [Employees]
    (      [EmployeeID] INTEGER PRIMARY KEY AUTOINCREMENT,
           [LastName] TEXT,
           [FirstName] TEXT,
           [Title] TEXT,
           [TitleOfCourtesy] TEXT,
           [BirthDate] DATE,
           [HireDate] DATE,
           [Address] TEXT,
           [City] TEXT,
           [Region] TEXT,
           [PostalCode] TEXT,
           [Country] TEXT,
           [HomePhone] TEXT,
           [Extension] TEXT,
           [Photo] BLOB,
           [Notes] TEXT,
           [ReportsTo] INTEGER,
           [PhotoPath] TEXT,
    	   FOREIGN KEY ([ReportsTo]) REFERENCES [Employees] ([EmployeeID])
    		ON DELETE NO ACTION ON UPDATE NO ACTION
    );
    CREATE TABLE [EmployeeTerritories](
       [EmployeeID]INTEGER NOT NULL,
       [TerritoryID]TEXT NOT NULL,
        PRIMARY KEY ("EmployeeID","TerritoryID"),
    	FOREIGN KEY ([EmployeeID]) REFERENCES [Employees] ([EmployeeID])
    		ON DELETE NO ACTION ON UPDATE NO ACTION,
    	FOREIGN KEY ([TerritoryID]) REFERENCES [Territories] ([TerritoryID])
    		ON DELETE NO ACTION ON UPDATE NO ACTION
    );
    CREATE TABLE [Order Details](
       [OrderID]INTEGER NOT NULL,
       [ProductID]INTEGER NOT NULL,
       [UnitPrice]NUMERIC NOT NULL DEFAULT 0,
       [Quantity]INTEGER NOT NULL DEFAULT 1,
       [Discount]REAL NOT NULL DEFAULT 0,
        PRIMARY KEY ("OrderID","ProductID"),
        CHECK ([Discount]>=(0) AND [Discount]<=(1)),
        CHECK ([Quantity]>(0)),
        CHECK ([UnitPrice]>=(0)),
    	FOREIGN KEY ([OrderID]) REFERENCES [Orders] ([OrderID])
    		ON DELETE NO ACTION ON UPDATE NO ACTION,
    	FOREIGN KEY ([ProductID]) REFERENCES [Products] ([ProductID])
    		ON DELETE NO ACTION ON UPDATE NO ACTION
    );
    CREATE TABLE [Orders](
       [OrderID]INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
       [CustomerID]TEXT,
       [EmployeeID]INTEGER,
       [OrderDate]DATETIME,
       [RequiredDate]DATETIME,
       [ShippedDate]DATETIME,
       [ShipVia]INTEGER,
       [Freight]NUMERIC DEFAULT 0,
       [ShipName]TEXT,
       [ShipAddress]TEXT,
       [ShipCity]TEXT,
       [ShipRegion]TEXT,
       [ShipPostalCode]TEXT,
       [ShipCountry]TEXT,
       FOREIGN KEY ([EmployeeID]) REFERENCES [Employees] ([EmployeeID])
    		ON DELETE NO ACTION ON UPDATE NO ACTION,
    	FOREIGN KEY ([CustomerID]) REFERENCES [Customers] ([CustomerID])
    		ON DELETE NO ACTION ON UPDATE NO ACTION,
    	FOREIGN KEY ([ShipVia]) REFERENCES [Shippers] ([ShipperID])
    		ON DELETE NO ACTION ON UPDATE NO ACTION
    );
    CREATE TABLE [Products](
       [ProductID]INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
       [ProductName]TEXT NOT NULL,
       [SupplierID]INTEGER,
       [CategoryID]INTEGER,
       [QuantityPerUnit]TEXT,
       [UnitPrice]NUMERIC DEFAULT 0,
       [UnitsInStock]INTEGER DEFAULT 0,
       [UnitsOnOrder]INTEGER DEFAULT 0,
       [ReorderLevel]INTEGER DEFAULT 0,
       [Discontinued]TEXT NOT NULL DEFAULT '0',
        CHECK ([UnitPrice]>=(0)),
        CHECK ([ReorderLevel]>=(0)),
        CHECK ([UnitsInStock]>=(0)),
        CHECK ([UnitsOnOrder]>=(0)),
    	FOREIGN KEY ([CategoryID]) REFERENCES [Categories] ([CategoryID])
    		ON DELETE NO ACTION ON UPDATE NO ACTION,
    	FOREIGN KEY ([SupplierID]) REFERENCES [Suppliers] ([SupplierID])
    		ON DELETE NO ACTION ON UPDATE NO ACTION
    );
    CREATE TABLE [Regions](
       [RegionID]INTEGER NOT NULL PRIMARY KEY,
       [RegionDescription]TEXT NOT NULL
    );
    CREATE TABLE [Shippers](
       [ShipperID]INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
       [CompanyName]TEXT NOT NULL,
       [Phone]TEXT
    );
    CREATE TABLE [Suppliers](
       [SupplierID]INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
       [CompanyName]TEXT NOT NULL,
       [ContactName]TEXT,
       [ContactTitle]TEXT,
       [Address]TEXT,
       [City]TEXT,
       [Region]TEXT,
       [PostalCode]TEXT,
       [Country]TEXT,
       [Phone]TEXT,
       [Fax]TEXT,
       [HomePage]TEXT
    );
    CREATE TABLE [Territories](
       [TerritoryID]TEXT NOT NULL,
       [TerritoryDescription]TEXT NOT NULL,
       [RegionID]INTEGER NOT NULL,
        PRIMARY KEY ("TerritoryID"),
    	FOREIGN KEY ([RegionID]) REFERENCES [Regions] ([RegionID])
    		ON DELETE NO ACTION ON UPDATE NO ACTION
    );
    """

  /// The views. One of them has strings in double quotes, which SQLite accepts for compatibility.
  static let views: SQL = """
    CREATE VIEW [Alphabetical list of products] AS
    SELECT Products.*, Categories.CategoryName FROM Categories
       INNER JOIN Products ON Categories.CategoryID = Products.CategoryID
    WHERE (((Products.Discontinued)=0));
    CREATE VIEW [Current Product List] AS
    SELECT ProductID, ProductName FROM Products WHERE Discontinued=0;
    CREATE VIEW [Customer and Suppliers by City] AS
    SELECT City, CompanyName, ContactName, "Customers" AS Relationship FROM Customers
    UNION
    SELECT City, CompanyName, ContactName, "Suppliers" FROM Suppliers ORDER BY City, CompanyName;
    CREATE VIEW [Order Details Extended] AS
    SELECT "Order Details".OrderID, "Order Details".ProductID, Products.ProductName,
      "Order Details".UnitPrice, "Order Details".Quantity, "Order Details".Discount,
      (("Order Details".UnitPrice*Quantity*(1-Discount)/100)*100) AS ExtendedPrice
    FROM Products JOIN [Order Details] ON Products.ProductID = "Order Details".ProductID;
    CREATE VIEW [Order Subtotals] AS
    SELECT [Order Details].OrderID,
      Sum(([Order Details].UnitPrice*Quantity*(1-Discount)/100)*100) AS Subtotal
    FROM [Order Details] GROUP BY [Order Details].OrderID;
    CREATE VIEW [Sales by Category] AS
    SELECT Categories.CategoryID, Categories.CategoryName, Products.ProductName,
      Sum([Order Details Extended].ExtendedPrice) AS ProductSales
    FROM Categories JOIN Products ON Categories.CategoryID = Products.CategoryID
      JOIN [Order Details Extended] ON Products.ProductID = [Order Details Extended].ProductID
    GROUP BY Categories.CategoryID, Categories.CategoryName, Products.ProductName;
    CREATE VIEW [Products Above Average Price] AS
    SELECT Products.ProductName, Products.UnitPrice FROM Products
    WHERE Products.UnitPrice>(SELECT AVG(UnitPrice) From Products);
    CREATE VIEW [Products by Category] AS
    SELECT Categories.CategoryName, Products.ProductName, Products.QuantityPerUnit,
      Products.UnitsInStock, Products.Discontinued
    FROM Categories INNER JOIN Products ON Categories.CategoryID = Products.CategoryID
    WHERE Products.Discontinued <> 1;
    CREATE VIEW [Quarterly Orders] AS
    SELECT DISTINCT Customers.CustomerID, Customers.CompanyName, Customers.City, Customers.Country
    FROM Customers JOIN Orders ON Customers.CustomerID = Orders.CustomerID
    WHERE Orders.OrderDate BETWEEN DATETIME('1997-01-01') And DATETIME('1997-12-31');
    """

  static let rows: SQL = """
    INSERT INTO [Categories] VALUES (1, 'Beverages', 'Soft drinks', x'ffd8'),
      (2, 'Condiments', NULL, NULL), (3, 'Confections', NULL, NULL), (4, 'Seafood', NULL, NULL);
    INSERT INTO [Suppliers] ([SupplierID], [CompanyName], [City]) VALUES (1, 'Exotic Liquids', 'London');
    INSERT INTO [Products] ([ProductID], [ProductName], [SupplierID], [CategoryID], [UnitPrice], [Discontinued])
      VALUES (1, 'Chai', 1, 1, 18, '0'), (2, 'Chang', 1, 1, 19.5, '0'),
      (3, 'Aniseed Syrup', 1, 2, 10, '0'), (4, 'Mishi Kobe Niku', NULL, 2, 97, '1');
    INSERT INTO [Customers] ([CustomerID], [CompanyName], [City], [Country])
      VALUES ('ALFKI', 'Alfreds Futterkiste', 'Berlin', 'Germany'),
      ('AROUT', 'Around the Horn', 'London', 'UK');
    INSERT INTO [Employees] ([EmployeeID], [LastName], [BirthDate], [ReportsTo])
      VALUES (1, 'Davolio', '1968-12-08', NULL), (2, 'Fuller', '1952-02-19', 1);
    INSERT INTO [Regions] VALUES (1, 'Eastern');
    INSERT INTO [Territories] VALUES ('01581', 'Westboro', 1);
    INSERT INTO [EmployeeTerritories] VALUES (2, '01581');
    INSERT INTO [Shippers] VALUES (1, 'Speedy Express', '(503) 555-9831');
    INSERT INTO [Orders] ([OrderID], [CustomerID], [EmployeeID], [OrderDate], [ShipVia], [Freight])
      VALUES (10643, 'ALFKI', 1, '1997-08-25 00:00:00', 1, 29.46),
      (10692, 'ALFKI', 2, '1998-10-03 00:00:00', 1, 61);
    INSERT INTO [Order Details] VALUES (10643, 1, 18, 10, 0), (10643, 3, 10, 2, 0.5),
      (10692, 2, 19.5, 4, 0);
    """
}
