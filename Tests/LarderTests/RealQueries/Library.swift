import Foundation
import Larder
import PostgresSupport

/// The records of ``DocumentedQueryTests``: writers, their books, and reviews of those.
struct Writer: Record, Equatable {
  var id: Int64?
  var name: String
  var country: String?
  var mentor: Int64?

  struct Columns: Sendable {
    let id = Column("id", \Writer.id, .primaryKey)
    let name = Column("name", \Writer.name, .unique)
    let country = Column("country", \Writer.country)
    let mentor = Column("mentor", \Writer.mentor)
  }
  static let columns = Columns()
  static let table = Table(
    "writer", Writer.init, columns.id, columns.name, columns.country, columns.mentor)
  static let books = HasMany(columns.id, Book.columns.writer)
}

struct Book: Record, Equatable {
  var id: Int64?
  var writer: Int64
  var title: String
  var year: Int
  var price: Double
  var genre: String?

  struct Columns: Sendable {
    let id = Column("id", \Book.id, .primaryKey)
    let writer = Column("writer", \Book.writer, .indexed)
    let title = Column("title", \Book.title)
    let year = Column("year", \Book.year)
    let price = Column("price", \Book.price)
    let genre = Column("genre", \Book.genre)
  }
  static let columns = Columns()
  static let table = Table(
    "book", Book.init, columns.id, columns.writer, columns.title, columns.year, columns.price,
    columns.genre)
}

struct Review: Record, Equatable {
  var id: Int64?
  var book: Int64
  var stars: Int
  var text: String?

  struct Columns: Sendable {
    let id = Column("id", \Review.id, .primaryKey)
    let book = Column("book", \Review.book)
    let stars = Column("stars", \Review.stars)
    let text = Column("text", \Review.text)
  }
  static let columns = Columns()
  static let table = Table(
    "review", Review.init, columns.id, columns.book, columns.stars, columns.text)
}

extension Database {
  /// A database with six writers, eight books and seven reviews.
  static func library() throws -> Database {
    let db = try Database.empty()
    try Writer.table.create(db)
    try Book.table.create(db)
    try Review.table.create(db)
    let writers: [(String, String?, Int64?)] = [
      ("Melville", "US", nil), ("Hawthorne", "US", 1), ("Woolf", "GB", nil), ("Eliot", "GB", 3),
      ("Pessoa", "PT", nil), ("Anonymous", nil, nil),
    ]
    try Writer.insert(
      db,
      contentsOf: writers.enumerated().map {
        Writer(id: Int64($0 + 1), name: $1.0, country: $1.1, mentor: $1.2)
      })
    let books: [(Int64, String, Int, Double, String?)] = [
      (1, "Moby-Dick", 1851, 12.5, "novel"), (1, "Omoo", 1847, 8, "novel"),
      (2, "The Scarlet Letter", 1850, 9.5, "novel"), (3, "Orlando", 1928, 11, "novel"),
      (3, "A Room of One's Own", 1929, 7.25, "essay"), (4, "The Waste Land", 1922, 5, "poem"),
      (5, "Mensagem", 1934, 6.5, "poem"), (6, "Beowulf", 1000, 4, nil),
    ]
    try Book.insert(
      db,
      contentsOf: books.enumerated().map {
        Book(
          id: Int64($0 + 1), writer: $1.0, title: $1.1, year: $1.2, price: $1.3, genre: $1.4)
      })
    let reviews: [(Int64, Int, String?)] = [
      (1, 5, "a whale"), (1, 2, nil), (3, 4, "a letter"), (4, 5, nil), (4, 3, "long"),
      (6, 1, "dry"),
      (7, 5, "sea"),
    ]
    try Review.insert(
      db,
      contentsOf: reviews.enumerated().map {
        Review(id: Int64($0 + 1), book: $1.0, stars: $1.1, text: $1.2)
      })
    return db
  }
}
