import Foundation
import Larder
import PostgresSupport
import Testing

/// Queries as the documentation of GRDB, Fluent, Active Record, SQLAlchemy and Drizzle shows them, said in
/// Larder. The page ComingFromORMs lists them beside each other. Each has to find what SQL by hand finds.
@Suite("Queries of other libraries' documentation")
struct DocumentedQueryTests {
  let db: Database

  init() throws { db = try Database.library() }

  private func same(
    _ query: some QueryStatement, _ sql: SQL, _ location: SourceLocation = #_sourceLocation
  ) throws { try SQLComparison(db: db).expect(query, sql, at: location) }

  private func sameChange(
    _ table: SQL, _ sql: SQL, _ location: SourceLocation = #_sourceLocation,
    _ change: (Database) throws -> Void
  ) throws { try SQLComparison(db: db).expectChange(of: table, sql, at: location, change) }

  private let books: SQL = "SELECT * FROM book ORDER BY id"

  @Test("GRDB: requests, filters, orders, aggregates")
  func requests() throws {
    try same(
      Writer.filter { $0.country != nil }.order { $0.id },
      "SELECT * FROM writer WHERE country IS NOT NULL ORDER BY id")
    try same(
      Writer.filter { $0.id.in([1, 3]) }.order { $0.id },
      "SELECT * FROM writer WHERE id IN (1, 3) ORDER BY id")
    try same(
      Book.order { ($0.price.desc, $0.title) }.limit(3),
      "SELECT * FROM book ORDER BY price DESC, title LIMIT 3")
    try same(
      Book.select { $0.genre }.distinct().order { $0.desc }.limit(2),
      "SELECT DISTINCT genre FROM book WHERE genre IS NOT NULL ORDER BY genre DESC LIMIT 2")
    try same(
      Book.select { ($0.price.min(), $0.price.max()) }, "SELECT min(price), max(price) FROM book")
    try same(
      Writer.filter { $0.name.like("%e%") }.order { $0.id },
      "SELECT * FROM writer WHERE lower(name) LIKE '%e%' ORDER BY id")
    try same(
      Book.filter { $0.title.length > 12 }.order { $0.id },
      "SELECT * FROM book WHERE length(title) > 12 ORDER BY id")
    try same(
      Book.all.group { $0.writer }.having { $0.price.max() > 10 }.select {
        ($0.writer, $0.price.max())
      }.order { id, _ in id },
      "SELECT writer, max(price) FROM book GROUP BY writer HAVING max(price) > 10 ORDER BY writer")
    #expect(try Book.filter { $0.price > 10 }.fetchCount(db) == 2)
    #expect(try Writer.find(db, 3).name == "Woolf")
  }

  @Test("GRDB: associations")
  func associations() throws {
    try same(
      Book.join(Writer.self) { $0.writer == $1.id }.filter { $1.country == "GB" }.order { book, _ in
        book.id
      },
      "SELECT b.*, w.* FROM book b JOIN writer w ON b.writer = w.id WHERE w.country = 'GB' ORDER BY b.id"
    )
    let all = try Writer.order { $0.id }.fetchAll(db, with: Writer.books.order { $0.year })
    #expect(all.map { $0.1.map(\.title) }.first == ["Omoo", "Moby-Dick"])
    try same(
      Writer.leftJoin(Book.self) { $0.id == $1.writer }.group { $0.0.id }.select {
        ($0.id, $1.id.count())
      }.order { id, _ in id },
      "SELECT w.id, count(b.id) FROM writer w LEFT JOIN book b ON w.id = b.writer GROUP BY w.id ORDER BY w.id"
    )
    try same(
      Book.filter { book in !Review.filter { $0.book == book.id }.exists }.order { $0.id },
      "SELECT * FROM book WHERE NOT EXISTS (SELECT 1 FROM review WHERE review.book = book.id) ORDER BY id"
    )
    try same(
      Book.filter {
        $0.writer.in(Writer.filter { $0.country == "US" }.select { $0.id.coalesce(0) })
      }.order { $0.id },
      "SELECT * FROM book WHERE writer IN (SELECT id FROM writer WHERE country = 'US') ORDER BY id")
  }

