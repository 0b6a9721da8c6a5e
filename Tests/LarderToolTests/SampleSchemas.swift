/// Well-known sample databases, rewritten here: their tables with a few rows each.
enum SampleSchemas {
  /// A music shop after [Chinook](https://github.com/lerocha/chinook-database): eleven tables with type
  /// names that aren't SQLite's own.
  static let chinook = """
    CREATE TABLE Artist (ArtistId INTEGER PRIMARY KEY NOT NULL, Name NVARCHAR(120));
    CREATE TABLE Album (
      AlbumId INTEGER PRIMARY KEY NOT NULL, Title NVARCHAR(160) NOT NULL,
      ArtistId INTEGER NOT NULL,
      FOREIGN KEY (ArtistId) REFERENCES Artist (ArtistId) ON DELETE NO ACTION ON UPDATE NO ACTION);
    CREATE TABLE Employee (
      EmployeeId INTEGER PRIMARY KEY NOT NULL, LastName NVARCHAR(20) NOT NULL,
      FirstName NVARCHAR(20) NOT NULL, Title NVARCHAR(30), ReportsTo INTEGER, BirthDate DATETIME,
      HireDate DATETIME, Address NVARCHAR(70), City NVARCHAR(40), State NVARCHAR(40),
      Country NVARCHAR(40), PostalCode NVARCHAR(10), Phone NVARCHAR(24), Fax NVARCHAR(24),
      Email NVARCHAR(60),
      FOREIGN KEY (ReportsTo) REFERENCES Employee (EmployeeId));
    CREATE TABLE Customer (
      CustomerId INTEGER PRIMARY KEY NOT NULL, FirstName NVARCHAR(40) NOT NULL,
      LastName NVARCHAR(20) NOT NULL, Company NVARCHAR(80), Address NVARCHAR(70), City NVARCHAR(40),
      State NVARCHAR(40), Country NVARCHAR(40), PostalCode NVARCHAR(10), Phone NVARCHAR(24),
      Fax NVARCHAR(24), Email NVARCHAR(60) NOT NULL, SupportRepId INTEGER,
      FOREIGN KEY (SupportRepId) REFERENCES Employee (EmployeeId));
    CREATE TABLE Genre (GenreId INTEGER PRIMARY KEY NOT NULL, Name NVARCHAR(120));
    CREATE TABLE MediaType (MediaTypeId INTEGER PRIMARY KEY NOT NULL, Name NVARCHAR(120));
    CREATE TABLE Track (
      TrackId INTEGER PRIMARY KEY NOT NULL, Name NVARCHAR(200) NOT NULL, AlbumId INTEGER,
      MediaTypeId INTEGER NOT NULL, GenreId INTEGER, Composer NVARCHAR(220),
      Milliseconds INTEGER NOT NULL, Bytes INTEGER, UnitPrice NUMERIC(10,2) NOT NULL,
      FOREIGN KEY (AlbumId) REFERENCES Album (AlbumId),
      FOREIGN KEY (GenreId) REFERENCES Genre (GenreId),
      FOREIGN KEY (MediaTypeId) REFERENCES MediaType (MediaTypeId));
    CREATE TABLE Invoice (
      InvoiceId INTEGER PRIMARY KEY NOT NULL, CustomerId INTEGER NOT NULL,
      InvoiceDate DATETIME NOT NULL, BillingAddress NVARCHAR(70), BillingCity NVARCHAR(40),
      BillingState NVARCHAR(40), BillingCountry NVARCHAR(40), BillingPostalCode NVARCHAR(10),
      Total NUMERIC(10,2) NOT NULL,
      FOREIGN KEY (CustomerId) REFERENCES Customer (CustomerId));
    CREATE TABLE InvoiceLine (
      InvoiceLineId INTEGER PRIMARY KEY NOT NULL, InvoiceId INTEGER NOT NULL,
      TrackId INTEGER NOT NULL, UnitPrice NUMERIC(10,2) NOT NULL, Quantity INTEGER NOT NULL,
      FOREIGN KEY (InvoiceId) REFERENCES Invoice (InvoiceId),
      FOREIGN KEY (TrackId) REFERENCES Track (TrackId));
    CREATE TABLE Playlist (PlaylistId INTEGER PRIMARY KEY NOT NULL, Name NVARCHAR(120));
    CREATE TABLE PlaylistTrack (
      PlaylistId INTEGER NOT NULL, TrackId INTEGER NOT NULL,
      CONSTRAINT PK_PlaylistTrack PRIMARY KEY (PlaylistId, TrackId),
      FOREIGN KEY (PlaylistId) REFERENCES Playlist (PlaylistId),
      FOREIGN KEY (TrackId) REFERENCES Track (TrackId));
    CREATE UNIQUE INDEX IPK_PlaylistTrack ON PlaylistTrack (PlaylistId, TrackId);
    CREATE INDEX IFK_AlbumArtistId ON Album (ArtistId);
    CREATE INDEX IFK_CustomerSupportRepId ON Customer (SupportRepId);
    CREATE INDEX IFK_EmployeeReportsTo ON Employee (ReportsTo);
    CREATE INDEX IFK_InvoiceCustomerId ON Invoice (CustomerId);
    CREATE INDEX IFK_InvoiceLineInvoiceId ON InvoiceLine (InvoiceId);
    CREATE INDEX IFK_InvoiceLineTrackId ON InvoiceLine (TrackId);
    CREATE INDEX IFK_PlaylistTrackTrackId ON PlaylistTrack (TrackId);
    CREATE INDEX IFK_TrackAlbumId ON Track (AlbumId);
    CREATE INDEX IFK_TrackGenreId ON Track (GenreId);
    CREATE INDEX IFK_TrackMediaTypeId ON Track (MediaTypeId);

    INSERT INTO Artist VALUES (1, 'Wardruna'), (2, 'Röyksopp'), (3, NULL);
    INSERT INTO Album VALUES (1, 'Yggdrasil', 1), (2, 'Melody A.M.', 2), (3, 'Junior', 2);
    INSERT INTO Genre VALUES (1, 'Folk'), (2, 'Electronic');
    INSERT INTO MediaType VALUES (1, 'FLAC');
    INSERT INTO Employee (EmployeeId, LastName, FirstName, ReportsTo, BirthDate, HireDate) VALUES
      (1, 'Hansen', 'Kari', NULL, '1962-02-18 00:00:00', '2002-08-14 00:00:00'),
      (2, 'Berg', 'Ola', 1, '1958-12-08 00:00:00', '2002-05-01 00:00:00');
    INSERT INTO Customer (CustomerId, FirstName, LastName, Email, SupportRepId) VALUES
      (1, 'Li', 'Wei', 'li@example.com', 2), (2, 'Ana', 'Sousa', 'ana@example.com', NULL);
    INSERT INTO Track VALUES
      (1, 'Rotlaust Tre Fell', 1, 1, 1, 'Selvik', 289000, 31000000, 0.99),
      (2, 'Eple', 2, 1, 2, NULL, 217000, 22000000, 0.99),
      (3, 'Poor Leno', 2, 1, 2, NULL, 237000, NULL, 1),
      (4, 'Happy Up Here', 3, 1, NULL, NULL, 164000, 18000000, 1.29);
    INSERT INTO Invoice VALUES
      (1, 1, '2009-01-01 00:00:00', 'Storgata 1', 'Oslo', NULL, 'Norway', '0155', 1.98),
      (2, 2, '2009-02-03 00:00:00', NULL, 'Porto', NULL, 'Portugal', NULL, 1.29);
    INSERT INTO InvoiceLine VALUES (1, 1, 1, 0.99, 1), (2, 1, 2, 0.99, 1), (3, 2, 4, 1.29, 1);
    INSERT INTO Playlist VALUES (1, 'Morning'), (2, 'Night');
    INSERT INTO PlaylistTrack VALUES (1, 2), (1, 4), (2, 1), (2, 2);
    """

