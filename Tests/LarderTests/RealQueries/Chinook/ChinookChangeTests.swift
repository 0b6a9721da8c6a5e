import Foundation
import Larder
import Testing

@Suite("Chinook: changes")
struct ChinookChangeTests {
  private typealias Customer = Chinook.Customer
  private typealias Genre = Chinook.Genre
  private typealias Invoice = Chinook.Invoice
  private typealias InvoiceLine = Chinook.InvoiceLine
  private typealias Playlist = Chinook.Playlist
  private typealias PlaylistTrack = Chinook.PlaylistTrack
  private typealias Track = Chinook.Track

  private let chinook: ShellComparison

  init() throws { chinook = try Chinook.database() }

  @Test("Chinook: updating prices and composers by a join gives the shell's rows")
  func prices() throws {
    let more = Decimal(25) / 100
    try chinook.expectChange(
      of: "Track",
      sql: """
        UPDATE Track SET UnitPrice = round(UnitPrice + 0.25, 2), Composer = NULL
        FROM Genre g WHERE g.GenreId = Track.GenreId AND g.Name = 'Jazz'
        """
    ) { db in
      let jazz = Track.join(Genre.self) { $0.genre == $1.id }.filter { $1.name == "Jazz" }
      try jazz.update(db) {
        $0.unitPrice += more
        $0.composer = nil
      }
    }
  }

  @Test("Chinook: deleting playlist entries without sales by a left join gives the shell's rows")
  func unsold() throws {
    try chinook.expectChange(
      of: "PlaylistTrack",
      sql: "DELETE FROM PlaylistTrack WHERE TrackId NOT IN (SELECT TrackId FROM InvoiceLine)"
    ) { db in
      try PlaylistTrack.leftJoin(InvoiceLine.self) { $0.track == $1.track }
        .filter { $1.id == nil }.delete(db)
    }
  }

  @Test(
    "Chinook: inserting a genre's tracks into a playlist by one statement gives the shell's rows"
  )
  func newPlaylist() throws {
    try chinook.expectChange(
      of: "Playlist", "PlaylistTrack",
      sql: """
        INSERT INTO Playlist (Name) VALUES ('Opera for long evenings');
        INSERT INTO PlaylistTrack SELECT (SELECT max(PlaylistId) FROM Playlist), TrackId FROM Track
        WHERE GenreId = (SELECT GenreId FROM Genre WHERE Name = 'Opera') AND Milliseconds > 300000
        ORDER BY TrackId
        """
    ) { db in
      var playlist = Playlist(name: "Opera for long evenings")
      try playlist.insert(db)
      let id = try #require(playlist.id)
      let opera = Genre.filter { $0.name == "Opera" }.select { $0.id }
      let tracks = Track.filter { $0.genre == first(of: opera) && $0.milliseconds > 300_000 }
      try PlaylistTrack.insert(
        db, PlaylistTrack.columns.playlist, PlaylistTrack.columns.track,
        from: tracks.order { $0.id }.select { (.value(id), $0.id) })
    }
  }

  @Test("Chinook: an upsert that adds to the quantity of invoice lines gives the shell's rows")
  func upsert() throws {
    try chinook.expectChange(
      of: "InvoiceLine",
      sql: """
        INSERT INTO InvoiceLine VALUES (1, 1, 5, 0.99, 4), (10000, 2, 6, 1.99, 1)
        ON CONFLICT (InvoiceLineId) DO UPDATE SET Quantity = Quantity + excluded.Quantity,
        UnitPrice = min(UnitPrice, excluded.UnitPrice)
        """
    ) { db in
      let price = Decimal(99) / 100
      let lines = [
        InvoiceLine(id: 1, invoice: 1, track: 5, unitPrice: price, quantity: 4),
        InvoiceLine(id: 10_000, invoice: 2, track: 6, unitPrice: price + 1, quantity: 1),
      ]
      try InvoiceLine.upsert(db, contentsOf: lines, onConflict: InvoiceLine.columns.id) {
        $0.quantity += $1.quantity
        $0.unitPrice = $0.unitPrice.least($1.unitPrice)
      }
    }
  }

