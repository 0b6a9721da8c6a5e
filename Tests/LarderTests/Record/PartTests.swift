import Foundation
import Larder
import PostgresSupport
import Testing

/// A book with all of its columns.
private struct Volume: Record {
  var id: Int64?
  var title: String
  var author: String
  var printed: Date
  var tags: [String]
  var text: String?
  var version: Int

  struct Columns: Sendable {
    let id = Column("id", \Volume.id, .primaryKey)
    let title = Column("title", \Volume.title)
    let author = Column("author", \Volume.author, .indexed)
    let printed = Column("printed", \Volume.printed, as: .unixMilliseconds)
    let tags = Column("tags", \Volume.tags, as: .json)
    let text = Column("text", \Volume.text)
    let version = Column("version", \Volume.version, .version)
  }
  static let columns = Columns()
  static let table = Table(
    "book", Volume.init, columns.id, columns.title, columns.author, columns.printed, columns.tags,
    columns.text, columns.version)
}

/// A book without its text.
private struct BookHead: Record, Equatable {
  let id: Int64?
  var title: String
  var printed: Date
  var tags: [String]
  var version: Int

  struct Columns: Sendable {
    let id = Column(Volume.columns.id, \BookHead.id)
    let title = Column(Volume.columns.title, \BookHead.title)
    let printed = Column(Volume.columns.printed, \BookHead.printed)
    let tags = Column(Volume.columns.tags, \BookHead.tags)
    let version = Column(Volume.columns.version, \BookHead.version)
  }
  static let columns = Columns()
  static let table = Table(
    of: Volume.self, BookHead.init, columns.id, columns.title, columns.printed, columns.tags,
    columns.version)
}

private struct Author: Record {
  var name: String
  var country: String

  struct Columns: Sendable {
    let name = Column("name", \Author.name, .primaryKey)
    let country = Column("country", \Author.country)
  }
  static let columns = Columns()
  static let table = Table("author", Author.init, columns.name, columns.country)
}

@Suite("Parts of records")
struct PartTests {
  private let db: Database
  private let day = Date(timeIntervalSince1970: 86_400)

  init() throws {
    db = try .empty()
    try Volume.table.create(db)
    try Author.table.create(db)
    _ = try Author(name: "Ibsen", country: "NO").inserted(db)
    _ = try Author(name: "Goethe", country: "DE").inserted(db)
    for (title, author) in [("Peer Gynt", "Ibsen"), ("Brand", "Ibsen"), ("Faust", "Goethe")] {
      _ = try Volume(
        id: nil, title: title, author: author, printed: day, tags: ["play"], text: "long",
        version: 0
      ).inserted(db)
    }
  }