  /// A food trader after [Northwind](https://github.com/jpwhite3/northwind-SQLite3): names with spaces, text
  /// keys, composite keys, a table that refers to itself, views.
  static let northwind = """
    CREATE TABLE Categories (
      CategoryID INTEGER PRIMARY KEY AUTOINCREMENT, CategoryName TEXT, Description TEXT, Picture BLOB);
    CREATE TABLE CustomerCustomerDemo (
      CustomerID TEXT NOT NULL, CustomerTypeID TEXT NOT NULL,
      PRIMARY KEY (CustomerID, CustomerTypeID),
      FOREIGN KEY (CustomerID) REFERENCES Customers (CustomerID)
        ON DELETE NO ACTION ON UPDATE NO ACTION,
      FOREIGN KEY (CustomerTypeID) REFERENCES CustomerDemographics (CustomerTypeID));
    CREATE TABLE CustomerDemographics (
      CustomerTypeID TEXT NOT NULL, CustomerDesc TEXT, PRIMARY KEY (CustomerTypeID));
    CREATE TABLE Customers (
      CustomerID TEXT, CompanyName TEXT, ContactName TEXT, ContactTitle TEXT, Address TEXT,
      City TEXT, Region TEXT, PostalCode TEXT, Country TEXT, Phone TEXT, Fax TEXT,
      PRIMARY KEY (CustomerID));
    CREATE TABLE Employees (
      EmployeeID INTEGER PRIMARY KEY AUTOINCREMENT, LastName TEXT, FirstName TEXT, Title TEXT,
      TitleOfCourtesy TEXT, BirthDate DATE, HireDate DATE, Address TEXT, City TEXT, Region TEXT,
      PostalCode TEXT, Country TEXT, HomePhone TEXT, Extension TEXT, Photo BLOB, Notes TEXT,
      ReportsTo INTEGER, PhotoPath TEXT,
      FOREIGN KEY (ReportsTo) REFERENCES Employees (EmployeeID));
    CREATE TABLE EmployeeTerritories (
      EmployeeID INTEGER NOT NULL, TerritoryID TEXT NOT NULL,
      PRIMARY KEY (EmployeeID, TerritoryID),
      FOREIGN KEY (EmployeeID) REFERENCES Employees (EmployeeID),
      FOREIGN KEY (TerritoryID) REFERENCES Territories (TerritoryID));
    CREATE TABLE "Order Details" (
      OrderID INTEGER NOT NULL, ProductID INTEGER NOT NULL, UnitPrice NUMERIC NOT NULL DEFAULT 0,
      Quantity INTEGER NOT NULL DEFAULT 1, Discount REAL NOT NULL DEFAULT 0,
      PRIMARY KEY (OrderID, ProductID),
      CHECK (Discount >= 0 AND Discount <= 1), CHECK (Quantity > 0), CHECK (UnitPrice >= 0),
      FOREIGN KEY (OrderID) REFERENCES Orders (OrderID),
      FOREIGN KEY (ProductID) REFERENCES Products (ProductID));
    CREATE TABLE Orders (
      OrderID INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, CustomerID TEXT, EmployeeID INTEGER,
      OrderDate DATETIME, RequiredDate DATETIME, ShippedDate DATETIME, ShipVia INTEGER,
      Freight NUMERIC DEFAULT 0, ShipName TEXT, ShipAddress TEXT, ShipCity TEXT, ShipRegion TEXT,
      ShipPostalCode TEXT, ShipCountry TEXT,
      FOREIGN KEY (EmployeeID) REFERENCES Employees (EmployeeID),
      FOREIGN KEY (CustomerID) REFERENCES Customers (CustomerID),
      FOREIGN KEY (ShipVia) REFERENCES Shippers (ShipperID));
    CREATE TABLE Products (
      ProductID INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, ProductName TEXT NOT NULL,
      SupplierID INTEGER, CategoryID INTEGER, QuantityPerUnit TEXT, UnitPrice NUMERIC DEFAULT 0,
      UnitsInStock INTEGER DEFAULT 0, UnitsOnOrder INTEGER DEFAULT 0, ReorderLevel INTEGER DEFAULT 0,
      Discontinued TEXT NOT NULL DEFAULT '0',
      CHECK (UnitPrice >= 0), CHECK (ReorderLevel >= 0), CHECK (UnitsInStock >= 0),
      FOREIGN KEY (CategoryID) REFERENCES Categories (CategoryID),
      FOREIGN KEY (SupplierID) REFERENCES Suppliers (SupplierID));
    CREATE TABLE Regions (
      RegionID INTEGER NOT NULL PRIMARY KEY, RegionDescription TEXT NOT NULL);
    CREATE TABLE Shippers (
      ShipperID INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, CompanyName TEXT NOT NULL, Phone TEXT);
    CREATE TABLE Suppliers (
      SupplierID INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, CompanyName TEXT NOT NULL,
      ContactName TEXT, ContactTitle TEXT, Address TEXT, City TEXT, Region TEXT, PostalCode TEXT,
      Country TEXT, Phone TEXT, Fax TEXT, HomePage TEXT);
    CREATE TABLE Territories (
      TerritoryID TEXT NOT NULL, TerritoryDescription TEXT NOT NULL, RegionID INTEGER NOT NULL,
      PRIMARY KEY (TerritoryID), FOREIGN KEY (RegionID) REFERENCES Regions (RegionID));
    CREATE VIEW "Alphabetical list of products" AS
      SELECT p.*, c.CategoryName FROM Products AS p JOIN Categories AS c USING (CategoryID)
      WHERE p.Discontinued = '0';
    CREATE VIEW "Order Subtotals" AS
      SELECT OrderID, sum(UnitPrice * Quantity * (1 - Discount)) AS Subtotal
      FROM "Order Details" GROUP BY OrderID;
    CREATE VIEW "Products Above Average Price" AS
      SELECT ProductName, UnitPrice FROM Products
      WHERE UnitPrice > (SELECT avg(UnitPrice) FROM Products);

    INSERT INTO Categories VALUES (1, 'Beverages', 'Tea and beer', x'FFD8'), (2, 'Fish', NULL, NULL);
    INSERT INTO Suppliers (SupplierID, CompanyName, Country) VALUES (1, 'Norsk Fisk', 'Norway');
    INSERT INTO Products VALUES
      (1, 'Chai', 1, 1, '10 boxes', 18, 39, 0, 10, '0'), (2, 'Ikura', 1, 2, '12 jars', 31.5, 31, 0, 0, '0'),
      (3, 'Klippfisk', 1, 2, NULL, 97, 0, 0, 0, '1');
    INSERT INTO Customers (CustomerID, CompanyName, City, Country) VALUES
      ('ALFKI', 'Futterkiste', 'Berlin', 'Germany'), ('SANTG', 'Santé Gourmet', 'Stavern', 'Norway');
    INSERT INTO CustomerDemographics VALUES ('shop', 'Shops');
    INSERT INTO CustomerCustomerDemo VALUES ('ALFKI', 'shop');
    INSERT INTO Employees (EmployeeID, LastName, FirstName, BirthDate, HireDate, ReportsTo) VALUES
      (1, 'Fuller', 'Ann', '1952-02-19', '1992-08-14', NULL), (2, 'Leverling', 'Jo', '1963-08-30', '1992-04-01', 1);
    INSERT INTO Regions VALUES (1, 'North'), (2, 'South');
    INSERT INTO Territories VALUES ('01581', 'Westboro', 1), ('33607', 'Tampa', 2);
    INSERT INTO EmployeeTerritories VALUES (1, '01581'), (2, '33607'), (2, '01581');
    INSERT INTO Shippers VALUES (1, 'Posten', NULL);
    INSERT INTO Orders (OrderID, CustomerID, EmployeeID, OrderDate, RequiredDate, ShipVia, Freight) VALUES
      (10248, 'SANTG', 2, '2016-07-04', '2016-08-01', 1, 32.38),
      (10249, 'ALFKI', 1, '2016-07-05', '2016-08-16', 1, 11.61);
    INSERT INTO "Order Details" VALUES
      (10248, 1, 18, 5, 0), (10248, 2, 31.5, 2, 0.1), (10249, 2, 31.5, 10, 0.25);
    """

