import Larder
import ProofSupport

// The file that scripts begin with.
extension FaultTemplate {
  static let cityCount = 120
  static let population = (1...cityCount).reduce(0) { $0 + $1 * 1000 }

  /// The tables of the scripts, and what is in them.
  static func fill(_ db: Database) throws {
    try Place.table.create(db)
    try db.executeStatements(
      """
      CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
      INSERT INTO account VALUES (1, 1000), (2, 0);
      CREATE TABLE payment (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL);
      CREATE TABLE receipt (payment INTEGER PRIMARY KEY, text TEXT NOT NULL);
      CREATE TABLE document (id INTEGER PRIMARY KEY, body BLOB);
      """)
    try Place.insert(
      db, contentsOf: (1...cityCount).map { Place(id: Int64($0), number: $0) })
  }
}

/// A record for scripts.
struct Place: Record {
  var id: Int64?
  var name: String
  var population: Int
  var note: String?

  struct Columns: Sendable {
    let id = Column("id", \Place.id, .primaryKey)
    let name = Column("name", \Place.name, .unique)
    let population = Column("population", \Place.population, .indexed)
    let note = Column("note", \Place.note)
  }
  static let columns = Columns()
  static let table = Table(
    "place", Place.init, columns.id, columns.name, columns.population, columns.note)

  init(id: Int64?, name: String, population: Int, note: String?) {
    self.id = id
    self.name = name
    self.population = population
    self.note = note
  }

  init(id: Int64?, number: Int) {
    self.init(
      id: id, name: "Ålesund \(number), 北京市", population: number * 1000,
      note: number % 3 == 0 ? nil : String(repeating: "note \(number) ", count: 4))
  }
}
