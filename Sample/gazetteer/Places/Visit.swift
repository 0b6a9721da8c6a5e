import LarderMacros

/// A line that `serve-load` writes: somebody looked at a city.
@Record
struct Visit {
  @Column(.primaryKey) var id: Int64?
  @Column(.indexed, .references(City.self, onDelete: .cascade)) var city: Int64
  /// The number of the task that wrote it.
  var task: Int
}
