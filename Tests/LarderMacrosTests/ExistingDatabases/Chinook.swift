import Foundation
import LarderMacros

/// The sample database Chinook with its original schema, and records for all of its tables.
enum Chinook {
  @Record("Artist", options: .notStrict)
  struct Artist: Equatable {
    @Column("ArtistId", .primaryKey) var id: Int
    @Column("Name") var name: String?
  }

  @Record("Album", options: .notStrict)
  struct Album: Equatable {
    @Column("AlbumId", .primaryKey) var id: Int
    @Column("Title") var title: String
    @Column("ArtistId", .references(Artist.self), .indexed) var artist: Int
  }

  @Record("Genre", options: .notStrict)
  struct Genre {
    @Column("GenreId", .primaryKey) var id: Int
    @Column("Name", .sqlType("NVARCHAR(120)")) var name: String?
  }

  @Record("MediaType", options: .notStrict)
  struct MediaType {
    @Column("MediaTypeId", .primaryKey) var id: Int
    @Column("Name") var name: String?
  }

  @Record("Track", options: .notStrict)
  struct Track: Equatable {
    @Column("TrackId", .primaryKey) var id: Int
    @Column("Name") var name: String
    @Column("AlbumId", .references(Album.self), .indexed) var album: Int?
    @Column("MediaTypeId", .references(MediaType.self), .indexed) var mediaType: Int
    @Column("GenreId", .references(Genre.self), .indexed) var genre: Int?
    @Column("Composer") var composer: String?
    @Column("Milliseconds") var milliseconds: Int
    @Column("Bytes") var bytes: Int?
    @Column("UnitPrice", .sqlType("NUMERIC(10,2)")) var unitPrice: Double
  }

  @Record("Playlist", options: .notStrict)
  struct Playlist {
    @Column("PlaylistId", .primaryKey) var id: Int
    @Column("Name") var name: String?
  }

  @Record("PlaylistTrack", options: .notStrict)
  struct PlaylistTrack {
    @Column("PlaylistId", .primaryKey, .references(Playlist.self), .indexed) var playlist: Int
    @Column("TrackId", .primaryKey, .references(Track.self), .indexed) var track: Int
  }

  @Record("Employee", options: .notStrict)
  struct Employee {
    @Column("EmployeeId", .primaryKey) var id: Int
    @Column("LastName") var lastName: String
    @Column("FirstName") var firstName: String
    @Column("Title") var title: String?
    @Column("ReportsTo", .references(Employee.self), .indexed) var boss: Int?
    @Column("BirthDate", .sqlType("DATETIME"), as: .format(.sqlDateTime)) var birth: Date?
    @Column("HireDate", .sqlType("DATETIME"), as: .format(.sqlDateTime)) var hired: Date?
    @Column("Address") var address: String?
    @Column("City") var city: String?
    @Column("State") var state: String?
    @Column("Country") var country: String?
    @Column("PostalCode") var postalCode: String?
    @Column("Phone") var phone: String?
    @Column("Fax") var fax: String?
    @Column("Email") var email: String?
  }

  @Record("Customer", options: .notStrict)
  struct Customer {
    @Column("CustomerId", .primaryKey) var id: Int
    @Column("FirstName") var firstName: String
    @Column("LastName") var lastName: String
    @Column("Company") var company: String?
    @Column("Address") var address: String?
    @Column("City") var city: String?
    @Column("State") var state: String?
    @Column("Country") var country: String?
    @Column("PostalCode") var postalCode: String?
    @Column("Phone") var phone: String?
    @Column("Fax") var fax: String?
    @Column("Email") var email: String
    @Column("SupportRepId", .references(Employee.self), .indexed) var support: Int?
  }

  @Record("Invoice", options: .notStrict)
  struct Invoice {
    @Column("InvoiceId", .primaryKey) var id: Int
    @Column("CustomerId", .references(Customer.self), .indexed) var customer: Int
    @Column("InvoiceDate", .sqlType("DATETIME"), as: .format(.sqlDateTime)) var date: Date
    @Column("BillingAddress") var address: String?
    @Column("BillingCity") var city: String?
    @Column("BillingState") var state: String?
    @Column("BillingCountry") var country: String?
    @Column("BillingPostalCode") var postalCode: String?
    @Column("Total", .sqlType("NUMERIC(10,2)")) var total: Double
  }

  @Record("InvoiceLine", options: .notStrict)
  struct InvoiceLine {
    @Column("InvoiceLineId", .primaryKey) var id: Int
    @Column("InvoiceId", .references(Invoice.self), .indexed) var invoice: Int
    @Column("TrackId", .references(Track.self), .indexed) var track: Int
    @Column("UnitPrice", .sqlType("NUMERIC(10,2)")) var unitPrice: Double
    @Column("Quantity") var quantity: Int
  }

  static func declared() throws -> Schema {
    try Schema(
      Artist.self, Album.self, Genre.self, MediaType.self, Track.self, Playlist.self,
      PlaylistTrack.self, Employee.self, Customer.self, Invoice.self, InvoiceLine.self)
  }

