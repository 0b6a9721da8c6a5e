import Larder
import PostgresSupport

/// The record that most tests use.
struct City: Record, Equatable {
  var id: Int64?
  var name: String
  var population: Int

  struct Columns: Sendable {
    let id = Column("id", \City.id, .primaryKey)
    let name = Column("name", \City.name)
    let population = Column("population", \City.population, .indexed)
  }
  static let columns = Columns()
  static let table = Table("city", City.init, columns.id, columns.name, columns.population)

  static let creation: SQL = """
    CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
      population INTEGER NOT NULL CHECK (population >= 0))
    """

  /// An in-memory database with an empty `city` table.
  static func database() throws -> Database {
    let db = try Database.empty()
    try db.define(creation)
    return db
  }

  /// An in-memory database with three of Norway's largest cities, whose keys begin at 1.
  static func norway() throws -> Database {
    let db = try database()
    try insert(db, contentsOf: norwegian)
    return db
  }

  static let norwegian = [
    City(id: 1, name: "Oslo", population: 709_037),
    City(id: 2, name: "Bergen", population: 291_940),
    City(id: 3, name: "Trondheim", population: 214_565),
  ]
}