  @Test("Fluent: filters, ranges, joins, fields")
  func models() throws {
    try same(
      Book.filter { $0.genre == "poem" }.order { $0.title },
      "SELECT * FROM book WHERE genre = 'poem' ORDER BY title")
    try same(
      Writer.filter { $0.name == "Woolf" || $0.country == "PT" }.order { $0.id },
      "SELECT * FROM writer WHERE name = 'Woolf' OR country = 'PT' ORDER BY id")
    try same(
      Book.filter { $0.title.hasPrefix("The ") }.order { $0.id },
      "SELECT * FROM book WHERE title LIKE 'The %' ORDER BY id")
    try same(
      Writer.order { $0.id }.limit(3, offset: 2),
      "SELECT * FROM writer ORDER BY id LIMIT 3 OFFSET 2")
    try same(
      Book.select { ($0.id, $0.title) }.order { id, _ in id },
      "SELECT id, title FROM book ORDER BY id")
    try same(
      Writer.join(Book.self) { $0.id == $1.writer }.join(Review.self) { $1.id == $2.book }.filter {
        $2.stars == 5
      }.order { _, _, review in review.id },
      "SELECT w.*, b.*, r.* FROM writer w JOIN book b ON w.id = b.writer JOIN review r ON b.id = r.book WHERE r.stars = 5 ORDER BY r.id"
    )
    #expect(try Book.all.select { $0.price.sum() }.fetchOne(db) == 63.75)
    #expect(try Book.all.select { $0.genre.count(distinct: true) }.fetchOne(db) == 3)
    let page = try Book.order { $0.id }.page(db, limit: 5)
    #expect(
      try Book.order { $0.id }.page(db, after: page.next, limit: 5).rows.map(\.id) == [6, 7, 8])
    try sameChange(books, "UPDATE book SET genre = 'verse' WHERE genre = 'poem'") { db in
      try Book.filter { $0.genre == "poem" }.update(db) { $0.genre = "verse" }
    }
  }

  @Test("Active Record: conditions, scopes, joins")
  func relations() throws {
    try same(
      Book.filter { $0.year.in(1900...1930) }.order { $0.id },
      "SELECT * FROM book WHERE year BETWEEN 1900 AND 1930 ORDER BY id")
    try same(
      Book.filter { !$0.year.in([1851, 1928]) }.order { $0.id },
      "SELECT * FROM book WHERE year NOT IN (1851, 1928) ORDER BY id")
    try same(Book.order { $0.year.desc }.limit(1), "SELECT * FROM book ORDER BY year DESC LIMIT 1")
    try same(
      Book.all.group { $0.genre }.filter { $0.genre != nil }.select { ($0.genre, count()) }.order {
        genre, _ in genre
      }, "SELECT genre, count(*) FROM book WHERE genre IS NOT NULL GROUP BY genre ORDER BY genre")
    try same(
      Book.leftJoin(Review.self) { $0.id == $1.book }.filter { $1.id == nil }.order { book, _ in
        book.id
      }.select { book, _ in book.title },
      "SELECT b.title FROM book b LEFT JOIN review r ON b.id = r.book WHERE r.id IS NULL ORDER BY b.id"
    )
    try same(
      Book.order {
        when($0.genre == "poem", then: 1).when($0.genre == "essay", then: 2).otherwise(3)
      }.order { $0.id },
      "SELECT * FROM book ORDER BY CASE WHEN genre = 'poem' THEN 1 WHEN genre = 'essay' THEN 2 ELSE 3 END, id"
    )
    #expect(try Writer.filter { $0.name == "Eliot" }.fetchOne(db)?.id == 4)
    #expect(try Book.all.select { $0.price.average() }.fetchOne(db) == 63.75 / 8)
    try sameChange(
      "SELECT * FROM review ORDER BY id",
      "DELETE FROM review WHERE book IN (SELECT id FROM book WHERE price > 10)"
    ) { db in
      try Review.join(Book.self) { $0.book == $1.id }.filter { $1.price > 10 }.delete(db)
    }
    let recent = CommonTable(
      "recent", Book.filter { $0.year > 1900 }.select { ($0.writer, $0.title) })
    try same(
      Writer.all.join(common: recent) { $0.id == $1.columns.0 }.select { ($0.name, $1.columns.1) }
        .order { _, title in title },
      "WITH recent AS (SELECT writer, title FROM book WHERE year > 1900) SELECT w.name, r.title FROM writer w JOIN recent r ON w.id = r.writer ORDER BY r.title"
    )
  }

  @Test("SQLAlchemy: subqueries, windows, aliases, recursion, unions")
  func selects() throws {
    try same(
      Book.select { ($0.title, rowNumber().over(partitionBy: $0.writer, orderBy: $0.year)) }.order {
        title, _ in title
      },
      "SELECT title, row_number() OVER (PARTITION BY writer ORDER BY year) FROM book ORDER BY title"
    )
    try same(
      Book.select { ($0.id, $0.price.sum().over(orderBy: $0.id)) }.order { id, _ in id },
      "SELECT id, sum(price) OVER (ORDER BY id) FROM book ORDER BY id")
    try same(
      Writer.select { writer in
        (writer.name, first(of: Book.filter { $0.writer == writer.id }.select { _ in count() }))
      }.order { name, _ in name },
      "SELECT name, (SELECT count(*) FROM book WHERE book.writer = writer.id) FROM writer ORDER BY name"
    )
    try same(
      Book.select { ($0.id, when($0.price > 10, then: "dear").otherwise("cheap")) }.order { id, _ in
        id
      },
      "SELECT id, CASE WHEN price > 10 THEN 'dear' ELSE 'cheap' END FROM book ORDER BY id")
    try same(
      Writer.join(Writer.self) { $0.mentor == $1.id && $0.mentor != nil }.select {
        ($0.name, $1.name)
      }.order { pupil, _ in pupil },
      "SELECT w.name, m.name FROM writer w JOIN writer m ON w.mentor = m.id ORDER BY w.name")
    try same(
      Writer.select { $0.name }.union(all: Book.filter { $0.year < 1900 }.select { $0.title })
        .order(byColumn: 1),
      "SELECT name FROM writer UNION ALL SELECT title FROM book WHERE year < 1900 ORDER BY 1")
    let pupils = CommonTable(
      recursive: "pupils", Writer.filter { $0.name == "Woolf" }.select { ($0.id, $0.name) }
    ) { pupils in
      Writer.all.join(common: pupils) { $0.mentor == $1.columns.0 && $0.mentor != nil }.select {
        writer, _ in (writer.id, writer.name)
      }
    }
    try same(
      pupils.all.order { $0.columns.0 },
      "WITH RECURSIVE p(id, name) AS (SELECT id, name FROM writer WHERE name = 'Woolf' UNION ALL SELECT w.id, w.name FROM writer w JOIN p ON w.mentor = p.id) SELECT * FROM p ORDER BY id"
    )
    try same(
      Book.filter { $0.price > first(of: Book.select { $0.price.average() }) }.order { $0.id },
      "SELECT * FROM book WHERE price > (SELECT avg(price) FROM book) ORDER BY id")
    try same(
      Book.select { ($0.id, $0.year.cast(to: String.self)) }.order { id, _ in id },
      "SELECT id, CAST(year AS TEXT) FROM book ORDER BY id")
    try same(
      Book.all.group { $0.genre }.having { count() > 1 }.select {
        ($0.genre, $0.price.sum(), count().filter(where: $0.price > 9))
      }.order { genre, _, _ in genre },
      "SELECT genre, sum(price), count(*) FILTER (WHERE price > 9) FROM book GROUP BY genre HAVING count(*) > 1 ORDER BY genre"
    )
  }

  @Test("SQLAlchemy: changes with expressions, other tables and returned rows")
  func changes() throws {
    try sameChange(books, "UPDATE book SET title = 'Title: ' || title, price = price * 2") { db in
      try Book.all.update(db) {
        $0.title = "Title: " + $0.title; $0.price *= 2
      }
    }
    try sameChange(
      books,
      "UPDATE book SET genre = (SELECT country FROM writer WHERE writer.id = book.writer) WHERE writer IN (SELECT id FROM writer WHERE name > 'M')"
    ) { db in
      try Book.join(Writer.self) { $0.writer == $1.id }.filter { $1.name > "M" }.update(db) {
        $0.genre = $1.country
      }
    }
    try sameChange(
      books,
      "INSERT INTO book (id, writer, title, year, price) SELECT id + 100, writer, title, year, price FROM book WHERE genre = 'poem'"
    ) { db in
      try Book.insert(
        db, Book.columns.id, Book.columns.writer, Book.columns.title, Book.columns.year,
        Book.columns.price,
        from: Book.filter { $0.genre == "poem" }.select {
          ($0.id + 100, $0.writer, $0.title, $0.year, $0.price)
        })
    }
    try sameChange(books, "DELETE FROM book WHERE genre IS NULL") { db in
      let titles = try Book.filter { $0.genre == nil }.deleted(db, returning: { $0.title })
      #expect(titles == ["Beowulf"])
    }
    try sameChange(
      "SELECT * FROM writer ORDER BY id",
      "INSERT INTO writer VALUES (7, 'Woolf', 'IE', NULL) ON CONFLICT (name) DO UPDATE SET country = excluded.country"
    ) { db in
      try Writer(id: 7, name: "Woolf", country: "IE").upsert(
        db, onConflict: Writer.columns.name, updating: Writer.columns.country)
    }
  }

  @Test("Drizzle: operators, DISTINCT ON, raw SQL, locks")
  func tables() throws {
    try same(
      Book.filter { $0.year >= 1850 && $0.price < 9 && $0.genre != nil }.order { $0.id },
      "SELECT * FROM book WHERE year >= 1850 AND price < 9 AND genre IS NOT NULL ORDER BY id")
    try same(
      Book.order { ($0.writer, $0.price.desc) }.distinct { $0.writer },
      "SELECT * FROM book WHERE id IN (1, 3, 4, 6, 7, 8) ORDER BY writer, price DESC")
    try same(
      Book.select { ($0.id, SQLExpression<String>(sql: "lower(\($0.title.sql))")) }.order { id, _ in
        id
      }, "SELECT id, lower(title) FROM book ORDER BY id")
    try same(
      Writer.select { ($0.id, $0.country.coalesce("?")) }.order { id, _ in id },
      "SELECT id, coalesce(country, '?') FROM writer ORDER BY id")
    try same(
      Writer.select { $0.id.coalesce(0) }.except(Book.filter { $0.price > 9 }.select { $0.writer })
        .order(byColumn: 1),
      "SELECT id FROM writer EXCEPT SELECT writer FROM book WHERE price > 9 ORDER BY 1")
    try sameChange(
      "SELECT * FROM review ORDER BY id", "UPDATE review SET text = 'taken' WHERE id IN (2, 4)"
    ) { db in
      let taken = try Review.filter { $0.text == nil }.order { $0.stars.desc }.claim(db, limit: 5) {
        $0.text = "taken"
      }
      #expect(taken.map(\.id) == [4, 2])
    }
  }
}