  static let sql: SQL = """
    CREATE TABLE [Album] ([AlbumId] INTEGER  NOT NULL, [Title] NVARCHAR(160)  NOT NULL,
      [ArtistId] INTEGER  NOT NULL, CONSTRAINT [PK_Album] PRIMARY KEY  ([AlbumId]),
      FOREIGN KEY ([ArtistId]) REFERENCES [Artist] ([ArtistId])
        ON DELETE NO ACTION ON UPDATE NO ACTION);
    CREATE TABLE [Artist] ([ArtistId] INTEGER  NOT NULL, [Name] NVARCHAR(120),
      CONSTRAINT [PK_Artist] PRIMARY KEY  ([ArtistId]));
    CREATE TABLE [Customer] ([CustomerId] INTEGER  NOT NULL, [FirstName] NVARCHAR(40)  NOT NULL,
      [LastName] NVARCHAR(20)  NOT NULL, [Company] NVARCHAR(80), [Address] NVARCHAR(70),
      [City] NVARCHAR(40), [State] NVARCHAR(40), [Country] NVARCHAR(40),
      [PostalCode] NVARCHAR(10), [Phone] NVARCHAR(24), [Fax] NVARCHAR(24),
      [Email] NVARCHAR(60)  NOT NULL, [SupportRepId] INTEGER,
      CONSTRAINT [PK_Customer] PRIMARY KEY  ([CustomerId]),
      FOREIGN KEY ([SupportRepId]) REFERENCES [Employee] ([EmployeeId])
        ON DELETE NO ACTION ON UPDATE NO ACTION);
    CREATE TABLE [Employee] ([EmployeeId] INTEGER  NOT NULL, [LastName] NVARCHAR(20)  NOT NULL,
      [FirstName] NVARCHAR(20)  NOT NULL, [Title] NVARCHAR(30), [ReportsTo] INTEGER,
      [BirthDate] DATETIME, [HireDate] DATETIME, [Address] NVARCHAR(70), [City] NVARCHAR(40),
      [State] NVARCHAR(40), [Country] NVARCHAR(40), [PostalCode] NVARCHAR(10),
      [Phone] NVARCHAR(24), [Fax] NVARCHAR(24), [Email] NVARCHAR(60),
      CONSTRAINT [PK_Employee] PRIMARY KEY  ([EmployeeId]),
      FOREIGN KEY ([ReportsTo]) REFERENCES [Employee] ([EmployeeId])
        ON DELETE NO ACTION ON UPDATE NO ACTION);
    CREATE TABLE [Genre] ([GenreId] INTEGER  NOT NULL, [Name] NVARCHAR(120),
      CONSTRAINT [PK_Genre] PRIMARY KEY  ([GenreId]));
    CREATE TABLE [Invoice] ([InvoiceId] INTEGER  NOT NULL, [CustomerId] INTEGER  NOT NULL,
      [InvoiceDate] DATETIME  NOT NULL, [BillingAddress] NVARCHAR(70),
      [BillingCity] NVARCHAR(40), [BillingState] NVARCHAR(40), [BillingCountry] NVARCHAR(40),
      [BillingPostalCode] NVARCHAR(10), [Total] NUMERIC(10,2)  NOT NULL,
      CONSTRAINT [PK_Invoice] PRIMARY KEY  ([InvoiceId]),
      FOREIGN KEY ([CustomerId]) REFERENCES [Customer] ([CustomerId])
        ON DELETE NO ACTION ON UPDATE NO ACTION);
    CREATE TABLE [InvoiceLine] ([InvoiceLineId] INTEGER  NOT NULL, [InvoiceId] INTEGER  NOT NULL,
      [TrackId] INTEGER  NOT NULL, [UnitPrice] NUMERIC(10,2)  NOT NULL,
      [Quantity] INTEGER  NOT NULL,
      CONSTRAINT [PK_InvoiceLine] PRIMARY KEY  ([InvoiceLineId]),
      FOREIGN KEY ([InvoiceId]) REFERENCES [Invoice] ([InvoiceId])
        ON DELETE NO ACTION ON UPDATE NO ACTION,
      FOREIGN KEY ([TrackId]) REFERENCES [Track] ([TrackId])
        ON DELETE NO ACTION ON UPDATE NO ACTION);
    CREATE TABLE [MediaType] ([MediaTypeId] INTEGER  NOT NULL, [Name] NVARCHAR(120),
      CONSTRAINT [PK_MediaType] PRIMARY KEY  ([MediaTypeId]));
    CREATE TABLE [Playlist] ([PlaylistId] INTEGER  NOT NULL, [Name] NVARCHAR(120),
      CONSTRAINT [PK_Playlist] PRIMARY KEY  ([PlaylistId]));
    CREATE TABLE [PlaylistTrack] ([PlaylistId] INTEGER  NOT NULL, [TrackId] INTEGER  NOT NULL,
      CONSTRAINT [PK_PlaylistTrack] PRIMARY KEY  ([PlaylistId], [TrackId]),
      FOREIGN KEY ([PlaylistId]) REFERENCES [Playlist] ([PlaylistId])
        ON DELETE NO ACTION ON UPDATE NO ACTION,
      FOREIGN KEY ([TrackId]) REFERENCES [Track] ([TrackId])
        ON DELETE NO ACTION ON UPDATE NO ACTION);
    CREATE TABLE [Track] ([TrackId] INTEGER  NOT NULL, [Name] NVARCHAR(200)  NOT NULL,
      [AlbumId] INTEGER, [MediaTypeId] INTEGER  NOT NULL, [GenreId] INTEGER,
      [Composer] NVARCHAR(220), [Milliseconds] INTEGER  NOT NULL, [Bytes] INTEGER,
      [UnitPrice] NUMERIC(10,2)  NOT NULL, CONSTRAINT [PK_Track] PRIMARY KEY  ([TrackId]),
      FOREIGN KEY ([AlbumId]) REFERENCES [Album] ([AlbumId])
        ON DELETE NO ACTION ON UPDATE NO ACTION,
      FOREIGN KEY ([GenreId]) REFERENCES [Genre] ([GenreId])
        ON DELETE NO ACTION ON UPDATE NO ACTION,
      FOREIGN KEY ([MediaTypeId]) REFERENCES [MediaType] ([MediaTypeId])
        ON DELETE NO ACTION ON UPDATE NO ACTION);
    CREATE INDEX [IFK_AlbumArtistId] ON [Album] ([ArtistId]);
    CREATE INDEX [IFK_CustomerSupportRepId] ON [Customer] ([SupportRepId]);
    CREATE INDEX [IFK_EmployeeReportsTo] ON [Employee] ([ReportsTo]);
    CREATE INDEX [IFK_InvoiceCustomerId] ON [Invoice] ([CustomerId]);
    CREATE INDEX [IFK_InvoiceLineInvoiceId] ON [InvoiceLine] ([InvoiceId]);
    CREATE INDEX [IFK_InvoiceLineTrackId] ON [InvoiceLine] ([TrackId]);
    CREATE INDEX [IFK_PlaylistTrackPlaylistId] ON [PlaylistTrack] ([PlaylistId]);
    CREATE INDEX [IFK_PlaylistTrackTrackId] ON [PlaylistTrack] ([TrackId]);
    CREATE INDEX [IFK_TrackAlbumId] ON [Track] ([AlbumId]);
    CREATE INDEX [IFK_TrackGenreId] ON [Track] ([GenreId]);
    CREATE INDEX [IFK_TrackMediaTypeId] ON [Track] ([MediaTypeId]);
    """

