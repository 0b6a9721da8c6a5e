import Foundation
import Larder
import Testing

@Suite("Chinook: sales")
struct ChinookSalesTests {
  private typealias Artist = Chinook.Artist
  private typealias Album = Chinook.Album
  private typealias Customer = Chinook.Customer
  private typealias Employee = Chinook.Employee
  private typealias Genre = Chinook.Genre
  private typealias Invoice = Chinook.Invoice
  private typealias InvoiceLine = Chinook.InvoiceLine
  private typealias Track = Chinook.Track

  private let chinook: ShellComparison

  init() throws { chinook = try Chinook.database() }

  @Test("Chinook: the artists with the largest revenue, by three joins, as in the shell")
  func topArtists() throws {
    let query = InvoiceLine.join(Track.self) { $0.track == $1.id }
      .join(Album.self) { $1.album == $2.id }
      .join(Artist.self) { $2.artist == $3.id }
      .group { $3.id }
      .select { line, _, _, artist in
        (artist.name, (line.unitPrice * line.quantity.cast(to: Decimal.self)).sum())
      }
      .order { $1.desc }.order { name, _ in name }.limit(10)
    try chinook.expect(
      query,
      """
      SELECT ar.Name, sum(il.UnitPrice * il.Quantity) AS Revenue
      FROM InvoiceLine il JOIN Track t ON t.TrackId = il.TrackId
      JOIN Album al ON al.AlbumId = t.AlbumId JOIN Artist ar ON ar.ArtistId = al.ArtistId
      GROUP BY ar.ArtistId ORDER BY round(Revenue, 2) DESC, ar.Name LIMIT 10
      """)
  }

  @Test("Chinook: customers and their spending by country, by a left join, as in the shell")
  func countries() throws {
    let query = Customer.leftJoin(Invoice.self) { $0.id == $1.customer }
      .group { $0.0.country }
      .select { customer, invoice in
        (
          customer.country.coalesce("nowhere"), customer.id.count(distinct: true),
          invoice.id.count(), invoice.total.sum()
        )
      }
      .order { country, _, _, _ in country }
    try chinook.expect(
      query,
      """
      SELECT coalesce(c.Country, 'nowhere') AS Country, count(DISTINCT c.CustomerId),
      count(i.InvoiceId), sum(i.Total) FROM Customer c
      LEFT JOIN Invoice i USING (CustomerId) GROUP BY c.Country ORDER BY Country
      """)
  }

  @Test("Chinook: each customer's mean and largest invoice, as in the shell")
  func means() throws {
    let query = Customer.join(Invoice.self) { $0.id == $1.customer }
      .group { $0.0.id }
      .select { customer, invoice in
        let total = invoice.total.real
        return (
          customer.firstName + " " + customer.lastName, total.average().rounded(2),
          (total.max() - total.average()).rounded(2)
        )
      }
      .order { $2.desc }.order { name, _, _ in name }
    try chinook.expect(
      query,
      """
      SELECT c.FirstName || ' ' || c.LastName AS Name, round(avg(i.Total), 2),
      round(max(i.Total) - avg(i.Total), 2) AS Above
      FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId
      GROUP BY c.CustomerId ORDER BY Above DESC, Name
      """)
  }

  @Test("Chinook: each country's three best customers, by rank, as in the shell")
  func ranks() throws {
    let spending = CommonTable(
      "spending",
      Customer.join(Invoice.self) { $0.id == $1.customer }.group { $0.0.id }
        .select { ($0.id, $0.country, $0.email, $1.total.sum()) })
    let query = spending.all.select {
      let (id, country, email, total) = $0.columns
      return (
        country, email, total,
        rank().over(partitionBy: country, orderBy: total.desc),
        denseRank().over(orderBy: total.desc), id
      )
    }
    .order { country, _, _, _, _, _ in country.asc.nullsLast }
    .order { _, _, _, place, _, _ in place }.order { _, _, _, _, _, id in id }
    .filter { _, _, _, place, _, _ in place <= 3 }
    try chinook.expect(
      query,
      """
      WITH spending AS (SELECT c.CustomerId, c.Country, c.Email, round(sum(i.Total), 2) AS Spent
        FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY c.CustomerId)
      SELECT * FROM (SELECT Country, Email, Spent,
        rank() OVER (PARTITION BY Country ORDER BY Spent DESC) AS Place,
        dense_rank() OVER (ORDER BY Spent DESC), CustomerId FROM spending)
      WHERE Place <= 3 ORDER BY Country NULLS LAST, Place, CustomerId
      """)
  }

  @Test("Chinook: each genre's share in all sales, as in the shell")
  func shares() throws {
    let all = InvoiceLine.select { ($0.unitPrice.real * $0.quantity.real).sum() }
    let query = InvoiceLine.join(Track.self) { $0.track == $1.id }
      .leftJoin(Genre.self) { $1.genre == $2.id }
      .group { $2.id }
      .select { line, _, genre in
        let sum = (line.unitPrice.real * line.quantity.real).sum()
        return (genre.name.coalesce("none"), (sum * 100 / first(of: all)).rounded(1))
      }
      .order { $1.desc }.order { name, _ in name }
    try chinook.expect(
      query,
      """
      SELECT coalesce(g.Name, 'none') AS Genre, round(sum(il.UnitPrice * il.Quantity) * 100.0
      / (SELECT sum(UnitPrice * Quantity) FROM InvoiceLine), 1) AS Share
      FROM InvoiceLine il JOIN Track t ON t.TrackId = il.TrackId
      LEFT JOIN Genre g ON g.GenreId = t.GenreId GROUP BY g.GenreId ORDER BY Share DESC, Genre
      """)
  }

