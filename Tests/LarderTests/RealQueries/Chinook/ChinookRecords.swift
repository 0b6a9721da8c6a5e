import Foundation
import Larder

/// A music shop with tables like those of the sample database Chinook: made by others, without
/// STRICT, with dates as text and money as NUMERIC. Records don't need all of a table's columns.
enum Chinook {
  struct Artist: Record {
    var id: Int
    var name: String?

    struct Columns: Sendable {
      let id = Column("ArtistId", \Artist.id, .primaryKey)
      let name = Column("Name", \Artist.name)
    }
    static let columns = Columns()
    static let table = Table(
      "Artist", Artist.init, columns.id, columns.name, options: .notStrict)
  }

  struct Album: Record {
    var id: Int
    var title: String
    var artist: Int

    struct Columns: Sendable {
      let id = Column("AlbumId", \Album.id, .primaryKey)
      let title = Column("Title", \Album.title)
      let artist = Column("ArtistId", \Album.artist, .references(Artist.self))
    }
    static let columns = Columns()
    static let table = Table(
      "Album", Album.init, columns.id, columns.title, columns.artist, options: .notStrict)
  }

  struct Genre: Record {
    var id: Int
    var name: String?

    struct Columns: Sendable {
      let id = Column("GenreId", \Genre.id, .primaryKey)
      let name = Column("Name", \Genre.name)
    }
    static let columns = Columns()
    static let table = Table("Genre", Genre.init, columns.id, columns.name, options: .notStrict)
  }

  struct MediaType: Record {
    var id: Int
    var name: String?

    struct Columns: Sendable {
      let id = Column("MediaTypeId", \MediaType.id, .primaryKey)
      let name = Column("Name", \MediaType.name)
    }
    static let columns = Columns()
    static let table = Table(
      "MediaType", MediaType.init, columns.id, columns.name, options: .notStrict)
  }

  struct Track: Record {
    var id: Int
    var name: String
    var album: Int?
    var mediaType: Int
    var genre: Int?
    var composer: String?
    var milliseconds: Int
    var bytes: Int?
    var unitPrice: Decimal

    struct Columns: Sendable {
      let id = Column("TrackId", \Track.id, .primaryKey)
      let name = Column("Name", \Track.name)
      let album = Column("AlbumId", \Track.album, .references(Album.self))
      let mediaType = Column("MediaTypeId", \Track.mediaType, .references(MediaType.self))
      let genre = Column("GenreId", \Track.genre, .references(Genre.self))
      let composer = Column("Composer", \Track.composer)
      let milliseconds = Column("Milliseconds", \Track.milliseconds)
      let bytes = Column("Bytes", \Track.bytes)
      let unitPrice = Column("UnitPrice", \Track.unitPrice)
    }
    static let columns = Columns()
    static let table = Table(
      "Track", Track.init, columns.id, columns.name, columns.album, columns.mediaType,
      columns.genre, columns.composer, columns.milliseconds, columns.bytes, columns.unitPrice,
      options: .notStrict)
  }

  struct Playlist: Record {
    var id: Int?
    var name: String?

    struct Columns: Sendable {
      let id = Column("PlaylistId", \Playlist.id, .primaryKey)
      let name = Column("Name", \Playlist.name)
    }
    static let columns = Columns()
    static let table = Table(
      "Playlist", Playlist.init, columns.id, columns.name, options: .notStrict)
  }

  struct PlaylistTrack: Record {
    var playlist: Int
    var track: Int

    struct Columns: Sendable {
      let playlist = Column("PlaylistId", \PlaylistTrack.playlist, .primaryKey)
      let track = Column("TrackId", \PlaylistTrack.track, .primaryKey)
    }
    static let columns = Columns()
    static let table = Table(
      "PlaylistTrack", PlaylistTrack.init, columns.playlist, columns.track, options: .notStrict)
  }

  struct Employee: Record {
    var id: Int
    var lastName: String
    var firstName: String
    var title: String?
    var reportsTo: Int?
    var birthDate: Date?
    var hireDate: Date?
    var city: String?

    struct Columns: Sendable {
      let id = Column("EmployeeId", \Employee.id, .primaryKey)
      let lastName = Column("LastName", \Employee.lastName)
      let firstName = Column("FirstName", \Employee.firstName)
      let title = Column("Title", \Employee.title)
      let reportsTo = Column("ReportsTo", \Employee.reportsTo)
      let birthDate = Column("BirthDate", \Employee.birthDate, as: .format(.sqlDateTime))
      let hireDate = Column("HireDate", \Employee.hireDate, as: .format(.sqlDateTime))
      let city = Column("City", \Employee.city)
    }
    static let columns = Columns()
    static let table = Table(
      "Employee", Employee.init, columns.id, columns.lastName, columns.firstName, columns.title,
      columns.reportsTo, columns.birthDate, columns.hireDate, columns.city, options: .notStrict)
  }

  struct Customer: Record {
    var id: Int
    var firstName: String
    var lastName: String
    var company: String?
    var city: String?
    var country: String?
    var email: String
    var supportRep: Int?

    struct Columns: Sendable {
      let id = Column("CustomerId", \Customer.id, .primaryKey)
      let firstName = Column("FirstName", \Customer.firstName)
      let lastName = Column("LastName", \Customer.lastName)
      let company = Column("Company", \Customer.company)
      let city = Column("City", \Customer.city)
      let country = Column("Country", \Customer.country)
      let email = Column("Email", \Customer.email)
      let supportRep = Column("SupportRepId", \Customer.supportRep, .references(Employee.self))
    }
    static let columns = Columns()
    static let table = Table(
      "Customer", Customer.init, columns.id, columns.firstName, columns.lastName, columns.company,
      columns.city, columns.country, columns.email, columns.supportRep, options: .notStrict)
  }

  struct Invoice: Record {
    var id: Int
    var customer: Int
    var date: Date
    var billingCountry: String?
    var total: Decimal

    struct Columns: Sendable {
      let id = Column("InvoiceId", \Invoice.id, .primaryKey)
      let customer = Column("CustomerId", \Invoice.customer, .references(Customer.self))
      let date = Column("InvoiceDate", \Invoice.date, as: .format(.sqlDateTime))
      let billingCountry = Column("BillingCountry", \Invoice.billingCountry)
      let total = Column("Total", \Invoice.total)
    }
    static let columns = Columns()
    static let table = Table(
      "Invoice", Invoice.init, columns.id, columns.customer, columns.date, columns.billingCountry,
      columns.total, options: .notStrict)
  }

  struct InvoiceLine: Record {
    var id: Int
    var invoice: Int
    var track: Int
    var unitPrice: Decimal
    var quantity: Int

    struct Columns: Sendable {
      let id = Column("InvoiceLineId", \InvoiceLine.id, .primaryKey)
      let invoice = Column("InvoiceId", \InvoiceLine.invoice, .references(Invoice.self))
      let track = Column("TrackId", \InvoiceLine.track, .references(Track.self))
      let unitPrice = Column("UnitPrice", \InvoiceLine.unitPrice)
      let quantity = Column("Quantity", \InvoiceLine.quantity)
    }
    static let columns = Columns()
    static let table = Table(
      "InvoiceLine", InvoiceLine.init, columns.id, columns.invoice, columns.track,
      columns.unitPrice, columns.quantity, options: .notStrict)
  }
}
