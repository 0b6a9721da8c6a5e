import Larder
import TestSupport
import PostgresSupport
import Testing

/// Compares associations of random data with the same computed in Swift.
@Suite("Random associations")
struct RandomAssociationTests {
  struct Shelf: Record, Equatable {
    var code: String
    var rank: Int
    struct Columns: Sendable {
      let code = Column("code", \Shelf.code, .primaryKey)
      let rank = Column("rank", \Shelf.rank)
    }
    static let columns = Columns()
    static let table = Table("shelf", Shelf.init, columns.code, columns.rank)
    static let books = HasMany(columns.code, Book.columns.shelf)
    static let readers = HasManyThrough(
      columns.code, Book.columns.shelf, Book.columns.reader, Reader.columns.id)
  }

  struct Book: Record, Equatable {
    var id: Int
    var shelf: String?
    var reader: Int?
    var size: Double
    struct Columns: Sendable {
      let id = Column("id", \Book.id, .primaryKey)
      let shelf = Column("shelf", \Book.shelf)
      let reader = Column("reader", \Book.reader)
      let size = Column("size", \Book.size)
    }
    static let columns = Columns()
    static let table = Table(
      "book", Book.init, columns.id, columns.shelf, columns.reader, columns.size)
    static let onShelf = BelongsTo(columns.shelf, Shelf.columns.code)
  }

  struct Reader: Record, Equatable {
    var id: Int
    var age: Int
    struct Columns: Sendable {
      let id = Column("id", \Reader.id, .primaryKey)
      let age = Column("age", \Reader.age)
    }
    static let columns = Columns()
    static let table = Table("reader", Reader.init, columns.id, columns.age)
    static let books = HasMany(columns.id, Book.columns.reader)
  }

  struct Library {
    let db = Result { try Database.empty() }
    var shelves: [Shelf] = []
    var books: [Book] = []
    var readers: [Reader] = []
    /// Maps texts that are equal by the key's collation to the same text.
    let folded: (String) -> String

    init(_ random: inout SeededGenerator) throws {
      let (collation, folded): (String, (String) -> String) =
        [
          ("BINARY", { $0 }), ("NOCASE", Self.lowercasedASCII),
          ("RTRIM", { String($0.reversed().drop { $0 == " " }.reversed()) }),
        ].randomElement(using: &random) ?? ("BINARY", { $0 })
      self.folded = folded
      var codes: [String: String] = [:]
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        let code = Self.code(&random)
        codes[folded(code)] = code
      }
      for code in codes.values.sorted() {
        shelves.append(Shelf(code: code, rank: .random(in: 0...3, using: &random)))
      }
      for id in 0..<Int.random(in: 0...5, using: &random) {
        readers.append(Reader(id: id, age: .random(in: 0...3, using: &random)))
      }
      for id in 0..<Int.random(in: 0...40, using: &random) {
        books.append(
          Book(
            id: id, shelf: Bool.random(using: &random) ? Self.code(&random) : nil,
            reader: Bool.random(using: &random) ? .random(in: 0...6, using: &random) : nil,
            size: Double(Int.random(in: 0...3, using: &random)) / 2))
      }
      let db = try db.get()
      try db.executeStatements(
        SQL(
          raw: """
            CREATE TABLE shelf (code TEXT COLLATE \(collation) PRIMARY KEY NOT NULL, rank INTEGER);
            CREATE TABLE book (id INTEGER PRIMARY KEY, shelf TEXT, reader INTEGER, size REAL);
            CREATE TABLE reader (id INTEGER PRIMARY KEY, age INTEGER);
            """))
      try Shelf.insert(db, contentsOf: shelves)
      try Book.insert(db, contentsOf: books)
      try Reader.insert(db, contentsOf: readers)
      shelves.shuffle(using: &random)
    }

    private static func lowercasedASCII(_ text: String) -> String {
      String(text.map { $0.isASCII ? Character($0.lowercased()) : $0 })
    }

    /// A code out of so few that they often match.
    private static func code(_ random: inout SeededGenerator) -> String {
      let letters = ["a", "A", "b", "B", "é", "É", "ab", "Ab", "a\u{1}"]
      return (letters.randomElement(using: &random) ?? "a")
        + String(repeating: " ", count: .random(in: 0...1, using: &random))
    }

    func books(of shelf: Shelf) -> [Book] {
      books.filter { $0.shelf.map { folded($0) == folded(shelf.code) } ?? false }
    }

    func shelf(of book: Book) -> Shelf? {
      shelves.first { shelf in book.shelf.map { folded($0) == folded(shelf.code) } ?? false }
    }
  }

  @Test(
    "Random associations find the records that Swift finds", .onlySQLite(.keys), arguments: 1...120
  )
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let library = try Library(&random)
    let db = try library.db.get()
    let size = Double(Int.random(in: 0...3, using: &random)) / 2
    let (limit, offset) = (
      Int.random(in: 0...3, using: &random), Int.random(in: 0...2, using: &random)
    )
    func page<T>(_ rows: [T]) -> [T] { Array(rows.dropFirst(offset).prefix(limit)) }

    let all = try Shelf.books.order { $0.id.desc }.fetchAll(db, of: library.shelves)
    #expect(all == library.shelves.map { library.books(of: $0).reversed() })

    let some = Shelf.books.filter { $0.size >= size }.order { [$0.size.asc, $0.id.desc] }
    func sorted(_ shelf: Shelf) -> [Book] {
      library.books(of: shelf).filter { $0.size >= size }
        .sorted { ($0.size, -$0.id) < ($1.size, -$1.id) }
    }
    let limited = some.limit(limit, offset: offset)
    #expect(
      try limited.fetchAll(db, of: library.shelves) == library.shelves.map { page(sorted($0)) })

    let onShelf = Book.onShelf.filter { $0.rank > 0 }
    #expect(
      try onShelf.fetchAll(db, of: library.books)
        == library.books.map { library.shelf(of: $0).flatMap { $0.rank > 0 ? $0 : nil } })

    func readers(_ shelf: Shelf) -> [Reader] {
      library.books(of: shelf).compactMap { book in library.readers.first { $0.id == book.reader } }
        .sorted { ($0.age, $0.id) < ($1.age, $1.id) }
    }
    let through = Shelf.readers.order { [$0.age.asc, $0.id.asc] }
    #expect(try through.fetchAll(db, of: library.shelves) == library.shelves.map(readers))
    #expect(
      try through.limit(limit, offset: offset).fetchAll(db, of: library.shelves)
        == library.shelves.map { page(readers($0)) })

    let nested = through.limit(limit, offset: offset).with(
      Reader.books.order { $0.id }.limit(2).with(Book.onShelf))
    let trees = try nested.fetchAll(db, of: library.shelves)
    for (shelf, tree) in zip(library.shelves, trees) {
      #expect(tree.map(\.0) == page(readers(shelf)))
      for (reader, books) in tree {
        let expected = library.books.filter { $0.reader == reader.id }.prefix(2)
        #expect(books.map(\.0) == Array(expected))
        #expect(books.map(\.1) == expected.map(library.shelf))
      }
    }
  }
}
