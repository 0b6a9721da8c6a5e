import Larder

/// The record of most tests.
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
}
