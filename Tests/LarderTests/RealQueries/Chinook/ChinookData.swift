import Foundation
import Larder
import TestSupport

// The shop's tables in the SQL of the original, and rows that are the same in each run.

extension Chinook {
  static func database() throws -> ShellComparison {
    try ShellComparison(.sqlDateTime) { db in
      try db.executeStatements(schema)
      var data = Rows()
      try data.insert(db)
    }
  }

  private static let schema: SQL = """
    CREATE TABLE [Artist] ([ArtistId] INTEGER NOT NULL, [Name] NVARCHAR(120),
      CONSTRAINT [PK_Artist] PRIMARY KEY ([ArtistId]));
    CREATE TABLE [Album] ([AlbumId] INTEGER NOT NULL, [Title] NVARCHAR(160) NOT NULL,
      [ArtistId] INTEGER NOT NULL, CONSTRAINT [PK_Album] PRIMARY KEY ([AlbumId]),
      FOREIGN KEY ([ArtistId]) REFERENCES [Artist] ([ArtistId]) ON DELETE NO ACTION);
    CREATE TABLE [Genre] ([GenreId] INTEGER NOT NULL, [Name] NVARCHAR(120),
      CONSTRAINT [PK_Genre] PRIMARY KEY ([GenreId]));
    CREATE TABLE [MediaType] ([MediaTypeId] INTEGER NOT NULL, [Name] NVARCHAR(120),
      CONSTRAINT [PK_MediaType] PRIMARY KEY ([MediaTypeId]));
    CREATE TABLE [Track] ([TrackId] INTEGER NOT NULL, [Name] NVARCHAR(200) NOT NULL,
      [AlbumId] INTEGER, [MediaTypeId] INTEGER NOT NULL, [GenreId] INTEGER,
      [Composer] NVARCHAR(220), [Milliseconds] INTEGER NOT NULL, [Bytes] INTEGER,
      [UnitPrice] NUMERIC(10,2) NOT NULL, CONSTRAINT [PK_Track] PRIMARY KEY ([TrackId]),
      FOREIGN KEY ([AlbumId]) REFERENCES [Album] ([AlbumId]),
      FOREIGN KEY ([GenreId]) REFERENCES [Genre] ([GenreId]),
      FOREIGN KEY ([MediaTypeId]) REFERENCES [MediaType] ([MediaTypeId]));
    CREATE INDEX [IFK_TrackAlbumId] ON [Track] ([AlbumId]);
    CREATE INDEX [IFK_TrackGenreId] ON [Track] ([GenreId]);
    CREATE TABLE [Playlist] ([PlaylistId] INTEGER NOT NULL, [Name] NVARCHAR(120),
      CONSTRAINT [PK_Playlist] PRIMARY KEY ([PlaylistId]));
    CREATE TABLE [PlaylistTrack] ([PlaylistId] INTEGER NOT NULL, [TrackId] INTEGER NOT NULL,
      CONSTRAINT [PK_PlaylistTrack] PRIMARY KEY ([PlaylistId], [TrackId]),
      FOREIGN KEY ([PlaylistId]) REFERENCES [Playlist] ([PlaylistId]),
      FOREIGN KEY ([TrackId]) REFERENCES [Track] ([TrackId]));
    CREATE TABLE [Employee] ([EmployeeId] INTEGER NOT NULL, [LastName] NVARCHAR(20) NOT NULL,
      [FirstName] NVARCHAR(20) NOT NULL, [Title] NVARCHAR(30), [ReportsTo] INTEGER,
      [BirthDate] DATETIME, [HireDate] DATETIME, [Address] NVARCHAR(70), [City] NVARCHAR(40),
      [Country] NVARCHAR(40), [Phone] NVARCHAR(24), [Email] NVARCHAR(60),
      CONSTRAINT [PK_Employee] PRIMARY KEY ([EmployeeId]),
      FOREIGN KEY ([ReportsTo]) REFERENCES [Employee] ([EmployeeId]));
    CREATE TABLE [Customer] ([CustomerId] INTEGER NOT NULL, [FirstName] NVARCHAR(40) NOT NULL,
      [LastName] NVARCHAR(20) NOT NULL, [Company] NVARCHAR(80), [Address] NVARCHAR(70),
      [City] NVARCHAR(40), [Country] NVARCHAR(40), [Phone] NVARCHAR(24),
      [Email] NVARCHAR(60) NOT NULL, [SupportRepId] INTEGER,
      CONSTRAINT [PK_Customer] PRIMARY KEY ([CustomerId]),
      FOREIGN KEY ([SupportRepId]) REFERENCES [Employee] ([EmployeeId]));
    CREATE TABLE [Invoice] ([InvoiceId] INTEGER NOT NULL, [CustomerId] INTEGER NOT NULL,
      [InvoiceDate] DATETIME NOT NULL, [BillingAddress] NVARCHAR(70), [BillingCity] NVARCHAR(40),
      [BillingCountry] NVARCHAR(40), [Total] NUMERIC(10,2) NOT NULL,
      CONSTRAINT [PK_Invoice] PRIMARY KEY ([InvoiceId]),
      FOREIGN KEY ([CustomerId]) REFERENCES [Customer] ([CustomerId]));
    CREATE TABLE [InvoiceLine] ([InvoiceLineId] INTEGER NOT NULL, [InvoiceId] INTEGER NOT NULL,
      [TrackId] INTEGER NOT NULL, [UnitPrice] NUMERIC(10,2) NOT NULL, [Quantity] INTEGER NOT NULL,
      CONSTRAINT [PK_InvoiceLine] PRIMARY KEY ([InvoiceLineId]),
      FOREIGN KEY ([InvoiceId]) REFERENCES [Invoice] ([InvoiceId]),
      FOREIGN KEY ([TrackId]) REFERENCES [Track] ([TrackId]));
    """

