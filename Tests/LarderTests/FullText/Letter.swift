import Larder
import PostgresSupport

/// The record of the tests of full-text search.
struct Letter: Record, Equatable {
  var id: Int64?
  var subject: String
  var body: String?
  var sender: String

  struct Columns: Sendable {
    let id = Column("id", \Letter.id, .primaryKey)
    let subject = Column("subject", \Letter.subject)
    let body = Column("body", \Letter.body)
    let sender = Column("sender", \Letter.sender)
  }
  static let columns = Columns()
  static let table = Table(
    "letter", Letter.init, columns.id, columns.subject, columns.body, columns.sender)

  static let text = FullTextIndex(of: Letter.self, \.subject, \.body, prefixes: [2, 3])

  static let letters: [Letter] = [
    Letter(id: 1, subject: "Harbour news", body: "The ferry leaves Zürich at noon", sender: "ana"),
    Letter(id: 2, subject: "Tunnel closed", body: "No ferry, no tunnel: what's up?", sender: "bo"),
    Letter(id: 3, subject: "New York", body: nil, sender: "ana"),
    Letter(id: 4, subject: "York, new and old", body: "Ferries for York", sender: "cy"),
  ]

  /// A database with the letters and an index of them.
  static func database(
    _ index: FullTextIndex<Letter> = text, _ configuration: Configuration = Configuration()
  ) throws -> Database {
    let db = try Database.empty(configuration)
    try table.create(db)
    try insert(db, contentsOf: letters)
    try index.create(db)
    return db
  }
}

extension Query where From == FullTextMatch<Letter> {
  /// The keys of the found letters, in order.
  func ids(_ db: Database) throws -> [Int64] {
    try order { $0.id }.fetchAll(db).compactMap(\.id)
  }
}

/// The keys of the letters that match a pattern, in order.
func found(
  _ pattern: FullTextPattern, _ db: Database, _ index: FullTextIndex<Letter> = Letter.text
) throws -> [Int64] {
  try Letter.matching(index, pattern).ids(db)
}