  /// The sample program's database as its migrations make it, with a few rows.
  static let places = """
    CREATE TABLE country (
      code TEXT PRIMARY KEY NOT NULL, iso3 TEXT NOT NULL UNIQUE, name TEXT NOT NULL, capital TEXT,
      continent TEXT NOT NULL, area REAL NOT NULL, population INTEGER NOT NULL, currency TEXT,
      languages TEXT NOT NULL, neighbours TEXT NOT NULL
    ) STRICT;
    CREATE TABLE city (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL, latitude REAL NOT NULL, longitude REAL NOT NULL,
      country TEXT NOT NULL REFERENCES country (code), population INTEGER NOT NULL DEFAULT 0,
      timezone TEXT, region TEXT
    ) STRICT;
    CREATE TABLE division (
      code INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, longitude REAL, latitude REAL
    ) STRICT;
    CREATE TABLE visit (
      id INTEGER PRIMARY KEY, city INTEGER NOT NULL REFERENCES city (id) ON DELETE CASCADE,
      task INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX city_population_index ON city (population);
    CREATE INDEX city_country_population_index ON city (country, population);
    CREATE INDEX city_latitude_longitude_index ON city (latitude, longitude);
    CREATE INDEX visit_city_index ON visit (city);
    CREATE VIRTUAL TABLE city_text USING fts5(
      name, content='city', content_rowid='id', tokenize='unicode61 remove_diacritics 2');

    INSERT INTO country VALUES
      ('NO', 'NOR', 'Norway', 'Oslo', 'EU', 324220, 5009150, 'NOK', '["no","nb","nn"]', '["FI","SE","RU"]'),
      ('CN', 'CHN', '中国', '北京', 'AS', 9596960, 1330044000, 'CNY', '["zh-CN"]', '["RU","MN"]');
    INSERT INTO city VALUES
      (1, 'Oslo', 59.91273, 10.74609, 'NO', 709037, 'Europe/Oslo', NULL),
      (2, 'Bergen', 60.39299, 5.32415, 'NO', 285911, 'Europe/Oslo', NULL),
      (3, '上海', 31.22222, 121.45806, 'CN', 24870895, 'Asia/Shanghai', NULL);
    INSERT INTO division VALUES (110101, '东城区', 116.41, 39.92);
    INSERT INTO visit VALUES (1, 1, 7), (2, 1, 8), (3, 3, 7);
    """
}
