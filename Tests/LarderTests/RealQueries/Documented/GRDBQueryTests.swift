import Foundation
import Larder
import PostgresSupport
import Testing

extension GRDB {
  /// Queries of GRDB's documentation in Larder's types. A comment has the number of lines there. The pages:
  ///
  /// - https://github.com/groue/GRDB.swift/blob/master/README.md#requests
  /// - https://github.com/groue/GRDB.swift/blob/master/Documentation/AssociationsBasics.md
  /// - https://github.com/groue/GRDB.swift/blob/master/Documentation/CommonTableExpressions.md
  /// - https://swiftpackageindex.com/groue/grdb.swift/documentation/grdb/json
  @Suite("Queries of GRDB's documentation")
  struct GRDBQueryTests {
    let library: SQLComparison
    private var db: Database { library.db }

    init() throws { library = SQLComparison(db: try GRDB.database()) }

    @Test("GRDB: the best score of each team whose worst is high")
    func bestOfTeams() throws {
      // There: 4 lines.
      let query = Player.all.group { $0.team }.having { $0.score.min() >= 1000 }
        .select { ($0.team, $0.score.max()) }

      try library.expect(
        query, "SELECT team, max(score) FROM player GROUP BY team HAVING min(score) >= 1000")
    }

    @Test("GRDB: teams with at least two players, by the association's count")
    func largeTeams() throws {
      // There: 1 line.
      let query = Team.filter { Team.players($0).count >= 2 }.order { $0.id }

      try library.expect(
        query,
        """
        SELECT team.* FROM team LEFT JOIN player ON player.team = team.id
        GROUP BY team.id, team.name HAVING count(player.id) >= 2 ORDER BY team.id
        """)
    }

    @Test("GRDB: authors annotated with two aggregates of their books")
    func annotatedAuthors() throws {
      // There: 8 lines.
      let books = CommonTable(
        "books", Book.all.group { $0.author }.select { ($0.author, count(), $0.year.max()) })
      let query = Author.leftJoin(common: books) { $0.id == $1.columns.0 }

      try library.expect(
        query.order { author, _ in author.id },
        """
        SELECT author.*, b.* FROM author LEFT JOIN
        (SELECT author, count(*), max(year) FROM book GROUP BY author) b ON b.author = author.id
        ORDER BY author.id
        """)
    }

    @Test("GRDB: authors without books, but with paintings")
    func paintersOnly() throws {
      // There: 1 line.
      let query = Author.filter { !Author.books($0).exists && Author.paintings($0).exists }

      try library.expect(
        query,
        """
        SELECT * FROM author WHERE id NOT IN (SELECT author FROM book)
        AND id IN (SELECT author FROM painting)
        """)
    }

    @Test("GRDB: authors of at least one novel, by a filtered association")
    func novelists() throws {
      // There: 2 lines.
      let query = Author.filter { Author.books($0).filter { $0.kind == "novel" }.exists }

      try library.expect(
        query.order { $0.id },
        """
        SELECT DISTINCT author.* FROM author JOIN book ON book.author = author.id
        WHERE book.kind = 'novel' ORDER BY author.id
        """)
    }

    @Test("GRDB: books with their author, the author's country, their cover and all prizes")
    func booksWithAll() throws {
      // There: 12 lines.
      let query = Book.join(Author.self) { $0.author == $1.id }
        .leftJoin(Country.self) { $1.country == $2.code }
        .leftJoin(CoverImage.self) { $0.id == $3.book }
      let rows = try query.fetchAll(db)
      let prizes = try Book.prizes.fetchAll(db, of: rows.map(\.0))

      try library.expect(
        query.order { book, _, _, _ in book.id },
        """
        SELECT book.*, author.*, country.*, cover_image.* FROM book
        JOIN author ON author.id = book.author LEFT JOIN country ON country.code = author.country
        LEFT JOIN cover_image ON cover_image.book = book.id ORDER BY book.id
        """)
      #expect(zip(rows, prizes).first { $0.0.0.id == 1 }?.1.map(\.name) == ["Booker", "Goncourt"])
      #expect(prizes.joined().count == 3)
    }

    @Test("GRDB: chats with their latest messages, if any")
    func latestMessages() throws {
      // There: 20 lines.
      let query = Chat.leftJoin(Message.self) { chat, message in
        let later = Message.filter { $0.chat == chat.id && $0.date > message.date }
        return chat.id == message.chat && !later.exists
      }
      .order { $1.date.desc.nullsLast }

      try library.expect(
        query,
        """
        WITH latest AS (SELECT *, row_number() OVER (PARTITION BY chat ORDER BY date DESC) AS n FROM message)
        SELECT chat.*, latest.id, latest.chat, latest.text, latest.date FROM chat
        LEFT JOIN latest ON latest.chat = chat.id AND n = 1 ORDER BY latest.date DESC NULLS LAST
        """)
    }

