import Foundation
import Larder
import Testing

@Suite("Chinook: sales over time")
struct ChinookTimeTests {
  private typealias Customer = Chinook.Customer
  private typealias Invoice = Chinook.Invoice

  private let chinook: ShellComparison

  init() throws { chinook = try Chinook.database() }

  @Test("Chinook: sales by month, as in the shell")
  func months() throws {
    let query = Invoice.all.group { ($0.date.year, $0.date.month) }
      .order { [$0.date.year.asc, $0.date.month.asc] }
      .select { ($0.date.year, $0.date.month, count(), $0.total.sum(), $0.total.max()) }
    try chinook.expect(
      query,
      """
      SELECT CAST(strftime('%Y', InvoiceDate) AS INTEGER), CAST(strftime('%m', InvoiceDate) AS INTEGER),
      count(*), sum(Total), max(Total) FROM Invoice GROUP BY 1, 2 ORDER BY 1, 2
      """)
  }

  @Test("Chinook: sales by year and country with at least three invoices, as in the shell")
  func yearsAndCountries() throws {
    let query = Invoice.all.group { ($0.date.year, $0.billingCountry) }
      .select { ($0.date.year, $0.billingCountry, count(), $0.total.sum()) }
      .having { _, _, number, _ in number >= 3 }
      .order { _, _, _, total in total.desc }.order { year, _, _, _ in year }
      .order { _, country, _, _ in country }
    try chinook.expect(
      query,
      """
      SELECT strftime('%Y', InvoiceDate) + 0 AS Year, BillingCountry, count(*), sum(Total)
      FROM Invoice GROUP BY Year, BillingCountry HAVING count(*) >= 3
      ORDER BY round(sum(Total), 2) DESC, Year, BillingCountry
      """)
  }

  @Test("Chinook: the running total of each customer, by a window, as in the shell")
  func runningTotals() throws {
    let query = Invoice.all.select {
      (
        $0.customer, $0.date, $0.total,
        $0.total.sum().over(partitionBy: $0.customer, orderBy: $0.date.asc, $0.id.asc)
      )
    }.order { customer, _, _, _ in customer }.order { _, date, _, _ in date }
    try chinook.expect(
      query,
      """
      SELECT CustomerId, InvoiceDate, Total,
      sum(Total) OVER (PARTITION BY CustomerId ORDER BY InvoiceDate, InvoiceId)
      FROM Invoice ORDER BY CustomerId, InvoiceDate
      """)
  }

  @Test("Chinook: invoices between two dates in some countries, as in the shell")
  func between() throws {
    let (first, last) = (
      Date(timeIntervalSince1970: 1_262_304_000), Date(timeIntervalSince1970: 1_277_942_399)
    )
    let query = Invoice.filter {
      $0.date.between(first...last) && $0.billingCountry.in(["Norway", "France", "Brazil"])
    }.order { $0.date }
    try chinook.expect(
      query,
      """
      SELECT InvoiceId, CustomerId, InvoiceDate, BillingCountry, CAST(Total AS TEXT)
      FROM Invoice WHERE InvoiceDate BETWEEN '2010-01-01 00:00:00' AND '2010-06-30 23:59:59'
      AND BillingCountry IN ('Norway', 'France', 'Brazil') ORDER BY InvoiceDate
      """)
  }

  @Test("Chinook: each customer's first and last invoice, mapped to a struct, as in the shell")
  func firstAndLast() throws {
    struct Span {
      var email: String
      var first: Date?
      var last: Date?
      var count: Int
    }
    let query = Customer.leftJoin(Invoice.self) { $0.id == $1.customer }
      .group { $0.0.id }.order { $0.0.email }
      .select(Span.init) { ($0.email, $1.date.min(), $1.date.max(), $1.id.count()) }
    try chinook.expect(
      query.fetchAll(chinook.db).map { [$0.email, $0.first, $0.last, $0.count] },
      """
      SELECT c.Email, min(i.InvoiceDate), max(i.InvoiceDate), count(i.InvoiceId) FROM Customer c
      LEFT JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY c.CustomerId ORDER BY c.Email
      """)
  }

  @Test("Chinook: invoices of each year as columns, by filtered aggregates, as in the shell")
  func pivot() throws {
    let query = Invoice.all.group { $0.billingCountry }.select { invoice in
      let year = invoice.date.year
      return (
        invoice.billingCountry, count().filter(where: year == 2009),
        count().filter(where: year == 2010),
        invoice.total.sum().filter(where: year == 2010).coalesce(0),
        when(year == 2011, then: 1).otherwise(0).sum()
      )
    }.order { country, _, _, _, _ in country }
    try chinook.expect(
      query,
      """
      SELECT BillingCountry, count(*) FILTER (WHERE strftime('%Y', InvoiceDate) = '2009'),
      count(*) FILTER (WHERE strftime('%Y', InvoiceDate) = '2010'),
      coalesce(sum(Total) FILTER (WHERE strftime('%Y', InvoiceDate) = '2010'), 0),
      sum(CASE WHEN strftime('%Y', InvoiceDate) = '2011' THEN 1 ELSE 0 END)
      FROM Invoice GROUP BY BillingCountry ORDER BY BillingCountry
      """)
  }

  @Test("Chinook: each month's growth over the month before, by lag, as in the shell")
  func growth() throws {
    let months = CommonTable(
      "months",
      Invoice.all.group { $0.date.strftime("%Y-%m") }
        .select { ($0.date.strftime("%Y-%m"), $0.total.sum()) })
    let query = months.all.select {
      let (month, total) = $0.columns
      return (month, total, total - total.lag().over(orderBy: month.asc))
    }.order { month, _, _ in month }
    try chinook.expect(
      query,
      """
      WITH months(m, t) AS (SELECT strftime('%Y-%m', InvoiceDate), sum(Total) FROM Invoice GROUP BY 1)
      SELECT m, t, round(t - lag(t) OVER (ORDER BY m), 2) FROM months ORDER BY m
      """)
  }
}