  @Test("A part is selected by the columns of the whole record, with its own columns and codings")
  func selecting() throws {
    let query = Volume.filter { $0.author == "Ibsen" }.order { $0.title }.select(BookHead.self)
    #expect(
      query.sql.text == """
        SELECT "book"."id", "book"."title", "book"."printed", "book"."tags", "book"."version" \
        FROM "book" WHERE "book"."author" = ? ORDER BY "book"."title"
        """)
    let heads = try query.fetchAll(db)
    #expect(heads.map(\.title) == ["Brand", "Peer Gynt"])
    #expect(heads.allSatisfy { $0.printed == day && $0.tags == ["play"] })
    #expect(try query.fetchOne(db)?.title == "Brand")
    #expect(try query.limit(1, offset: 1).fetchAll(db).map(\.title) == ["Peer Gynt"])
    var titles: [String] = []
    try query.forEach(db) { titles.append($0.title) }
    #expect(titles == ["Brand", "Peer Gynt"])
    #expect(try Volume.select(BookHead.self).fetchAll(db).count == 3)
    let page = try query.page(db, limit: 1)
    #expect(page.rows.map(\.title) == ["Brand"])
    #expect(try query.page(db, after: page.next, limit: 1).rows.map(\.title) == ["Peer Gynt"])
  }

  @Test("A part is read by its own table, found by its key, and selected from a join")
  func joining() throws {
    #expect(try BookHead.find(db, 3).title == "Faust")
    #expect(try BookHead.filter { $0.title.hasPrefix("P") }.fetchAll(db).count == 1)
    let joined = Volume.join(Author.self) { $0.author == $1.name }.filter { $1.country == "NO" }
    let ordered = joined.order { book, _ in book.title }
    #expect(try ordered.select(BookHead.self).fetchAll(db).map(\.title) == ["Brand", "Peer Gynt"])
    #expect(try joined.select(Author.self).distinct().fetchAll(db).map(\.name) == ["Ibsen"])
    let inner = Author.filter { author in
      Volume.filter { $0.author == author.name && $0.title == "Faust" }.select(BookHead.self).exists
    }
    #expect(try inner.fetchAll(db).map(\.name) == ["Goethe"])
    #expect(throws: DatabaseError.self) { try Author.select(BookHead.self).fetchAll(db) }
  }

  @Test("A record is selected with a value or several values beside it")
  func beside() throws {
    let longer = Volume.order { $0.id }
      .select(Volume.self) { ($0.title + "!", $0.printed, $0.tags) }
    let rows = try longer.fetchAll(db)
    #expect(rows.map(\.0.title) == ["Peer Gynt", "Brand", "Faust"])
    #expect(rows.map(\.1) == ["Peer Gynt!", "Brand!", "Faust!"])
    #expect(rows.allSatisfy { $0.0.printed == day && $0.2 == day && $0.3 == ["play"] })
    #expect(
      Author.select(Author.self) { $0.country.lowercased }.sql.text == """
        SELECT "author"."name", "author"."country", lower("author"."country") FROM "author"
        """)
    let one = Volume.order { $0.title }.select(BookHead.self) { $0.version * 2 + 3 }
    #expect(
      try one.fetchAll(db).map { "\($0.0.title) \($0.1)" } == ["Brand 3", "Faust 3", "Peer Gynt 3"])
    #expect(try one.fetchOne(db).map { "\($0.0.title) \($0.1)" } == "Brand 3")
    #expect(try one.fetchOne(db)?.1 == 3)
    #expect(try one.limit(1, offset: 1).fetchAll(db).map(\.0.title) == ["Faust"])
    var titles: [String] = []
    try one.forEach(db) { head, _ in titles.append(head.title) }
    #expect(titles == ["Brand", "Faust", "Peer Gynt"])
    let page = try one.page(db, limit: 2)
    #expect(page.rows.map(\.0.title) == ["Brand", "Faust"])
    #expect(try one.page(db, after: page.next, limit: 2).rows.map(\.0.title) == ["Peer Gynt"])
  }

  @Test("The rows of a record with a value beside it are sorted and mapped in the same statement")
  func besideInChains() throws {
    let sorted = try Volume.select(BookHead.self) { $0.title.length * 2 }.fetchAll(db)
      .sorted { $0.1 < $1.1 }.map { ($0.0.title, $0.1) }
    #expect(sorted.map(\.1) == [10, 10, 18])
    let joined = try Volume.join(Author.self) { $0.author == $1.name }.order { book, _ in book.id }
      .select(Volume.self) { _, author in author.country }.fetchAll(db).map { $0.0.title + $0.1 }
    #expect(joined == ["Peer GyntNO", "BrandNO", "FaustDE"])
    var long: [String] = []
    try Author.order { $0.name }.select(Author.self) { $0.name.length }
      .forEach(db) { author, length in if length > 5 { long.append(author.name) } }
    #expect(long == ["Goethe"])
  }

  @Test("A record is selected from a grouped join with the number of the other table's rows")
  func counts() throws {
    _ = try Author(name: "Nobody", country: "NO").inserted(db)
    let counts = Author.leftJoin(Volume.self) { $0.name == $1.author }
      .group { author, _ in author.name }.order { author, _ in author.name }
      .select(Author.self) { _, book in (book.id.count(), book.title.max()) }
    let rows = try counts.fetchAll(db)
    #expect(rows.map(\.0.name) == ["Goethe", "Ibsen", "Nobody"])
    #expect(rows.map(\.1) == [1, 2, 0])
    #expect(rows.map(\.2) == ["Faust", "Peer Gynt", nil])
    let related = Author.order { $0.name }.select(Author.self) { author in
      Volume.filter { $0.author == author.name }.count
    }
    #expect(try related.fetchAll(db).map(\.1) == [1, 2, 0])
  }

  @Test(
    "The error of a value beside a record has the column's position in the whole row",
    .onlySQLite(.anyTyped))
  func besideErrors() throws {
    try db.executeUpdate("UPDATE book SET tags = 'no JSON' WHERE title = 'Brand'")
    let beside = Volume.order { $0.id }.select(Author.self) { ($0.title, $0.tags) }
    let error = failure(ConversionError.self) {
      try Volume.join(Author.self) { $0.author == $1.name }.order { book, _ in book.id }
        .select(Author.self) { book, _ in (book.title, book.tags) }.fetchAll(db)
    }
    #expect(error?.index == 3 && error?.column == "tags")
    #expect(throws: DatabaseError.self) { try beside.fetchAll(db) }
    #expect(!db.hasOpenStatements)
  }

  @Test("Updating a part writes its own columns only, and raises the version")
  func updating() throws {
    var head = try BookHead.find(db, 1)
    try Volume.filter { $0.id == 1 }.update(db) { $0.text = "longer" }
    head.version = try BookHead.find(db, 1).version
    head.title = "Peer"
    head.tags = ["play", "verse"]
    try head.update(db)
    let book = try Volume.find(db, 1)
    #expect(book.title == "Peer" && book.tags == ["play", "verse"] && book.text == "longer")
    #expect(book.author == "Ibsen" && book.version == head.version)
    #expect(
      BookHead.table.updateSQL == """
        UPDATE "book" SET "title" = :title, "printed" = :printed, "tags" = :tags, \
        "version" = "version" + 1 WHERE "id" = :id AND "version" = :version
        """)
    try Volume.filter { $0.id == 1 }.update(db) { $0.text = nil }
    #expect(throws: RecordError.self) { try head.update(db) }
    try BookHead.find(db, 2).delete(db)
    #expect(try Volume.all.fetchCount(db) == 2)
    #expect(try BookHead.filter { $0.title == "Faust" }.update(db) { $0.title = "Faust I" } == 1)
  }

  @Test("A part can't be inserted, and neither creates nor compares the table")
  func refusals() throws {
    var head = BookHead(id: nil, title: "Nora", printed: day, tags: [], version: 0)
    func refuses(_ body: () throws -> Void) {
      let error = #expect(throws: RecordError.self) { try body() }
      #expect("\(String(describing: error))".contains("only some of its columns"))
    }
    refuses { try head.insert(db) }
    refuses { _ = try head.inserted(db) }
    refuses { try head.insert(db, or: .ignore) }
    refuses { try head.save(db) }
    refuses { try head.upsert(db) }
    refuses { try head.upsert(db) { $0.title = $1.title } }
    refuses { try BookHead.insert(db, contentsOf: [head]) }
    refuses { _ = try BookHead.inserted(db, contentsOf: [head]) }
    refuses { try BookHead.upsert(db, contentsOf: [head]) }
    refuses {
      try BookHead.insert(db, BookHead.columns.title, from: Volume.select { $0.title })
    }
    refuses { try BookHead.table.create(db) }
    refuses { try BookHead.table.drop(db) }
    refuses { _ = try BookHead.table.differences(db) }
    #expect(try Volume.all.fetchCount(db) == 3)
    var known = try BookHead.find(db, 1)
    known.title = "Peer"
    try known.save(db)
    #expect(try Volume.find(db, 1).title == "Peer")
  }

  @Test("A part without the whole key or with another column is refused")
  func declarations() throws {
    struct Untold: Record {
      var title: String

      struct Columns: Sendable { let title = Column(Volume.columns.title, \Untold.title) }
      static let columns = Columns()
      static let table = Table(of: Volume.self, Untold.init, columns.title)
    }
    struct Stranger: Record {
      var id: Int64?
      var name: String

      struct Columns: Sendable {
        let id = Column(Volume.columns.id, \Stranger.id)
        let name = Column("name", \Stranger.name)
      }
      static let columns = Columns()
      static let table = Table(of: Volume.self, Stranger.init, columns.id, columns.name)
    }
    struct Unversioned: Record {
      var id: Int64?
      var title: String

      struct Columns: Sendable {
        let id = Column(Volume.columns.id, \Unversioned.id)
        let title = Column(Volume.columns.title, \Unversioned.title)
      }
      static let columns = Columns()
      static let table = Table(of: Volume.self, Unversioned.init, columns.id, columns.title)
    }
    for (body, words) in [
      ({ _ = try Volume.select(Untold.self).fetchAll(db) }, "lacks “id”"),
      ({ _ = try Stranger.fetchAll(db) }, "isn't a column of Volume"),
      ({ _ = try Unversioned.fetchAll(db) }, "lacks “version”"),
    ] as [(() throws -> Void, String)] {
      let error = #expect(throws: RecordError.self) { try body() }
      #expect("\(String(describing: error))".contains(words), "\(String(describing: error))")
    }
  }

  @Test("A part is selected of a table that has another name in the query")
  func aliased() throws {
    let alone = Volume.aliased("v").filter { $0.author == "Ibsen" }.order { $0.title.desc }
    #expect(try alone.select(BookHead.self).fetchAll(db).map(\.title) == ["Peer Gynt", "Brand"])
    let joined = Volume.aliased("v").join(Author.self) { $0.author == $1.name }
      .filter { _, author in author.country == "DE" }
    #expect(try joined.select(BookHead.self).fetchAll(db).map(\.title) == ["Faust"])
    #expect(
      try joined.select(BookHead.self) { _, author in author.country }.fetchAll(db).map(\.1)
        == ["DE"])
    // The first mention, also where only the second has the table's own name.
    let pairs = Volume.aliased("v").join(Volume.self) {
      $0.author == $1.author && $0.title != $1.title
    }
    .order { first, _ in first.title }
    #expect(try pairs.select(BookHead.self).fetchAll(db).map(\.title) == ["Brand", "Peer Gynt"])
    // Books of the same table name that stand in the query for another record.
    #expect(throws: DatabaseError.self) {
      try Author.aliased("book").select(BookHead.self).fetchAll(db)
    }
  }
}