  /// Makes up the rows. A table's rows come after the rows that they refer to.
  private struct Rows {
    private var random = SeededGenerator(seed: 11)
    private let places = [
      ("Oslo", "Norway"), ("Bergen", "Norway"), ("Lyon", "France"), ("Paris", "France"),
      ("Porto", "Portugal"), ("Calgary", "Canada"), ("Recife", "Brazil"), ("Manaus", "Brazil"),
      ("Delhi", "India"), ("Brno", "Czech Republic"),
    ]

    private mutating func number(_ range: ClosedRange<Int>) -> Int {
      .random(in: range, using: &random)
    }

    private mutating func one<T>(of values: [T]) -> T { values[number(0...values.count - 1)] }

    /// Midnight of the day with this number, counted from the beginning of 2009.
    private func day(_ number: Int) -> Date {
      Date(timeIntervalSince1970: 1_230_768_000 + Double(number) * 86_400)
    }

    private mutating func words() -> String {
      one(of: ["Silent", "Blue", "Last", "Distant", "Ola's", "Über", "No", "The Long"]) + " "
        + one(of: ["Harbour", "Train", "Winter", "100%", "Road", "Señal", "Night", "Engine"])
    }

    mutating func insert(_ db: Database) throws {
      try Artist.insert(
        db,
        contentsOf: (1...24).map { id in
          Artist(id: id, name: id == 24 ? nil : "\(words()) \(id % 3 == 0 ? "Band" : "& Co")")
        })
      try Album.insert(
        db,
        contentsOf: (1...50).map { id in
          Album(id: id, title: "\(words()) \(id % 7)", artist: number(1...20))
        })
      try Genre.insert(
        db,
        contentsOf: ["Rock", "Jazz", "Metal", "Latin", "Blues", "Opera", "Noise"].enumerated().map {
          Genre(id: $0 + 1, name: $1)
        })
      try MediaType.insert(
        db,
        contentsOf: ["MPEG audio file", "AAC audio file", "Protected AAC", "MPEG-4 video file"]
          .enumerated().map { MediaType(id: $0 + 1, name: $1) })
      let tracks = (1...260).map { id in
        let isVideo = number(0...9) == 0
        return Track(
          id: id, name: "\(words()) \(id)", album: id % 40 == 0 ? nil : number(1...48),
          mediaType: isVideo ? 4 : number(1...3), genre: id % 33 == 0 ? nil : number(1...6),
          composer: number(0...3) == 0 ? nil : words(), milliseconds: number(60_000...600_000),
          bytes: id % 50 == 0 ? nil : number(1_000_000...20_000_000),
          unitPrice: isVideo ? Decimal(199) / 100 : id % 20 == 0 ? 2 : Decimal(99) / 100)
      }
      try Track.insert(db, contentsOf: tracks)
      try Playlist.insert(
        db,
        contentsOf: ["Music", "Movies", "On the road", "Quiet", "Empty", nil].enumerated().map {
          Playlist(id: $0 + 1, name: $1)
        })
      try PlaylistTrack.insert(
        db,
        contentsOf: tracks.flatMap { track in
          [1, 2, 3, 4, 6].filter { $0 == 1 || number(0...4) == 0 }
            .map { PlaylistTrack(playlist: $0, track: track.id) }
        })
      try insertPeople(db)
      try insertInvoices(db, tracks)
    }

