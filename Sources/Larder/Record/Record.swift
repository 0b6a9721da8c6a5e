/// A type whose values are rows of a table.
///
/// ```swift
/// struct City: Record {
///   var id: Int64?
///   var name: String
///   var population: Int
///
///   struct Columns: Sendable {
///     let id = Column("id", \City.id, .primaryKey)
///     let name = Column("name", \City.name)
///     let population = Column("population", \City.population, .indexed)
///   }
///   static let columns = Columns()
///   static let table = Table("city", City.init, columns.id, columns.name, columns.population)
/// }
///
/// try queue.inTransaction { db in
///   try City.table.create(db)
///   var city = City(id: nil, name: "Oslo", population: 709_037)
///   try city.insert(db)                  // INSERT INTO "city" ("id", "name", "population") VALUES …
///   city.population += 1
///   try city.update(db)                  // UPDATE "city" SET … WHERE "id" = :id
///   let same = try City.find(db, city.id)
/// }
/// ```
///
/// The table is declared once, in `columns` and `table`. Its SQL is made from that once, and each connection
/// compiles it once. `columns` and `table` have to be `static let`.
///
/// All operations throw ``LarderSQLite/DatabaseError`` for SQLite's errors, such
/// as violated constraints. They throw ``RecordError`` for rows that don't
/// exist, that somebody else has changed, or that don't fit the type.
public protocol Record: Sendable, SingleSource
where QueryFields == RecordFields<Self>, QueryRow == Self, QueryNullable == Self? {
  /// A structure with the table's columns.
  associatedtype Columns: Sendable
  /// The table's columns, for the table and for queries.
  static var columns: Columns { get }
  /// The table, with the columns in the order of the parameters of an initializer.
  static var table: Table<Self> { get }
}