  /// A few rows, inserted with SQL.
  static let rows: SQL = """
    INSERT INTO [Artist] VALUES (1, 'AC/DC'), (2, 'Accept'), (3, 'Aerosmith');
    INSERT INTO [Album] VALUES (1, 'For Those About To Rock We Salute You', 1),
      (2, 'Balls to the Wall', 2), (3, 'Restless and Wild', 2), (4, 'Let There Be Rock', 1);
    INSERT INTO [Genre] VALUES (1, 'Rock'), (2, 'Jazz');
    INSERT INTO [MediaType] VALUES (1, 'MPEG audio file'), (2, 'Protected AAC audio file');
    INSERT INTO [Track] VALUES
      (1, 'For Those About To Rock (We Salute You)', 1, 1, 1, 'Angus Young', 343719, 11170334, .99),
      (2, 'Balls to the Wall', 2, 2, 1, NULL, 342562, 5510424, 0.99),
      (3, 'Fast As a Shark', 3, 2, 1, 'F. Baltes', 230619, 3990994, 0.99),
      (4, 'Restless and Wild', 3, 2, 2, 'F. Baltes', 252051, 4331779, 1);
    INSERT INTO [Playlist] VALUES (1, 'Music'), (2, 'Empty');
    INSERT INTO [PlaylistTrack] VALUES (1, 1), (1, 3), (1, 4);
    INSERT INTO [Employee] ([EmployeeId], [LastName], [FirstName], [ReportsTo], [BirthDate]) VALUES
      (1, 'Adams', 'Andrew', NULL, '1962-02-18 00:00:00'),
      (2, 'Edwards', 'Nancy', 1, '1958-12-08 00:00:00'), (3, 'Peacock', 'Jane', 2, NULL);
    INSERT INTO [Customer] ([CustomerId], [FirstName], [LastName], [Country], [Email], [SupportRepId])
      VALUES (1, 'Luís', 'Gonçalves', 'Brazil', 'luisg@embraer.com.br', 3),
      (2, 'Leonie', 'Köhler', 'Germany', 'leonekohler@surfeu.de', 3);
    INSERT INTO [Invoice] ([InvoiceId], [CustomerId], [InvoiceDate], [BillingCountry], [Total])
      VALUES (1, 2, '2009-01-01 00:00:00', 'Germany', 1.98),
      (2, 1, '2009-02-11 00:00:00', 'Brazil', 5.94), (3, 1, '2009-02-12 08:30:00', 'Brazil', 1);
    INSERT INTO [InvoiceLine] VALUES (1, 1, 2, 0.99, 1), (2, 1, 4, 0.99, 1), (3, 2, 1, 0.99, 6);
    """
}