  @Test("Chinook: inserting with .ignore tells whether a row is new, and gives the shell's rows")
  func insertOrIgnore() throws {
    try chinook.expectChange(
      of: "PlaylistTrack", sql: "INSERT OR IGNORE INTO PlaylistTrack VALUES (1, 1), (5, 1)"
    ) { db in
      for playlist in [1, 5] {
        var entry = PlaylistTrack(playlist: playlist, track: 1)
        let isNew = try entry.insert(db, or: .ignore)
        #expect(isNew == (playlist == 5))
      }
    }
  }

  @Test("Chinook: updating totals by a correlated subquery gives the shell's rows")
  func totals() throws {
    try chinook.expectChange(
      of: "Invoice",
      sql: """
        UPDATE Invoice SET Total = round((SELECT sum(UnitPrice * Quantity) FROM InvoiceLine l
        WHERE l.InvoiceId = Invoice.InvoiceId), 2) WHERE InvoiceId IN (76, 77, 78)
        """
    ) { db in
      try Invoice.filter { $0.id.in(76...78) }.update(db) { invoice in
        let id = invoice.id
        let sum = InvoiceLine.filter { $0.invoice == id }
          .select { ($0.unitPrice * $0.quantity.cast(to: Decimal.self)).sum() }
        invoice.total = first(of: sum).coalesce(0)
      }
    }
  }

  @Test("Chinook: `updated` returns the new values that the shell finds")
  func returning() throws {
    let late = Invoice.filter { $0.id > 150 }
    let rows = try late.updated(
      chinook.db, returning: { ($0.id, $0.date, $0.total * 2, $0.billingCountry) }
    ) {
      $0.total -= Decimal(1) / 2
      $0.billingCountry = "Norway"
    }
    try chinook.expect(
      rows.sorted { $0.0 < $1.0 },
      """
      SELECT InvoiceId, InvoiceDate, Total * 2, 'Norway' FROM Invoice WHERE InvoiceId > 150
      AND BillingCountry = 'Norway' ORDER BY InvoiceId
      """)
  }

  @Test("Chinook: deleting the oldest invoices returns them, and leaves the shell's rows")
  func deletion() throws {
    let sql = "SELECT InvoiceId, Total FROM Invoice ORDER BY InvoiceDate LIMIT 3"
    let old = Invoice.order { $0.date }.limit(3)
    let expected = old.select { ($0.id, $0.total) }
    try chinook.expect(expected, sql)
    try chinook.expectChange(
      of: "Invoice", "InvoiceLine",
      sql: """
        DELETE FROM InvoiceLine WHERE InvoiceId IN (SELECT InvoiceId FROM Invoice
          ORDER BY InvoiceDate LIMIT 3);
        DELETE FROM Invoice WHERE InvoiceId IN (SELECT InvoiceId FROM Invoice
          ORDER BY InvoiceDate LIMIT 3)
        """
    ) { db in
      let before = try expected.fetchAll(db).map { "\($0)" }
      #expect(try InvoiceLine.filter { $0.invoice.in(old.select { $0.id }) }.delete(db) > 3)
      let gone = try old.deleted(db, returning: { ($0.id, $0.total) })
      #expect(gone.map { "\($0)" }.sorted() == before.sorted())
    }
  }

  @Test("Chinook: records that are read and updated keep their dates' format and numeric totals")
  func unchanged() throws {
    let before = try Invoice.order { $0.id }.fetchAll(chinook.db)
    try chinook.db.inTransaction { db in
      for invoice in before { try invoice.update(db) }
    }
    try chinook.expect(
      Invoice.filter { $0.date.day == 9 }.order { $0.id }.select {
        ($0.id, $0.date, $0.total)
      },
      """
      SELECT InvoiceId, InvoiceDate, Total FROM Invoice WHERE InvoiceDate LIKE '____-__-09 00:00:00'
      AND typeof(Total) <> 'text' ORDER BY InvoiceId
      """)
  }
}
