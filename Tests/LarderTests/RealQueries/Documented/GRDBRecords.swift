import Foundation
import Larder

/// The records of GRDB's documentation.
enum GRDB {
  struct Address: Codable, Equatable, Sendable {
    var city: String
    var country: String
  }

  struct Country: Record, Equatable {
    var code: String
    var name: String

    struct Columns: Sendable {
      let code = Column("code", \Country.code, .primaryKey)
      let name = Column("name", \Country.name)
    }
    static let columns = Columns()
    static let table = Table("country", Country.init, columns.code, columns.name)
  }

  struct Author: Record, Equatable {
    var id: Int64?
    var name: String
    var country: String?

    struct Columns: Sendable {
      let id = Column("id", \Author.id, .primaryKey)
      let name = Column("name", \Author.name)
      let country = Column("country", \Author.country)
    }
    static let columns = Columns()
    static let table = Table("author", Author.init, columns.id, columns.name, columns.country)
    static let books = HasMany(columns.id, Book.columns.author)
    static let paintings = HasMany(columns.id, Painting.columns.author)
  }

  struct Book: Record, Equatable {
    var id: Int64?
    var author: Int64
    var title: String
    var year: Int
    var kind: String

    struct Columns: Sendable {
      let id = Column("id", \Book.id, .primaryKey)
      let author = Column("author", \Book.author)
      let title = Column("title", \Book.title)
      let year = Column("year", \Book.year)
      let kind = Column("kind", \Book.kind)
    }
    static let columns = Columns()
    static let table = Table(
      "book", Book.init, columns.id, columns.author, columns.title, columns.year, columns.kind)
    static let prizes = HasMany(columns.id, Prize.columns.book)
  }

  struct Painting: Record, Equatable {
    var id: Int64?
    var author: Int64
    var title: String

    struct Columns: Sendable {
      let id = Column("id", \Painting.id, .primaryKey)
      let author = Column("author", \Painting.author)
      let title = Column("title", \Painting.title)
    }
    static let columns = Columns()
    static let table = Table("painting", Painting.init, columns.id, columns.author, columns.title)
  }

  struct CoverImage: Record, Equatable {
    var book: Int64
    var path: String

    struct Columns: Sendable {
      let book = Column("book", \CoverImage.book, .primaryKey)
      let path = Column("path", \CoverImage.path)
    }
    static let columns = Columns()
    static let table = Table("cover_image", CoverImage.init, columns.book, columns.path)
  }

  struct Prize: Record, Equatable {
    var id: Int64?
    var book: Int64
    var name: String

    struct Columns: Sendable {
      let id = Column("id", \Prize.id, .primaryKey)
      let book = Column("book", \Prize.book)
      let name = Column("name", \Prize.name)
    }
    static let columns = Columns()
    static let table = Table("prize", Prize.init, columns.id, columns.book, columns.name)
  }

  struct Team: Record, Equatable {
    var id: Int64?
    var name: String

    struct Columns: Sendable {
      let id = Column("id", \Team.id, .primaryKey)
      let name = Column("name", \Team.name)
    }
    static let columns = Columns()
    static let table = Table("team", Team.init, columns.id, columns.name)
    static let players = HasMany(columns.id, Player.columns.team)
  }

  struct Player: Record, Equatable {
    var id: Int64?
    var name: String
    var team: Int64?
    var score: Int
    var address: Address

    struct Columns: Sendable {
      let id = Column("id", \Player.id, .primaryKey)
      let name = Column("name", \Player.name)
      let team = Column("team", \Player.team)
      let score = Column("score", \Player.score)
      let address = Column("address", \Player.address, as: .json)
    }
    static let columns = Columns()
    static let table = Table(
      "player", Player.init, columns.id, columns.name, columns.team, columns.score, columns.address)
  }

  struct Chat: Record, Equatable {
    var id: Int64?
    var name: String

    struct Columns: Sendable {
      let id = Column("id", \Chat.id, .primaryKey)
      let name = Column("name", \Chat.name)
    }
    static let columns = Columns()
    static let table = Table("chat", Chat.init, columns.id, columns.name)
  }

  struct Message: Record, Equatable {
    var id: Int64?
    var chat: Int64
    var text: String
    var date: Int

    struct Columns: Sendable {
      let id = Column("id", \Message.id, .primaryKey)
      let chat = Column("chat", \Message.chat)
      let text = Column("text", \Message.text)
      let date = Column("date", \Message.date)
    }
    static let columns = Columns()
    static let table = Table(
      "message", Message.init, columns.id, columns.chat, columns.text, columns.date)
  }

  struct Vocabulary: Record, Equatable {
    var word: String
    var kind: String
    var isTainted: Bool
    var count: Int

    struct Columns: Sendable {
      let word = Column("word", \Vocabulary.word, .primaryKey)
      let kind = Column("kind", \Vocabulary.kind)
      let isTainted = Column("is_tainted", \Vocabulary.isTainted)
      let count = Column("count", \Vocabulary.count)
    }
    static let columns = Columns()
    static let table = Table(
      "vocabulary", Vocabulary.init, columns.word, columns.kind, columns.isTainted, columns.count)
  }
}
