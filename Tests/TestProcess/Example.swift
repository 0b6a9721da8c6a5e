import Larder

private struct City: Record {
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

/// The shortest program with a record, in the folder where it is run.
func example() throws {
  let queue = try DatabaseQueue(path: "cities.db")
  try queue.inTransaction { db in
    try City.table.create(db)
    var city = City(id: nil, name: "北京市", population: 21_893_095)
    try city.insert(db)  // city.id is set
  }
  _ = try queue.read { db in
    try City.filter { $0.population > 10_000_000 && $0.name.like("北%") }
      .order { $0.name }
      .fetchAll(db)
  }
}