    @Test("GRDB: a recursive table counts from 3 to 7")
    func counter() throws {
      // There: 9 lines.
      let seed = CommonTable<Int>(rows: [3]).all.select { $0.columns }
      let counter = CommonTable(recursive: "counter", seed) { counter in
        counter.all.filter { $0.columns < 7 }.select { $0.columns + 1 }
      }

      #expect(try counter.all.fetchAll(db).map(\.columns) == [3, 4, 5, 6, 7])
    }

    @Test("GRDB: an upsert adds to a count and keeps another column")
    func upsert() throws {
      try library.expectChange(
        of: "SELECT * FROM vocabulary ORDER BY word",
        """
        INSERT INTO vocabulary VALUES ('jovial', 'adjective', false, 1) ON CONFLICT (word)
        DO UPDATE SET count = vocabulary.count + 1, kind = excluded.kind
        """
      ) { db in
        // There: 7 lines.
        let new = Vocabulary(word: "jovial", kind: "adjective", isTainted: false, count: 1)
        try new.upsert(db, onConflict: Vocabulary.columns.word) { row, new in
          row.count += 1
          row.kind = new.kind
        }
      }
    }

    @Test("GRDB: players of a country that is in a JSON column")
    func germans() throws {
      // There: 3 lines.
      let query = Player.filter { $0.address["country"] == "DE" }.order { $0.id }

      try library.expect(query, "SELECT * FROM player WHERE name IN ('Anna', 'Carl') ORDER BY id")
    }
  }

  /// A database with a few rows of each table.
  fileprivate static func database() throws -> Database {
    let db = try Database.empty()
    try Country.table.create(db)
    _ = try Country(code: "FR", name: "France").inserted(db)
    try Author.table.create(db)
    let authors = [("Anne", "FR"), ("Ben", nil), ("Cleo", "XX"), ("Dora", "FR")]
    try Author.insert(
      db, contentsOf: authors.map { Author(id: nil, name: $0, country: $1) })
    try Book.table.create(db)
    let books: [(Int64, String, Int, String)] = [
      (1, "A", 1990, "novel"), (1, "B", 2011, "essay"), (2, "C", 2015, "essay"),
      (3, "D", 2001, "novel"), (3, "E", 1999, "novel"),
    ]
    try Book.insert(
      db, contentsOf: books.map { Book(id: nil, author: $0, title: $1, year: $2, kind: $3) })
    try Painting.table.create(db)
    try Painting.insert(
      db,
      contentsOf: [(1, "F"), (4, "G")].map { Painting(id: nil, author: $0, title: $1) })
    try CoverImage.table.create(db)
    _ = try CoverImage(book: 2, path: "b.jpg").inserted(db)
    try Prize.table.create(db)
    try Prize.insert(
      db,
      contentsOf: [(1, "Booker"), (4, "Nobel"), (1, "Goncourt")].map {
        Prize(id: nil, book: $0, name: $1)
      })
    try Team.table.create(db)
    try Team.insert(db, contentsOf: ["Red", "Blue", "Green"].map { Team(id: nil, name: $0) })
    try Player.table.create(db)
    let players: [(String, Int64?, Int, String)] = [
      ("Anna", 1, 1200, "DE"), ("Bob", 1, 900, "GB"), ("Carl", 2, 1000, "DE"),
      ("Dee", 2, 1500, "FR"), ("Eve", 3, 100, "FR"),
    ]
    try Player.insert(
      db,
      contentsOf: players.map {
        Player(
          id: nil, name: $0, team: $1, score: $2, address: Address(city: "X", country: $3))
      })
    try Chat.table.create(db)
    try Chat.insert(db, contentsOf: ["News", "Talk", "Empty"].map { Chat(id: nil, name: $0) })
    try Message.table.create(db)
    try Message.insert(
      db,
      contentsOf: [(1, "hello", 1), (2, "hi", 5), (1, "bye", 4), (2, "who?", 2)].map {
        Message(id: nil, chat: $0, text: $1, date: $2)
      })
    try Vocabulary.table.create(db)
    _ = try Vocabulary(word: "jovial", kind: "noun", isTainted: true, count: 4).inserted(db)
    return db
  }
}
