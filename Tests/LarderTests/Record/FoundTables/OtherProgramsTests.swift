import Foundation
import Larder
import Testing

/// Records over tables as other programs create them.
@Suite("Tables of other programs")
struct OtherProgramsTests {
  let db: Database

  init() throws { db = try Database() }

  // MARK: Django

  private struct Order: Record, Equatable {
    var id: UUID
    var total: Decimal
    var data: [String: Int]
    var count: Int
    var duration: Int64?
    var isPaid: Bool
    var created: Date
    var customer: Int64

    struct Columns: Sendable {
      let id = Column(
        "id", \Order.id, .primaryKey,
        as: ColumnCoding(
          encode: { (id: UUID) in id.uuidString.lowercased().replacing("-", with: "") },
          decode: { (text: String) in
            let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { range in
              String(text.dropFirst(range.lowerBound).prefix(range.count))
            }
            return try UUID(databaseValue: .text(parts.joined(separator: "-")))
          }))
      let total = Column("total", \Order.total)
      let data = Column("data", \Order.data, as: .json)
      let count = Column("count", \Order.count)
      let duration = Column("duration", \Order.duration)
      let isPaid = Column("is_paid", \Order.isPaid)
      let created = Column("created_at", \Order.created, as: .format(.sqlDateTime))
      let customer = Column("customer_id", \Order.customer)
    }
    static let columns = Columns()
    static let table = Table(
      "shop_order", Order.init, columns.id, columns.total, columns.data, columns.count,
      columns.duration, columns.isPaid, columns.created, columns.customer)
  }

