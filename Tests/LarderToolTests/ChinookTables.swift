import Larder

/// The eleven tables of the sample database Chinook, a music shop, as STRICT tables with an index for
/// each foreign key.
enum ChinookTables {
  static let sql: SQL = """
    CREATE TABLE Artist (ArtistId INTEGER PRIMARY KEY, Name TEXT) STRICT;
    CREATE TABLE Album (
      AlbumId INTEGER PRIMARY KEY, Title TEXT NOT NULL,
      ArtistId INTEGER NOT NULL REFERENCES Artist (ArtistId));
    CREATE INDEX AlbumArtist ON Album (ArtistId);
    CREATE TABLE Employee (
      EmployeeId INTEGER PRIMARY KEY, LastName NVARCHAR(20) NOT NULL, FirstName NVARCHAR(20) NOT NULL,
      Title NVARCHAR(30), ReportsTo INTEGER REFERENCES Employee (EmployeeId), BirthDate DATETIME,
      HireDate DATETIME, Address NVARCHAR(70), City NVARCHAR(40), State NVARCHAR(40),
      Country NVARCHAR(40), PostalCode NVARCHAR(10), Phone NVARCHAR(24), Fax NVARCHAR(24),
      Email NVARCHAR(60));
    CREATE INDEX EmployeeReportsTo ON Employee (ReportsTo);
    CREATE TABLE Customer (
      CustomerId INTEGER PRIMARY KEY, FirstName NVARCHAR(40) NOT NULL, LastName NVARCHAR(20) NOT NULL,
      Company NVARCHAR(80), Address NVARCHAR(70), City NVARCHAR(40), State NVARCHAR(40),
      Country NVARCHAR(40), PostalCode NVARCHAR(10), Phone NVARCHAR(24), Fax NVARCHAR(24),
      Email NVARCHAR(60) NOT NULL, SupportRepId INTEGER REFERENCES Employee (EmployeeId));
    CREATE INDEX CustomerSupportRep ON Customer (SupportRepId);
    CREATE TABLE Invoice (
      InvoiceId INTEGER PRIMARY KEY, CustomerId INTEGER NOT NULL REFERENCES Customer (CustomerId),
      InvoiceDate DATETIME NOT NULL, BillingAddress NVARCHAR(70), BillingCity NVARCHAR(40),
      BillingState NVARCHAR(40), BillingCountry NVARCHAR(40), BillingPostalCode NVARCHAR(10),
      Total NUMERIC(10,2) NOT NULL);
    CREATE INDEX InvoiceCustomer ON Invoice (CustomerId);
    CREATE TABLE Genre (GenreId INTEGER PRIMARY KEY, Name NVARCHAR(120));
    CREATE TABLE MediaType (MediaTypeId INTEGER PRIMARY KEY, Name NVARCHAR(120));
    CREATE TABLE Track (
      TrackId INTEGER PRIMARY KEY, Name NVARCHAR(200) NOT NULL,
      AlbumId INTEGER REFERENCES Album (AlbumId),
      MediaTypeId INTEGER NOT NULL REFERENCES MediaType (MediaTypeId),
      GenreId INTEGER REFERENCES Genre (GenreId), Composer NVARCHAR(220),
      Milliseconds INTEGER NOT NULL, Bytes INTEGER, UnitPrice NUMERIC(10,2) NOT NULL);
    CREATE INDEX TrackAlbum ON Track (AlbumId);
    CREATE INDEX TrackMediaType ON Track (MediaTypeId);
    CREATE INDEX TrackGenre ON Track (GenreId);
    CREATE TABLE InvoiceLine (
      InvoiceLineId INTEGER PRIMARY KEY, InvoiceId INTEGER NOT NULL REFERENCES Invoice (InvoiceId),
      TrackId INTEGER NOT NULL REFERENCES Track (TrackId), UnitPrice NUMERIC(10,2) NOT NULL,
      Quantity INTEGER NOT NULL);
    CREATE INDEX InvoiceLineInvoice ON InvoiceLine (InvoiceId);
    CREATE INDEX InvoiceLineTrack ON InvoiceLine (TrackId);
    CREATE TABLE Playlist (PlaylistId INTEGER PRIMARY KEY, Name NVARCHAR(120));
    CREATE TABLE PlaylistTrack (
      PlaylistId INTEGER NOT NULL REFERENCES Playlist (PlaylistId),
      TrackId INTEGER NOT NULL REFERENCES Track (TrackId), PRIMARY KEY (PlaylistId, TrackId));
    CREATE INDEX PlaylistTrackTrack ON PlaylistTrack (TrackId);
    """

  /// A few rows of each table.
  static let rows: SQL = """
    INSERT INTO Artist VALUES (1, 'AC/DC'), (2, 'Accept'), (3, 'Björk');
    INSERT INTO Album VALUES (1, 'For Those About To Rock', 1), (2, 'Balls to the Wall', 2), (3, 'Debut', 3);
    INSERT INTO Employee (EmployeeId, LastName, FirstName, ReportsTo, BirthDate, HireDate, PostalCode, Phone)
      VALUES (1, 'Adams', 'Andrew', NULL, '1962-02-18 00:00:00', '2002-08-14 00:00:00', 'T5K 2N1', '+1 780 4289482'),
        (2, 'Edwards', 'Nancy', 1, '1958-12-08 00:00:00', '2002-05-01 00:00:00', '94040', '+1 403 2623443');
    INSERT INTO Customer (CustomerId, FirstName, LastName, Email, SupportRepId)
      VALUES (1, 'Luís', 'Gonçalves', 'luisg@example.com', 2), (2, 'Leonie', 'Köhler', 'leonie@example.com', 2);
    INSERT INTO Invoice (InvoiceId, CustomerId, InvoiceDate, BillingPostalCode, Total)
      VALUES (1, 2, '2009-01-01 00:00:00', '70174', 1.98), (2, 1, '2009-01-02 00:00:00', '0171', 3.96);
    INSERT INTO Genre VALUES (1, 'Rock'), (2, 'Jazz');
    INSERT INTO MediaType VALUES (1, 'MPEG audio file'), (2, 'AAC audio file');
    INSERT INTO Track VALUES (1, 'Evil Walks', 1, 1, 1, 'Angus Young', 263497, 8611245, 0.99),
      (2, 'Balls to the Wall', 2, 2, 1, NULL, 342562, 5510424, 0.99), (3, 'Human Behaviour', 3, 1, 2, 'Björk', 252000, NULL, 1.99);
    INSERT INTO InvoiceLine VALUES (1, 1, 2, 0.99, 1), (2, 1, 3, 1.99, 1), (3, 2, 1, 0.99, 2);
    INSERT INTO Playlist VALUES (1, 'Music'), (2, 'Movies');
    INSERT INTO PlaylistTrack VALUES (1, 1), (1, 2), (1, 3), (2, 3);
    """
}
