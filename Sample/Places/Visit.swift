import Larder

/// A line that `serve-load` writes: somebody looked at a city.
struct Visit: Record {
  var id: Int64?
  var city: Int64
  /// The number of the task that wrote it.
  var task: Int

  struct Columns: Sendable {
    let id = Column("id", \Visit.id, .primaryKey)
    let city = Column("city", \Visit.city, .indexed, .references(City.self, onDelete: .cascade))
    let task = Column("task", \Visit.task)
  }
  static let columns = Columns()
  static let table = Table("visit", Visit.init, columns.id, columns.city, columns.task)
}