  @Test("Chinook: two queries for the second highest total give the shell's row")
  func secondHighest() throws {
    let sql = "SELECT max(Total) FROM Invoice WHERE Total < (SELECT max(Total) FROM Invoice)"
    try chinook.expect(
      Invoice.select { $0.total }.distinct().order { $0.desc }.limit(1, offset: 1), sql)
    try chinook.expect(
      Invoice.filter { $0.total < first(of: Invoice.select { $0.total.max() }) }
        .select { $0.total.max() }, sql)
  }

  @Test("Chinook: invoices whose total differs from their lines' sum, as in the shell")
  func mismatches() throws {
    let query = Invoice.join(InvoiceLine.self) { $0.id == $1.invoice }
      .group { $0.0.id }
      .select { invoice, line in
        (
          invoice.id, invoice.total,
          (line.unitPrice * line.quantity.cast(to: Decimal.self)).sum()
        )
      }
      .having { $1 != $2 }
    try chinook.expect(
      query,
      """
      SELECT i.InvoiceId, i.Total, sum(l.UnitPrice * l.Quantity) FROM Invoice i
      JOIN InvoiceLine l USING (InvoiceId) GROUP BY i.InvoiceId
      HAVING abs(i.Total - sum(l.UnitPrice * l.Quantity)) > 0.001
      """)
  }

  @Test("Chinook: the sales and customers of each support agent, as in the shell")
  func agents() throws {
    let query = Employee.join(Customer.self) { $1.supportRep == $0.id }
      .join(Invoice.self) { $2.customer == $1.id }
      .group { $0.0.id }
      .order { employee, _, invoice in invoice.total.sum().desc }
      .select { employee, customer, invoice in
        (
          employee.lastName + ", " + employee.firstName, employee.hireDate,
          customer.id.count(distinct: true), invoice.total.sum()
        )
      }
    try chinook.expect(
      query,
      """
      SELECT e.LastName || ', ' || e.FirstName, e.HireDate, count(DISTINCT c.CustomerId),
      sum(i.Total) FROM Employee e JOIN Customer c ON c.SupportRepId = e.EmployeeId
      JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY e.EmployeeId ORDER BY sum(i.Total) DESC
      """)
  }

  @Test("Chinook: the best-selling track of each genre, by rowNumber, as in the shell")
  func bestsellers() throws {
    let sold = CommonTable(
      "sold",
      InvoiceLine.join(Track.self) { $0.track == $1.id }.group { $1.id }
        .select { ($1.genre, $1.name, $0.quantity.sum()) })
    let query = sold.all.join(Genre.self) { $0.columns.0 == $1.id }
      .select { sold, genre in
        let (_, track, quantity) = sold.columns
        return (
          genre.name, track, quantity,
          rowNumber().over(partitionBy: genre.id, orderBy: quantity.desc, track.asc)
        )
      }
      .filter { $3 == 1 }.order { genre, _, _, _ in genre }
    try chinook.expect(
      query,
      """
      SELECT * FROM (SELECT g.Name, t.Name, sum(l.Quantity), row_number() OVER
        (PARTITION BY g.GenreId ORDER BY sum(l.Quantity) DESC, t.Name) AS n
        FROM InvoiceLine l JOIN Track t USING (TrackId) JOIN Genre g USING (GenreId)
        GROUP BY t.TrackId)
      WHERE n = 1 ORDER BY 1
      """)
  }

  @Test("Chinook: a join of eight tables gives the shell's rows")
  func eightTables() throws {
    let query = InvoiceLine.join(Invoice.self) { $0.invoice == $1.id }
      .join(Customer.self) { $1.customer == $2.id }
      .leftJoin(Employee.self) { $2.supportRep == $3.id }
      .join(Track.self) { $0.track == $4.id }
      .leftJoin(Album.self) { $4.album == $5.id }
      .leftJoin(Artist.self) { $5.artist == $6.id }
      .leftJoin(Genre.self) { $4.genre == $7.id }
      .filter { line, invoice, customer, _, _, _, _, _ in
        line.quantity == 3 && customer.country == invoice.billingCountry
      }
      .order { line, _, _, _, _, _, _, _ in line.id }
      .select { line, invoice, customer, agent, track, album, artist, genre in
        (
          line.id, invoice.date, customer.email, agent.lastName, track.name, album.title,
          artist.name.coalesce("unknown"), genre.name
        )
      }
    try chinook.expect(
      query,
      """
      SELECT l.InvoiceLineId, i.InvoiceDate, c.Email, e.LastName, t.Name, al.Title,
      coalesce(ar.Name, 'unknown'), g.Name
      FROM InvoiceLine l JOIN Invoice i USING (InvoiceId) JOIN Customer c USING (CustomerId)
      LEFT JOIN Employee e ON e.EmployeeId = c.SupportRepId JOIN Track t USING (TrackId)
      LEFT JOIN Album al USING (AlbumId) LEFT JOIN Artist ar USING (ArtistId)
      LEFT JOIN Genre g USING (GenreId)
      WHERE l.Quantity = 3 AND c.Country = i.BillingCountry ORDER BY l.InvoiceLineId
      """)
  }
}