  @Test("Django: UUIDs of 32 characters, decimals, checked JSON and unsigned integers")
  func django() throws {
    try db.executeStatements(
      """
      CREATE TABLE "auth_user" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
        "password" varchar(128) NOT NULL, "last_login" datetime NULL, "is_superuser" bool NOT NULL,
        "username" varchar(150) NOT NULL UNIQUE, "date_joined" datetime NOT NULL);
      CREATE TABLE "shop_order" ("id" char(32) NOT NULL PRIMARY KEY, "total" decimal NOT NULL,
        "data" text NOT NULL CHECK ((JSON_VALID("data") OR "data" IS NULL)),
        "count" integer unsigned NOT NULL CHECK ("count" >= 0), "duration" bigint NULL,
        "is_paid" bool NOT NULL, "created_at" datetime NOT NULL,
        "customer_id" bigint NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED);
      CREATE INDEX "shop_order_customer" ON "shop_order" ("customer_id");
      INSERT INTO auth_user VALUES (1, 'x', NULL, 0, 'ann', '2026-01-01 10:00:00');
      INSERT INTO shop_order VALUES ('0123456789abcdef0123456789abcdef', '12.50', '{"a": 1}', 2, NULL,
        1, '2026-01-01 10:00:00', 1);
      """)
    var order = try #require(try Order.fetchAll(db).first)
    #expect(try Order.find(db, order.id) == order)
    #expect(order.total == Decimal(string: "12.5"))
    #expect(order.data == ["a": 1])
    #expect(order.id.uuidString == "01234567-89AB-CDEF-0123-456789ABCDEF")
    order.total += Decimal(string: "0.01") ?? 0
    try order.update(db)
    try Order.filter { $0.total > 12 && $0.isPaid }.update(db) { $0.count += 1 }
    #expect(
      try db.executeQuery("SELECT typeof(total), total, count FROM shop_order")
        .map {
          try [$0.get(at: 0) as String, "\($0.get(at: 1) as Double)", "\($0.get(at: 2) as Int)"]
        }
        == [["real", "12.51", "3"]])
    var other = order
    other.id = UUID()
    try other.insert(db)
    other.duration = 5
    try other.save(db)
    try other.upsert(db)
    #expect(try Order.find(db, other.id) == other)
    #expect(try other.delete(db))
    // Django also writes fractions of seconds. They have another format and throw instead of being
    // misread.
    try db.executeUpdate("UPDATE shop_order SET created_at = '2026-01-01 10:00:00.123456'")
    #expect(conversionFailure { try Order.fetchAll(db) }?.column == "created_at")
  }

  private struct User: Record, Equatable {
    var id: Int64?
    var name: String
    static let columns = (Column("id", \User.id, .primaryKey), Column("username", \User.name))
    static let table = Table("auth_user", User.init, columns.0, columns.1)
  }

  @Test("Django: a record of some of a table's columns is read and updated, but not inserted")
  func partOfDjango() throws {
    try db.executeStatements(
      """
      CREATE TABLE "auth_user" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
        "password" varchar(128) NOT NULL, "username" varchar(150) NOT NULL UNIQUE);
      INSERT INTO auth_user VALUES (1, 'x', 'ann');
      """)
    var ann = try User.find(db, 1)
    ann.name = "anna"
    try ann.update(db)
    #expect(try User.fetchAll(db) == [User(id: 1, name: "anna")])
    var bob = User(id: nil, name: "bob")
    #expect(declarationProblem { try bob.insert(db) }?.contains("“password”") == true)
  }

  // MARK: Rails

  private struct Article: Record, Equatable {
    var id: Int64?
    var title: String?
    var body: String?
    var isPublished: Bool?
    var price: Decimal?
    var settings: [String: String]?
    var created: Date

    struct Columns: Sendable {
      let id = Column("id", \Article.id, .primaryKey)
      let title = Column("title", \Article.title)
      let body = Column("body", \Article.body)
      let isPublished = Column("published", \Article.isPublished)
      let price = Column("price", \Article.price)
      let settings = Column("settings", \Article.settings, as: .json)
      let created = Column("created_at", \Article.created, as: .format(.sqlDateTime))
    }
    static let columns = Columns()
    static let table = Table(
      "articles", Article.init, columns.id, columns.title, columns.body, columns.isPublished,
      columns.price, columns.settings, columns.created)
  }

  @Test("Rails: types of other engines, booleans with a default, and JSON")
  func rails() throws {
    try db.executeStatements(
      """
      CREATE TABLE "articles" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "title" varchar,
        "body" text, "published" boolean DEFAULT 0, "price" decimal(8,2), "settings" json,
        "created_at" datetime(6) NOT NULL);
      CREATE UNIQUE INDEX "index_articles_on_title" ON "articles" ("title");
      """)
    var article = Article(
      id: nil, title: "007", body: nil, isPublished: true, price: Decimal(string: "9.99"),
      settings: ["a": "b"], created: Date(timeIntervalSince1970: 86_400))
    try article.insert(db)
    #expect(article.id == 1)
    #expect(try Article.find(db, 1) == article)
    article.body = "…"
    try article.upsert(db, onConflict: Article.columns.title)
    #expect(try Article.filter { $0.title == "007" }.fetchAll(db) == [article])
    #expect(try Article.order { $0.created }.page(db, limit: 5).rows == [article])
  }

  // MARK: Core Data

  private struct CoreDataCity: Record, Equatable {
    var id: Int64?
    var entity: Int
    var version: Int
    var population: Int?
    var founded: Date?
    var name: String?
    var token: [UInt8]?

    struct Columns: Sendable {
      let id = Column("Z_PK", \CoreDataCity.id, .primaryKey)
      let entity = Column("Z_ENT", \CoreDataCity.entity)
      let version = Column("Z_OPT", \CoreDataCity.version, .version)
      let population = Column("ZPOPULATION", \CoreDataCity.population)
      let founded = Column("ZFOUNDED", \CoreDataCity.founded)
      let name = Column("ZNAME", \CoreDataCity.name)
      let token = Column("ZTOKEN", \CoreDataCity.token)
    }
    static let columns = Columns()
    static let table = Table(
      "ZCITY", CoreDataCity.init, columns.id, columns.entity, columns.version, columns.population,
      columns.founded, columns.name, columns.token)
  }

  @Test("Core Data: dates as numbers in a TIMESTAMP, and a version column")
  func coreData() throws {
    try db.executeStatements(
      """
      CREATE TABLE ZCITY ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPOPULATION INTEGER,
        ZFOUNDED TIMESTAMP, ZNAME VARCHAR, ZTOKEN BLOB );
      CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
      CREATE INDEX Z_City_byName ON ZCITY (ZNAME COLLATE BINARY ASC);
      INSERT INTO ZCITY VALUES (1, 2, 1, 709037, 599616000.5, 'Oslo', x'01');
      """)
    var oslo = try CoreDataCity.find(db, 1)
    #expect(oslo.founded == Date(timeIntervalSince1970: 599_616_000.5))
    oslo.population = nil
    oslo.founded = Date(timeIntervalSince1970: 86_400)
    try oslo.update(db)
    #expect(oslo.version == 2)
    #expect(try CoreDataCity.find(db, 1) == oslo)
    var rome = oslo
    rome.id = nil
    try rome.insert(db)
    #expect(rome.id == 2)
  }

  // MARK: GRDB

  private struct Player: Record, Equatable {
    var id: Int64?
    var name: String
    var score: Int
    var created: Date?
    var token: UUID?

    struct Columns: Sendable {
      let id = Column("id", \Player.id, .primaryKey)
      let name = Column("name", \Player.name)
      let score = Column("score", \Player.score)
      let created = Column("createdAt", \Player.created, as: .format(.sqlDateTimeMilliseconds))
      let token = Column("token", \Player.token)
    }
    static let columns = Columns()
    static let table = Table(
      "player", Player.init, columns.id, columns.name, columns.score, columns.created, columns.token
    )
  }

  @Test("GRDB: dates with milliseconds in a DATETIME, and UUIDs as blobs")
  func grdb() throws {
    try db.executeStatements(
      """
      CREATE TABLE "player" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL,
        "score" INTEGER NOT NULL DEFAULT 0, "createdAt" DATETIME, "token" BLOB UNIQUE);
      INSERT INTO player VALUES (1, 'Ann', 5, '2026-01-01 10:00:00.250', x'0123456789abcdef0123456789abcdef');
      """)
    var ann = try Player.find(db, 1)
    ann.score += 1
    try ann.update(db)
    #expect(try Player.filter { $0.token == ann.token }.fetchAll(db) == [ann])
    var bob = Player(id: nil, name: "Bob", score: 1, created: ann.created, token: nil)
    try bob.insert(db)
    #expect(bob.id == 2)
  }

  // MARK: Other programs

  private struct Blog: Record, Equatable {
    var id: Int64?
    var name: String

    struct Columns: Sendable {
      let id = Column("id", \Blog.id, .primaryKey)
      let name = Column("name", \Blog.name)
    }
    static let columns = Columns()
    static let table = Table("blog", Blog.init, columns.id, columns.name)
  }

  @Test(
    "SQLite chooses the key in tables as SQLAlchemy, Room and Entity Framework create them",
    arguments: [
      "CREATE TABLE blog (id INTEGER NOT NULL, name VARCHAR(50) NOT NULL, PRIMARY KEY (id))",
      "CREATE TABLE `blog` (`id` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, `name` TEXT NOT NULL)",
      """
      CREATE TABLE "blog" ("id" INTEGER NOT NULL CONSTRAINT "PK_blog" PRIMARY KEY AUTOINCREMENT,
        "name" TEXT NOT NULL)
      """,
      "CREATE TABLE [blog] ([id] integer PRIMARY KEY ASC, [name] nvarchar(50) COLLATE NOCASE)",
    ] as [SQL])
  func chosenKeys(_ definition: SQL) throws {
    try db.executeUpdate(definition)
    var blog = Blog(id: nil, name: "a")
    try blog.insert(db)
    #expect(blog.id == 1)
    blog.name = "b"
    try blog.save(db)
    #expect(try Blog.find(db, 1) == blog)
  }

  @Test(
    "Inserting a nil key throws in tables whose programs choose the keys",
    arguments: [
      "CREATE TABLE blog (id BIGINT NOT NULL, name VARCHAR(50) NOT NULL, PRIMARY KEY (id))",
      "CREATE TABLE blog (id INT PRIMARY KEY, name TEXT)",
      "CREATE TABLE blog (id bigint primary key, name varchar(50))",
    ] as [SQL])
  func ownKeys(_ definition: SQL) throws {
    try db.executeUpdate(definition)
    var blog = Blog(id: nil, name: "a")
    #expect(throws: (any Error).self) { try blog.insert(db) }
    #expect(try db.value("SELECT count(*) FROM blog", as: Int.self) == 0)
    blog.id = 900
    try blog.insert(db)
    blog.name = "b"
    try blog.update(db)
    #expect(try Blog.fetchAll(db) == [Blog(id: 900, name: "b")])
  }
}