    private mutating func insertPeople(_ db: Database) throws {
      let names = [
        "Adams", "Edwards", "Peacock", "Park", "Johnson", "Mitchell", "King", "Callahan",
      ]
      let titles = ["General Manager", "Sales Manager", "Sales Support Agent", "IT Staff"]
      let bosses: [Int?] = [nil, 1, 2, 2, 2, 1, 6, 6]
      try Employee.insert(
        db,
        contentsOf: names.enumerated().map { index, name in
          Employee(
            id: index + 1, lastName: name, firstName: one(of: ["Ann", "Bo", "Ида", "Li"]),
            title: titles[index == 0 ? 0 : index == 1 ? 1 : index < 5 ? 2 : 3],
            reportsTo: bosses[index], birthDate: index == 7 ? nil : day(-number(9_000...20_000)),
            hireDate: day(-number(100...3_000)), city: one(of: places).0)
        })
      try Customer.insert(
        db,
        contentsOf: (1...40).map { id in
          let (city, country) = one(of: places)
          let name = one(of: ["Hansen", "Silva", "Novák", "O'Brien", "Roy", "Smith"])
          return Customer(
            id: id, firstName: one(of: ["Eva", "Jan", "Luís", "Mark", "Zoë"]), lastName: name,
            company: id % 4 == 0 ? "\(name) Ltd." : nil, city: city,
            country: id == 40 ? nil : country, email: "\(id).\(name.lowercased())@example.com",
            supportRep: id % 13 == 0 ? nil : number(3...5))
        })
    }

    private mutating func insertInvoices(_ db: Database, _ tracks: [Track]) throws {
      var lines: [InvoiceLine] = []
      let invoices = (1...160).map { id in
        var total: Decimal = 0
        for _ in 0..<number(1...5) {
          let (track, quantity) = (one(of: tracks), number(1...3))
          total += track.unitPrice * Decimal(quantity)
          lines.append(
            InvoiceLine(
              id: lines.count + 1, invoice: id, track: track.id, unitPrice: track.unitPrice,
              quantity: quantity))
        }
        // One invoice has a wrong total.
        if id == 77 { total += 1 }
        let place = one(of: places)
        return Invoice(
          id: id, customer: number(1...36), date: day(id * 7 + number(0...6)),
          billingCountry: place.1, total: total)
      }
      try Invoice.insert(db, contentsOf: invoices)
      try InvoiceLine.insert(db, contentsOf: lines)
    }
  }
}
