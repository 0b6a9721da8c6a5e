import Larder
import PostgresSupport
import Testing

private struct Feed: Record {
  var id: Int64?
  var url: String
  var title: String

  struct Columns: Sendable {
    let id = Column("id", \Feed.id, .primaryKey)
    let url = Column("url", \Feed.url, .unique)
    let title = Column("title", \Feed.title)
  }
  static let columns = Columns()
  static let table = Table("feed", Feed.init, columns.id, columns.url, columns.title)
}

private struct Author: Record {
  var id: Int64?
  var name: String

  struct Columns: Sendable {
    let id = Column("id", \Author.id, .primaryKey)
    let name = Column("name", \Author.name, .unique)
  }
  static let columns = Columns()
  static let table = Table("author", Author.init, columns.id, columns.name)
}

private enum Kind: String, DatabaseValueConvertible { case article, video, audio }

private struct Entry: Record, Equatable {
  var id: Int64?
  var feed: Int64
  var guid: String
  var title: String
  var content: String
  var published: Int64
  var kind: Kind
  var author: Int64?
  var words: Int

  struct Columns: Sendable {
    let id = Column("id", \Entry.id, .primaryKey)
    let feed = Column("feed", \Entry.feed, .references(Feed.self, onDelete: .cascade))
    let guid = Column("guid", \Entry.guid)
    let title = Column("title", \Entry.title)
    let content = Column("content", \Entry.content)
    let published = Column("published", \Entry.published)
    let kind = Column("kind", \Entry.kind, .default(.article), .sqlType(postgres: "kind"))
    let author = Column("author_id", \Entry.author, .references(Author.self))
    let words = Column("words", \Entry.words)
  }
  static let columns = Columns()
  static let table = Table(
    "entry", Entry.init, columns.id, columns.feed, columns.guid, columns.title, columns.content,
    columns.published, columns.kind, columns.author, columns.words,
    constraints: [.unique(columns.feed, columns.guid)],
    indexes: [.index(columns.feed, columns.published)])
}

private struct Account: Record {
  var id: Int64?
  var email: String

  struct Columns: Sendable {
    let id = Column("id", \Account.id, .primaryKey)
    let email = Column("email", \Account.email, .unique)
  }
  static let columns = Columns()
  static let table = Table("account", Account.init, columns.id, columns.email)
}

private struct State: Record {
  var account: Int64
  var entry: Int64
  var read: Bool
  var starred: Bool

  struct Columns: Sendable {
    let account = Column(
      "account", \State.account, .primaryKey, .references(Account.self, onDelete: .cascade))
    let entry = Column(
      "entry", \State.entry, .primaryKey, .references(Entry.self, onDelete: .cascade))
    let read = Column("read", \State.read)
    let starred = Column("starred", \State.starred, .default(false))
  }
  static let columns = Columns()
  static let table = Table(
    "state", State.init, columns.account, columns.entry, columns.read, columns.starred)
}

private struct Tag: Record {
  var entry: Int64
  var name: String

  struct Columns: Sendable {
    let entry = Column(
      "entry", \Tag.entry, .primaryKey, .references(Entry.self, onDelete: .cascade))
    let name = Column("name", \Tag.name, .primaryKey, .indexed)
  }
  static let columns = Columns()
  static let table = Table("tag", Tag.init, columns.entry, columns.name)
}

@Suite("Five versions of a feed reader")
struct FeedReaderTests {
  /// A database of the first version, with rows.
  private func firstVersion() throws -> Database {
    let db = try Database.empty()
    try Migrator([FeedReader.migrator.migrations[0]]).migrate(db)
    try db.executeUpdate("INSERT INTO feed (url, title) VALUES ('https://a.example/feed', NULL)")
    for (number, author) in ["Ann", nil, "Bo", "Ann"].enumerated() {
      let isRead = number % 2 == 0
      try db.executeUpdate(
        """
        INSERT INTO item (feed, guid, title, body, author, published, read, draft) VALUES (1,
          \("g\(number)"), \("Title \(number)"), \("one two three four \(number)"), \(author),
          \("2024-05-0\(number + 1)T10:00:00Z"), \(isRead), 'x')
        """)
    }
    return db
  }

  @Test(
    "The steps of five versions end with the records' schema, and with the data moved and converted"
  )
  func migrating() throws {
    let db = try firstVersion()
    try FeedReader.migrator.migrate(db)
    for record in [Feed.self, Author.self, Entry.self, Account.self, State.self, Tag.self]
      as [any Record.Type]
    {
      #expect(try Schema(db).table("entry") != nil)
      #expect(try differences(of: record, db) == [])
    }
    let entries = try Entry.order { $0.id }.fetchAll(db)
    let authors = try Author.order { $0.id }.fetchAll(db)
    #expect(authors.map(\.name) == ["Ann", "Bo"])
    #expect(
      entries.map(\.author) == [authors[0].id, nil, authors[1].id, authors[0].id])
    #expect(entries.map(\.published) == (0..<4).map { 1_714_557_600_000 + $0 * 86_400_000 })
    #expect(entries.allSatisfy { $0.words == 5 && $0.kind == .article })
    #expect(entries[3].content == "one two three four 3")
    #expect(try Feed.find(db, 1).title == "https://a.example/feed")
    #expect(
      try State.order { $0.entry }.fetchAll(db).map { [$0.read, $0.starred] } == [
        [true, false], [false, false], [true, false], [false, false],
      ])
    #expect(
      try db.executeQuery("SELECT entry FROM unread ORDER BY 1").map { try $0.get(at: 0) } == [
        2, 4,
      ])
  }

  private func differences(of record: (some Record).Type, _ db: Database) throws -> [String] {
    try record.table.differences(db).map(\.description)
  }

  @Test("A new database gets the same schema as one with rows of the first version")
  func fresh() throws {
    let old = try firstVersion()
    let new = try Database.empty()
    for db in [old, new] { try FeedReader.migrator.migrate(db) }
    #expect(try Schema(new).differences(from: Schema(old)) == [])
    #expect(try Entry.all.fetchCount(new) == 0)
  }

  @Test("Versions whose steps are reversible can be undone; others throw before anything is undone")
  func down() throws {
    let db = try firstVersion()
    try FeedReader.migrator.migrate(db)
    let names = FeedReader.migrator.migrations.map(\.name)
    // The last two only add and fill.
    try FeedReader.migrator.migrate(db, downTo: names[3])
    #expect(try !db.columnExists("words", in: "entry"))
    #expect(try !db.tableExists("unread"))
    #expect(try db.indexes(of: "entry").contains { $0.name == "entry_feed_index" })
    let error = #expect(throws: MigrationError.self) {
      try FeedReader.migrator.migrate(db, downTo: names[0])
    }
    guard case .irreversible(let name) = error else {
      Issue.record("\(error as Any)")
      return
    }
    #expect(name == names[3])
    try FeedReader.migrator.migrate(db)
    #expect(try differences(of: Entry.self, db) == [])
  }
}
